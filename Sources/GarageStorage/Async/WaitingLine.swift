/// Elements that wait, in the order in which they came.
///
/// An element that is removed at the front leaves its place empty, and the empty places are removed together now and then. If
/// each were removed by itself, all elements behind it would move each time, and the time for many would grow with the square
/// of their number.
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

  /// Removes and returns the first element that `isMeant` accepts; nil if there is none.
  mutating func remove(where isMeant: (Element) -> Bool) -> Element? {
    guard let place = elements.firstIndex(where: { $0.map(isMeant) ?? false }) else { return nil }
    return elements.remove(at: place)
  }

  /// Puts elements before all others.
  mutating func putFirst(_ first: some Collection<Element>) {
    elements.replaceSubrange(..<takenCount, with: first.map { $0 })
    takenCount = 0
  }
}

extension WaitingLine: Sendable where Element: Sendable {}
