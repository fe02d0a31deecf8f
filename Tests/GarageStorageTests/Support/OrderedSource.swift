import GarageDriver
import GarageStorage

/// The entries of a store for a salvage, in the order of their keys.
struct OrderedSource: SalvageSource {
  let driver: String
  private let entries: [(key: [UInt8], value: [UInt8])]

  init(_ storage: any StorageDriver, isReversed: Bool = false) throws {
    driver = storage.info.name
    let contents = try Driver.contents(storage)
    let keys = contents.keys.sorted()
    entries = (isReversed ? keys.reversed() : keys).map { (key: $0.bytes, value: contents[$0] ?? []) }
  }

  func forEachEntry(_ visit: (RawSpan, RawSpan, Bool) throws -> Void) throws -> [String] {
    for (key, value) in entries { try visit(key.span.bytes, value.span.bytes, true) }
    return []
  }
}
