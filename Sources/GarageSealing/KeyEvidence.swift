internal import GarageDriver

/// What the entries of a store tell about the keys that it is opened with.
///
/// No single entry decides, because any may be damaged. A wrong key opens none of many entries in different places. If some
/// open, the others are damaged, and reading them throws.
struct KeyEvidence {
  /// What one entry tells.
  enum Finding: Equatable {
    /// It opens with the key of this identifier, or everything in it but the header does.
    case opens(UInt32)
    /// It has the identifier of a key that was given, and does not open.
    case fails(UInt32)
    /// It has the identifier of a key that was not given.
    case otherKey(UInt32)
    case newer(UInt8)
    case plain
  }

  private let keys: KeyRing
  private let value = SealerOutput()
  private let context = SealerOutput()
  private var openedKeys: Set<UInt32> = []
  /// How many entries each key failed to open.
  private var failures: [UInt32: Int] = [:]
  private var triedCount = 0
  /// The first entry that does not open, of each kind, as an error.
  private var failure: StorageError?
  private var otherKey: StorageError?
  private var newer: StorageError?
  private var plain: StorageError?

  /// How many entries are examined at each end, and how many behind each first byte of a key.
  private static let (endCount, placeCount) = (256, 2)
  /// An examination ends after so many bytes, if it has covered ``fewCount`` entries.
  private static let (byteCount, fewCount) = (64 << 20, 16)

  init(_ keys: KeyRing) { self.keys = keys }

  /// Examines the first entry and the last one. If both open, as they do in all but damaged stores, that is all.
  ///
  /// Rekeying goes from the first entry to the last. If it was interrupted and a key is missing, that shows at the ends.
  ///
  /// - Throws: `StorageError` if the keys are not those of the store.
  static func check(_ keys: KeyRing, in transaction: any ReadTransaction) throws {
    var evidence = KeyEvidence(keys)
    var isSound = true
    for direction in ScanDirection.allCases {
      try transaction.scan(.all, direction) { key, sealed in
        if case .opens = try evidence.finding(key, sealed) {} else { isSound = false }
        return .stop
      }
    }
    if !isSound { try evidence.checkFurther(transaction) }
  }

  private mutating func checkFurther(_ transaction: any ReadTransaction) throws {
    self = KeyEvidence(keys)
    let first = try look(.all, .forward, KeyEvidence.endCount, in: transaction)
    let last =
      first.count < KeyEvidence.endCount
      ? first.reversed() : try look(.all, .backward, KeyEvidence.endCount, in: transaction)
    if openedKeys.isEmpty, first.count == KeyEvidence.endCount {
      for byte in UInt8.min...UInt8.max where openedKeys.isEmpty {
        _ = try look(.prefix([byte]), .forward, KeyEvidence.placeCount, in: transaction)
        _ = try look(.prefix([byte]), .backward, KeyEvidence.placeCount, in: transaction)
      }
    }
    if openedKeys.isEmpty {
      guard let error = try noneOpens() else { return }
      throw error
    }
    // A single entry with another key may be damaged; two neighbours with the same identifier are not.
    for end in [first, last] {
      guard let outermost = end.first, end.count > 1, end[1] == outermost else { continue }
      if case .otherKey = outermost, let otherKey { throw otherKey }
      if case .newer = outermost, let newer { throw newer }
    }
    // Former keys do not write. If others open entries, the entries that a former key does not open are only damaged.
    if !openedKeys.contains(keys.writerIdentifier), failures[keys.writerIdentifier, default: 0] > 1 {
      throw wrongKey(keys.writerIdentifier, failures[keys.writerIdentifier, default: 0])
    }
  }

  private func noneOpens() throws -> StorageError? {
    if let identifier = failures.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key {
      return wrongKey(identifier, triedCount)
    }
    return otherKey ?? newer ?? plain
  }

  private func wrongKey(_ identifier: UInt32, _ count: Int) -> StorageError {
    StorageError(
      .wrongKey, during: .open, driver: keys.driver,
      message: """
        The store does not open with the key \(readable(identifier)): of \(count) values that were tried, in \
        different places, none does. Either the key is another than the one it was sealed with, or they are all \
        damaged. Nothing was changed. Open it with the key it was sealed with; if this is that key, restore the \
        store from a backup. (\(failure?.message ?? ""))
        """)
  }

  /// Examines up to `limit` entries of a range.
  private mutating func look(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ limit: Int, in transaction: any ReadTransaction
  ) throws -> [Finding] {
    var findings: [Finding] = []
    var bytes = 0
    try transaction.scan(range, direction) { key, sealed in
      findings.append(try finding(key, sealed))
      bytes += sealed.byteCount
      let isEnough = bytes > KeyEvidence.byteCount && findings.count >= KeyEvidence.fewCount
      return isEnough || findings.count >= limit ? .stop : .continue
    }
    return findings
  }

  private mutating func finding(_ key: RawSpan, _ sealed: RawSpan) throws -> Finding {
    triedCount += 1
    let header = SealedValue.Header(sealed)
    if case .sealed(let identifier) = header, openedKeys.contains(identifier) { return .opens(identifier) }
    value.removeAll()
    guard let fault = try keys.fault(opening: sealed, for: key, into: value, context: context) else {
      guard case .sealed(let identifier) = header else { return .plain }
      openedKeys.insert(identifier)
      return .opens(identifier)
    }
    let error = keys.error(fault, key, .open)
    switch fault {
    case .header(let identifier):
      openedKeys.insert(identifier)
      return .opens(identifier)
    case .content(let identifier, _):
      failures[identifier, default: 0] += 1
      failure = failure ?? error
      return .fails(identifier)
    case .otherKey(let identifier):
      otherKey = otherKey ?? error
      return .otherKey(identifier)
    case .newer(let version):
      newer = newer ?? error
      return .newer(version)
    case .plain, .cut:
      plain = plain ?? error
      return .plain
    }
  }
}
