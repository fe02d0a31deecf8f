/// Says which parts a record has in front of its body: its second byte.
package struct RecordFlags: OptionSet {
  package var rawValue: UInt8

  package static let wholeIdentifier = RecordFlags(rawValue: 0x08)
  package static let concreteTag = RecordFlags(rawValue: 0x10)
  package static let references = RecordFlags(rawValue: 0x20)
  package static let shapes = RecordFlags(rawValue: 0x40)
  /// The object's type had a version other than 0 (`Evolving`).
  package static let typeVersion = RecordFlags(rawValue: 0x80)

  /// If this bit is set, bits 0 and 1 are the sync status.
  private static let hasSyncStatus: UInt8 = 0x04
  private static let syncStatusMask: UInt8 = 0x03

  /// All bits of a sync status.
  static var ofSyncStatus: RecordFlags { RecordFlags(rawValue: hasSyncStatus | syncStatusMask) }

  /// The flags of a record that has a sync status, or none, and nothing else.
  @inline(__always)
  init(_ status: SyncStatus?) {
    rawValue = status.map { RecordFlags.hasSyncStatus | UInt8(truncatingIfNeeded: $0.rawValue) } ?? 0
  }

  @inline(__always)
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  var syncStatus: SyncStatus? {
    if rawValue & RecordFlags.hasSyncStatus == 0 { return nil }
    return SyncStatus(rawValue: Int(rawValue & RecordFlags.syncStatusMask))
  }
}
