public import GarageCoding

/// What was saved from a damaged store.
public struct SalvageReport: Sendable, Hashable {
  /// How many objects were saved.
  public internal(set) var objectCount = 0
  /// How many values of typed keys were saved.
  public internal(set) var keyCount = 0
  /// How many names of types and sets of coding keys were saved.
  public internal(set) var textCount = 0
  /// How many entries were found whose bytes are damaged. Some of these entries may have been found undamaged in another place.
  public internal(set) var damagedCount = 0
  /// The objects that were found only where an older state of the store may be. They may have been deleted since. They were
  /// saved if that was asked for. At most ``maximumOlderCount`` are listed.
  public internal(set) var olderObjects: [RecordIdentity] = []
  /// How many such objects there are.
  public internal(set) var olderCount = 0
  /// How many keys have a value only where an older state of the store may be. They were saved if that was asked for.
  public internal(set) var olderKeyCount = 0
  /// The damage of the store's pages, and the unique indexes that cannot be used because objects share a value, in words.
  public internal(set) var notes: [String] = []

  /// How many older objects are listed at most.
  public static let maximumOlderCount = 10_000
}

extension SalvageReport: CustomStringConvertible {
  /// The whole report, one line for each item.
  public var description: String {
    func count(_ count: Int, _ name: String) -> String { "\(count) \(name)\(count == 1 ? "" : "s")" }
    var lines = ["\(count(objectCount, "object")) and \(count(keyCount, "key")) brought over"]
    if damagedCount > 0 { lines.append("damaged, and left: \(damagedCount)") }
    if olderCount > 0 { lines.append("\(count(olderCount, "object")) found that may be of an older state") }
    if olderKeyCount > 0 {
      lines.append("\(count(olderKeyCount, "key")) found that may be of an older state")
    }
    return (lines + notes).joined(separator: "\n")
  }
}
