/// Elements that wait, in the order in which they came.
///
/// An element that is removed leaves its place empty, and the empty places are removed together when they are half of all. If
/// each were removed by itself, all elements behind it would move each time, and the time for many would grow with the square
/// of their number.
struct WaitingLine<Element> {
  /// The number of an element's place. No two elements of a line have had the same one.
  struct Ticket: Sendable {
    fileprivate let number: Int
  }

  fileprivate struct Place {
    let number: Int
    /// Nil if it was removed.
    var element: Element?
  }

  /// Sorted by their numbers.
  private var places: [Place] = []
  /// How many places at the front are empty. The one behind them never is.
  private var takenCount = 0
  private(set) var count = 0
  /// The numbers of the next element at the end, and of the last one that was put before all others.
  private var (nextNumber, lowestNumber) = (0, 0)

  var first: Element? { takenCount < places.count ? places[takenCount].element : nil }

  /// Puts an element behind all others.
  ///
  /// - Returns: what it can be removed by.
  @discardableResult
  mutating func append(_ element: Element) -> Ticket {
    places.append(Place(number: nextNumber, element: element))
    count += 1
    nextNumber += 1
    return Ticket(number: nextNumber - 1)
  }

  mutating func popFirst() -> Element? {
    takenCount < places.count ? take(at: takenCount) : nil
  }

  /// Removes and returns an element; nil if it is not there any more. The time grows with the logarithm of the count.
  mutating func remove(_ ticket: Ticket) -> Element? {
    var (low, high) = (takenCount, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].number < ticket.number { low = middle + 1 } else { high = middle }
    }
    guard low < places.count, places[low].number == ticket.number else { return nil }
    return take(at: low)
  }

  /// Puts elements before all others. Each gets a new ticket.
  ///
  /// - Returns: the tickets, in the same order.
  @discardableResult
  mutating func putFirst(_ first: some Collection<Element>) -> [Ticket] {
    lowestNumber -= first.count
    let new = first.enumerated().map { Place(number: lowestNumber + $0, element: $1) }
    places.replaceSubrange(..<takenCount, with: new)
    takenCount = 0
    count += new.count
    return new.map { Ticket(number: $0.number) }
  }

  /// Empties a place.
  private mutating func take(at index: Int) -> Element? {
    guard let element = places[index].element else { return nil }
    places[index].element = nil
    count -= 1
    while takenCount < places.count, places[takenCount].element == nil { takenCount += 1 }
    if 2 * count <= places.count {
      places.removeAll { $0.element == nil }
      takenCount = 0
    }
    return element
  }
}

extension WaitingLine.Place: Sendable where Element: Sendable {}
extension WaitingLine: Sendable where Element: Sendable {}
