/// Records whose bytes are kept until their objects are decoded: those of a plan, and those that were read ahead.
///
/// They are found by the numbers of their identities. Their memory goes back all at once, when nobody waits for any of
/// them any more.
struct KeptRecords {
  /// No more bytes than these are kept at a time; what is not kept is fetched when it is needed.
  static let byteLimit = 8 << 20
  /// Larger records are not read ahead: they are decoded where they are found, and not copied.
  static let largestByteCount = 64 << 10

  private var arena = PlaceArena()
  private(set) var byteCount = 0
  private var records = RawStack<UnsafeRawBufferPointer>()
  /// By number the place in `records` plus one; 0 where none is kept. Numbers behind its end have none.
  private var places = RawStack<UInt32>()
  /// The numbers that have a place, or had one.
  private var numbers = RawStack<UInt32>()
  /// How many nobody took yet, and how many are lent.
  private var waitingCount = 0
  private var lentCount = 0

  /// What a number has that is looked for, and was not found yet.
  private static let wanted = UInt32.max

  var isEmpty: Bool { numbers.isEmpty }
  /// Whether there is room for any record that may be read ahead.
  var hasRoom: Bool { byteCount + KeptRecords.largestByteCount <= KeptRecords.byteLimit }

  /// A copy of bytes that stays until ``removeAll()``.
  mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    byteCount += bytes.count
    guard let source = bytes.baseAddress else { return bytes }
    let place = arena.place(byteCount: bytes.count)
    place.copyMemory(from: source, byteCount: bytes.count)
    return UnsafeRawBufferPointer(start: place, count: bytes.count)
  }

  /// Keeps a copy of a record, if there is room.
  mutating func keep(_ record: UnsafeRawBufferPointer, of number: Int) {
    guard byteCount + record.count <= KeptRecords.byteLimit else { return }
    note(copy(record), of: number)
  }

  /// Notes which record is that number's, which ``copy(_:)`` gave.
  mutating func note(_ record: UnsafeRawBufferPointer, of number: Int) {
    records.append(record)
    setPlace(of: number, UInt32(truncatingIfNeeded: records.count))
    waitingCount += 1
  }

  /// Notes that a record is looked for. False where it is kept, or looked for already.
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

  /// The record with that number, until the next change; nil where it is not kept.
  func record(of number: Int) -> UnsafeRawBufferPointer? {
    holds(number) ? records[Int(places[number]) - 1] : nil
  }

  /// Takes a record, whose bytes stay until ``giveBack()``; nil where it is not kept.
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

  /// Gives a record back that was taken.
  mutating func giveBack() {
    lentCount -= 1
    if lentCount == 0, waitingCount == 0 { removeAll() }
  }

  /// Keeps all bytes until ``removeAll()``, also when nobody waits for records any more.
  mutating func holdAll() { lentCount += 1 }

  /// Forgets everything. Nothing is lent any more.
  ///
  /// The places stay, all of them 0: numbers grow with the graph, and in a deep one of many branches a few records are kept
  /// again and again.
  mutating func removeAll() {
    for number in numbers.all { places[Int(number)] = 0 }
    numbers.removeAll(keeping: 4096)
    (waitingCount, lentCount) = (0, 0)
    records.removeAll(keeping: 4096)
    arena.removeAll()
    byteCount = 0
  }

  /// Forgets the numbers, too, which begin anew.
  mutating func forgetNumbers() {
    if !isEmpty { removeAll() }
    places.removeAll(keeping: 4096)
  }
}
