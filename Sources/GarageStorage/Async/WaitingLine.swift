/// What waits, in the order in which it came.
///
/// What is taken out at the front leaves its place empty, and those places go together now and then: if each went by itself, all
/// behind it would move each time, and many would take time that grows with the square of their number.
struct WaitingLine<Element> {
  private var elements: [Element?] = []
  /// How many places at the front are empty.
  private var takenCount = 0

  var count: Int { elements.count - takenCount }

  var first: Element? { takenCount < elements.count ? elements[takenCount] : nil }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    if takenCount == elements.count { return nil }
    let first = elements[takenCount]
    elements[takenCount] = nil
    takenCount += 1
    if 2 * takenCount >= elements.count {
      elements.removeFirst(takenCount)
      takenCount = 0
    }
    return first
  }

  /// Takes the first one out that is meant; nil where there is none.
  mutating func remove(where isMeant: (Element) -> Bool) -> Element? {
    guard let place = elements.firstIndex(where: { $0.map(isMeant) ?? false }) else { return nil }
    return elements.remove(at: place)
  }

  /// Puts these before all others.
  mutating func putFirst(_ first: some Collection<Element>) {
    elements.replaceSubrange(..<takenCount, with: first.map { $0 })
    takenCount = 0
  }
}

extension WaitingLine: Sendable where Element: Sendable {}
