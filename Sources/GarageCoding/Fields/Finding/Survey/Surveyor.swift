/// Notes what types read, and keep.
final class Surveyor {
  /// What the values of a type read.
  private struct Readings {
    var converted: Set<[String]> = []
    /// The reads that found nothing, and whose values would not be kept.
    var absent: Set<[String]> = []
    var values: [[[String]: RecordValue]] = []
  }
  private var readings: [TypeAddress: Readings] = [:]

  private var wanted: [TypeAddress: Bool] = [:]
  private var restOfReads: Int
  private let notesReads: Bool

  private static let maximumCount = 32

  /// - Parameters:
  ///   - mostReads: how many values may be read.
  ///   - notesReads: whether it is to be noted what types read. If not, reads are only counted.
  init(mostReads: Int = 50_000, notesReads: Bool = true) {
    (restOfReads, self.notesReads) = (mostReads, notesReads)
  }

  /// Thrown where the objects hold more than is worth the time.
  private struct Ends: Error {}

  /// - Throws: where there were too many.
  func countRead() throws {
    restOfReads -= 1
    if restOfReads < 0 { throw Ends() }
  }

  /// Whether it is to be noted what a type reads.
  func wants(_ type: Any.Type) -> Bool {
    if !notesReads { return false }
    let address = TypeAddress(type)
    if let wanted = wanted[address] {
      return wanted && readings[address]?.values.count != Surveyor.maximumCount
    }
    // For an enum with raw values it is found out whether it accepts others.
    let isWanted = !TypeModule.isLibrary(type) && !FieldComparability.isPlainEnum(type)
    wanted[address] = isWanted
    return isWanted
  }

  func note<T: Decodable>(_ value: T, _ reads: StoredReads) {
    let address = TypeAddress(T.self)
    if reads.all.isEmpty && reads.absent.isEmpty { return }
    var reading = readings[address] ?? Readings()
    var kept = KeptValues(value)
    // Every truth value, and every case, is one that a type knows.
    let missing =
      kept.missing(reads.all).filter { read in
        !(read.value is Bool) && !FieldComparability.isPlainEnum(unwrapped(type(of: read.value)))
      } + reads.all.filter { unwrapped(type(of: $0.value)) is any OpaqueFields.Type }
    // If an element is not kept, the array is not either: it may have to have so many elements.
    reading.converted.formUnion(
      missing.map { read in
        let arrays = reads.arrays.keys.filter { read.path.starts(with: $0) && read.path.count > $0.count }
        return arrays.min { $0.count < $1.count } ?? read.path
      })
    reading.absent.formUnion(kept.missing(absent: reads.absent))
    let values = Dictionary(reads.all.map { ($0.path, $0.stored) }, uniquingKeysWith: { first, _ in first })
    reading.values.append(values.merging(reads.arrays) { first, _ in first })
    readings[address] = reading
  }

  var surveys: [TypeAddress: TypeSurvey] {
    readings.mapValues { reading in
      func difference(_ values: [[String]: RecordValue]) -> Int {
        reading.converted.count { values[$0] != reading.values[0][$0] }
      }
      // All from one object, because its values go together.
      let second = reading.values.max { difference($0) < difference($1) } ?? [:]
      var converted: [[String]: FieldSample] = [:]
      for path in reading.converted {
        let first = reading.values.lazy.compactMap { $0[path] }.first
        if let first { converted[path] = FieldSample(first, second[path]) }
      }
      // What becomes of a value that no object has is not known.
      for path in reading.absent where !reading.values.contains(where: { $0[path] != nil }) {
        converted[path] = FieldSample(.null, nil)
      }
      return TypeSurvey(converted: converted)
    }.filter { !$0.value.isEmpty }
  }
}
