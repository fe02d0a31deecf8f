/// Records whose bytes are kept until their objects are decoded: records of a plan, and records that were read ahead.
///
/// They are found by the numbers of their identities. Their memory is given back all at once, when nobody waits for any of them
/// any more.
struct KeptRecords {
  /// The most bytes that are kept at a time. Records that are not kept are fetched when they are needed.
  static let byteLimit = 8 << 20
  /// Larger records are not read ahead: they are decoded in place, and not copied.
  static let largestByteCount = 64 << 10

  private var arena = PlaceArena()
  private(set) var byteCount = 0
  private var records = RawStack<UnsafeRawBufferPointer>()
  /// For each number, the record's place in `records` plus one; 0 if no record is kept. Numbers behind the end have none.
  private var places = RawStack<UInt32>()
  /// The numbers that have, or had, a place.
  private var numbers = RawStack<UInt32>()
  /// How many records were not taken yet, and how many are lent.
  private var waitingCount = 0
  private var lentCount = 0

  /// Marks a number whose record is wanted, and was not found yet.
  private static let wanted = UInt32.max

  var isEmpty: Bool { numbers.isEmpty }
  /// Whether there is room for any record that may be read ahead.
  var hasRoom: Bool { byteCount + KeptRecords.largestByteCount <= KeptRecords.byteLimit }

  /// Copies bytes. The copy stays until ``removeAll()``.
  mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    byteCount += bytes.count
    guard let source = bytes.baseAddress else { return bytes }
    let place = arena.place(byteCount: bytes.count)
    place.copyMemory(from: source, byteCount: bytes.count)
    return UnsafeRawBufferPointer(start: place, count: bytes.count)
  }

  /// Keeps a copy of a record, if there is room for it.
  mutating func keep(_ record: UnsafeRawBufferPointer, of number: Int) {
    guard byteCount + record.count <= KeptRecords.byteLimit else { return }
    note(copy(record), of: number)
  }

  /// Notes the record with that number, which must be a result of ``copy(_:)``.
  mutating func note(_ record: UnsafeRawBufferPointer, of number: Int) {
    records.append(record)
    setPlace(of: number, UInt32(truncatingIfNeeded: records.count))
    waitingCount += 1
  }

  /// Notes that a record is wanted. Returns false if it is kept, or wanted already.
  mutating func want(_ number: Int) -> Bool {
    if number < places.count, places[number] != 0 { return false }
    setPlace(of: number, KeptRecords.wanted)
    return true
  }

  private mutating func setPlace(of number: Int, _ place: UInt32) {
    if number >= places.count {
      places.reserve(number + 1 - places.count)
      for _ in places.count...number { places.append(0) }
    }
    if places[number] == 0 { numbers.append(UInt32(truncatingIfNeeded: number)) }
    places[number] = place
  }

  /// Whether the record with that number is kept.
  func holds(_ number: Int) -> Bool {
    number < places.count && places[number] != 0 && places[number] != KeptRecords.wanted
  }

  /// The record with that number, valid until the next change; nil if it is not kept.
  func record(of number: Int) -> UnsafeRawBufferPointer? {
    holds(number) ? records[Int(places[number]) - 1] : nil
  }

  /// Takes a record, whose bytes stay until ``giveBack()``; nil if it is not kept.
  @inline(__always)
  mutating func take(_ number: Int) -> UnsafeRawBufferPointer? {
    isEmpty ? nil : takeKept(number)
  }

  private mutating func takeKept(_ number: Int) -> UnsafeRawBufferPointer? {
    guard holds(number) else { return nil }
    let record = records[Int(places[number]) - 1]
    places[number] = 0
    waitingCount -= 1
    lentCount += 1
    return record
  }

  /// Gives back a record that was taken.
  mutating func giveBack() {
    lentCount -= 1
    if lentCount == 0, waitingCount == 0 { removeAll() }
  }

  /// Keeps all bytes until ``removeAll()``, even if nobody waits for records any more.
  mutating func holdAll() { lentCount += 1 }

  /// Removes everything. Nothing may be lent any more.
  ///
  /// `places` keeps its length, with all places 0. Numbers grow with the graph, and in a deep graph with many branches a few
  /// records are kept again and again.
  mutating func removeAll() {
    for number in numbers.all { places[Int(number)] = 0 }
    numbers.removeAll(keeping: 4096)
    (waitingCount, lentCount) = (0, 0)
    records.removeAll(keeping: 4096)
    arena.removeAll()
    byteCount = 0
  }

  /// Removes the numbers, too, which begin at 0 again.
  mutating func forgetNumbers() {
    if !isEmpty { removeAll() }
    places.removeAll(keeping: 4096)
  }
}
