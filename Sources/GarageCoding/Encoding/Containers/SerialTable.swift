/// Elements by their serials: what waits to be continued.
///
/// Elements stand in the order of their serials, which mostly is the one in which they come. They may leave it in any
/// order: what was removed leaves a gap, since to close each gap at once would move all behind it. Gaps at the end are
/// closed at once, and all of them when they are more than the elements, so that each element is moved once or twice.
struct SerialTable<Element> {
  private struct Entry {
    let serial: UInt64
    /// Nil in a gap.
    var element: Element?
  }

  private var entries: [Entry] = []
  private var gapCount = 0

  /// Memory for more entries is given back when the last element goes.
  private static var keptEntryCount: Int { 4096 }
  /// So few gaps do not matter.
  private static var fewGapsCount: Int { 32 }

  /// How many elements there are.
  var count: Int { entries.count - gapCount }

  /// How many bytes of memory it has.
  var byteCapacity: Int { entries.capacity * MemoryLayout<Entry>.stride }

  /// The element with that serial.
  subscript(serial: UInt64) -> Element? {
    let index = index(of: serial)
    return index < entries.count && entries[index].serial == serial ? entries[index].element : nil
  }

  /// Adds an element under a serial that none had before.
  mutating func insert(_ element: Element, _ serial: UInt64) {
    // Mostly it is the last one.
    var index = entries.count
    while index > 0, entries[index - 1].serial > serial { index -= 1 }
    entries.insert(Entry(serial: serial, element: element), at: index)
  }

  /// Removes the element with that serial, where there is one.
  mutating func remove(_ serial: UInt64) {
    let index = index(of: serial)
    guard index < entries.count, entries[index].serial == serial, entries[index].element != nil else {
      return
    }
    entries[index].element = nil
    gapCount += 1
    closeGaps()
  }

  private mutating func closeGaps() {
    while let last = entries.last, last.element == nil {
      entries.removeLast()
      gapCount -= 1
    }
    if gapCount > Self.fewGapsCount, gapCount > count {
      entries.removeAll { $0.element == nil }
      gapCount = 0
    }
    if entries.isEmpty, entries.capacity > Self.keptEntryCount { entries = [] }
  }

  /// The place of the first entry with that serial or a later one.
  private func index(of serial: UInt64) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].serial < serial { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
