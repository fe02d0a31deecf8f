#if Command
  import GarageStorage

  /// Statistics as JSON.
  struct StatisticsAnswer: Encodable {
    struct Entry: Encodable {
      var type: String
      var objects: Int
      var bytes: Int
      var largestBytes: Int
      var largest: String
      var referencesOut: [String: Int]
      var referencesIn: Int
      var syncStatuses: [String: Int]
      var damaged: Int
    }

    var types: [Entry]
    var keys: Int
    var keyBytes: Int
    var otherBytes: Int
    /// Free bytes in the files; absent if the engine does not tell.
    var freeBytes: Int?
    var objects: Int
    var bytes: Int

    init(_ statistics: StoreStatistics) {
      types = statistics.types.map { type in
        Entry(
          type: type.name, objects: type.objectCount, bytes: type.byteCount,
          largestBytes: type.largestByteCount,
          largest: type.largestIdentifier, referencesOut: Self.named(type.outgoingReferences),
          referencesIn: type.incomingReferenceCount, syncStatuses: Self.named(type.syncStatuses),
          damaged: type.damagedCount)
      }
      (keys, keyBytes) = (statistics.keyCount, statistics.keyByteCount)
      (otherBytes, freeBytes) = (statistics.otherByteCount, statistics.freeByteCount)
      (objects, bytes) = (statistics.objectCount, statistics.byteCount)
    }

    private static func named<Key: Hashable>(_ counts: [Key: Int]) -> [String: Int] {
      Dictionary(counts.map { ("\($0.key)", $0.value) }) { $0 + $1 }
    }
  }
#endif
