import GarageDriver

/// Breaks a rule of reading.
class MutantReadTransaction: ReadTransaction {
  private let base: any ReadTransaction
  fileprivate let mutation: Mutation
  fileprivate let threshold: Int
  fileprivate let storage: any StorageDriver
  /// What ``Mutation/aliasedLongMultiGets`` lends.
  private var shared: UnsafeMutableRawBufferPointer?

  deinit { shared?.deallocate() }

  init(_ base: any ReadTransaction, _ mutation: Mutation, _ threshold: Int, _ storage: any StorageDriver) {
    self.base = base
    self.mutation = mutation
    self.threshold = threshold
    self.storage = storage
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withValue(for: key) { value in
      if let value, value.byteCount == 0, mutation == .emptyValueIsNone { return try body(nil) }
      return try body(value)
    }
  }

  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    var positions = Array(keys.indices)
    if mutation == .sortedMultiGet { positions.sort { keys[$0] < keys[$1] } }
    if mutation == .forgottenRepetitions {
      var seen: Set<StorageKey> = []
      positions.removeAll { !seen.insert(keys[$0]).inserted }
    }
    if mutation == .lostMissingAtTheEnd && keys.count >= threshold {
      while let last = positions.last, try !base.contains(keys[last]) { positions.removeLast() }
    }
    if mutation == .wrongKeysFirst {
      for key in keys where key.bytes.isEmpty { try base.withValue(for: key) { _ in } }
    }
    if positions.isEmpty && mutation != .emptyRangeAfterItsEnd {
      return try base.withValues(for: []) { _, _ in }
    }
    if mutation == .pagesOfMultiGets && !(self is MutantWriteTransaction) {
      return try getInPages(keys, visit)
    }
    for position in positions {
      do {
        try base.withValue(for: keys[position]) { value in
          guard mutation == .aliasedLongMultiGets, keys.count >= threshold, let value else {
            return try visit(position, value)
          }
          try lendShared(value) { try visit(position, $0) }
        }
      } catch {
        if mutation == .endlessMultiGet && position == threshold - 1 { continue }
        throw error
      }
    }
  }

  /// Lends a copy that the next one is written over.
  private func lendShared(_ value: RawSpan, _ body: (RawSpan) throws -> Void) throws {
    let shared = shared ?? .allocate(byteCount: 1 << 16, alignment: 8)
    self.shared = shared
    if value.byteCount > shared.count { return try body(value) }
    value.withUnsafeBytes { shared.copyMemory(from: $0) }
    try body(UnsafeRawBufferPointer(rebasing: shared[..<value.byteCount]).bytes)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    var range = range
    let direction = mutation == .ignoredDirection ? .forward : direction
    if let upper = range.upperBound {
      if mutation == .upperBoundIncluded { range.upperBound = upper + [0] }
      if mutation == .crossedBoundsHoldKeys && range.isEmpty && upper != range.lowerBound {
        range = StorageKeyRange(from: upper, to: range.lowerBound)
      }
    }
    if mutation == .emptyRangeAfterItsEnd && range.isEmpty { return }
    if mutation.readsInPages && !(self is MutantWriteTransaction) {
      return try scanInPages(range, direction, visit)
    }
    var count = 0
    try base.scan(range, direction) { key, value in
      if mutation == .lowerBoundExcluded && [UInt8](copying: key) == range.lowerBound { return .continue }
      if isHidden(key, direction) { return .continue }
      count += 1
      let step: ScanStep
      do { step = try visit(key, value) } catch {
        if mutation == .endlessScan && count == threshold { return .continue }
        throw error
      }
      if mutation == .endlessStop && count == threshold { return .continue }
      if mutation == .scanOf65536Keys && count == threshold { return .stop }
      return mutation == .ignoredStop ? .continue : step
    }
  }

  /// Whether a scan leaves that key out.
  fileprivate func isHidden(_ key: RawSpan, _ direction: ScanDirection) -> Bool { false }

  /// Whether what asks for keys alone leaves that one out.
  fileprivate func isHiddenKey(_ key: RawSpan) -> Bool { false }

  /// Reads each page behind the first from the commit of its moment.
  private func scanInPages(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    var rest = range
    var page: [(key: StorageKey, value: [UInt8])] = []
    var isOver = false
    func fill(_ transaction: any ReadTransaction) throws {
      page = []
      try transaction.scan(rest, direction) { key, value in
        page.append((StorageKey(key), [UInt8](copying: value)))
        return page.count < threshold ? .continue : .stop
      }
    }
    try fill(base)
    while !page.isEmpty && !isOver {
      for entry in page where !isOver {
        isOver = try visit(entry.key.bytes.span.bytes, entry.value.span.bytes) == .stop
      }
      guard let last = page.last else { return }
      if direction == .forward {
        rest.lowerBound = last.key.bytes + [0]
      } else {
        rest.upperBound = last.key.bytes
      }
      if !isOver { try storage.read(fill) }
    }
  }

  private func getInPages(_ keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    for start in stride(from: 0, to: keys.count, by: threshold) {
      let page = Array(keys[start..<min(keys.count, start + threshold)])
      if start == 0 {
        try base.withValues(for: page, visit)
      } else {
        try storage.read { try $0.withValues(for: page) { try visit(start + $0, $1) } }
      }
    }
  }
}

extension MutantReadTransaction {
  func contains(_ key: RawSpan) throws -> Bool {
    try withValue(for: key) { value in
      guard let value else { return false }
      if mutation == .containsOf2000OwnPuts && isHiddenKey(key) { return false }
      return value.byteCount > 0 || mutation != .emptyValueIsNotContained
    }
  }

  func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan) throws -> ScanStep
  ) throws {
    var range = range
    if let upper = range.upperBound, mutation == .keyScanIncludesTheUpperBound {
      range.upperBound = upper + [0]
    }
    let direction = mutation == .keyScanGoesForwardOnly ? .forward : direction
    if mutation == .pagesOfKeyScans && !(self is MutantWriteTransaction) {
      return try scanInPages(range, direction) { key, _ in try visit(key) }
    }
    var count = 0
    try scan(range, direction) { key, _ in
      if mutation == .keyScanOf2000OwnPuts && isHiddenKey(key) { return .continue }
      count += 1
      let step = try visit(key)
      if mutation == .endlessKeyStop && count == threshold { return .continue }
      if mutation == .keyScanOf1000Keys && count == threshold { return .stop }
      return step
    }
  }
}

/// Breaks a rule of writing.
final class MutantWriteTransaction: MutantReadTransaction, WriteTransaction {
  private let base: any WriteTransaction
  private var putCount = 0
  private var byteCount = 0
  private var firstPut: (key: StorageKey, value: [UInt8])?
  /// The keys that were put first, up to some number, and those that came behind them.
  private var fewKeys: Set<StorageKey> = []
  private var otherKeys: Set<StorageKey> = []
  private var hasCommitted = false
  /// The last key of the last commit.
  private lazy var lastCommitted = try? storage.read { transaction in
    var last: StorageKey?
    try transaction.scan(.all, .backward) { key, _ in
      last = StorageKey(key)
      return .stop
    }
    return last
  }

  init(_ base: any WriteTransaction, _ mutation: Mutation, _ threshold: Int, _ storage: any StorageDriver) {
    self.base = base
    super.init(base, mutation, threshold, storage)
  }

  func commits() { hasCommitted = true }

  /// What is left of a write that was rolled back.
  var keptPut: (key: StorageKey, value: [UInt8])? {
    if hasCommitted { return nil }
    switch mutation {
    case .keptFirstPutOf5000: return putCount > threshold ? firstPut : nil
    case .keptFirstPutOf100KB: return byteCount > threshold ? firstPut : nil
    default: return nil
    }
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    let key = mutation == .cutKeys && key.byteCount > 511 ? key.extracting(first: 511) : key
    let value = mutation == .cutValues && value.byteCount > 1 << 16 ? value.extracting(first: 1 << 16) : value
    if key.byteCount > 0 {
      count(value, key)
      if try isIgnored(value, key) { return }
    }
    try base.put(value, for: key)
  }

  func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    var entries = entries
    if mutation == .lostLastOfAll && entries.count > 1 { entries.removeLast() }
    if mutation == .keptFirstOfEqualKeys {
      var seen: Set<StorageKey> = []
      entries.removeAll { !seen.insert(StorageKey(bytes.extracting($0.key))).inserted }
    }
    if mutation == .noneOfAllWhileLent && entries.isEmpty { return }
    if entries.isEmpty { return try base.putAll(entries, in: bytes) }
    if mutation == .putAllOf1024 { entries.removeLast(max(0, entries.count - threshold)) }
    for entry in entries {
      let (key, value) = (bytes.extracting(entry.key), bytes.extracting(entry.value))
      switch mutation {
      case .putAllKeepsLargeOnes where value.byteCount <= threshold:
        if try base.withValue(for: key, { ($0?.byteCount ?? 0) <= threshold }) { try put(value, for: key) }
      case .putAllOfAnySize:
        try put(value.extracting(first: min(value.byteCount, 1 << 16)), for: key)
      default:
        try put(value, for: key)
      }
    }
  }

  private func count(_ value: RawSpan, _ key: RawSpan) {
    putCount += 1
    byteCount += value.byteCount
    if firstPut == nil { firstPut = (StorageKey(key), [UInt8](copying: value)) }
    switch mutation {
    case .removesFewOwnPuts, .scanOf2000OwnPuts, .backwardFromTheLastCommit, .keyScanOf2000OwnPuts,
      .containsOf2000OwnPuts:
      let key = StorageKey(key)
      if fewKeys.count < threshold {
        fewKeys.insert(key)
      } else if !fewKeys.contains(key) {
        otherKeys.insert(key)
      }
    default: break
    }
  }

  private func isIgnored(_ value: RawSpan, _ key: RawSpan) throws -> Bool {
    switch mutation {
    case .lostPutBeyond30000: return putCount > threshold
    case .samePutWhileLent:
      return try base.withValue(for: key) { [UInt8](copying: value) == $0.copied }
    case .lostOverwriteOfTheSameLength where value.byteCount > threshold:
      let beginning = [UInt8](copying: value.extracting(first: 1024))
      return try base.withValue(for: key) { old in
        old?.byteCount == value.byteCount && beginning == old?.extracting(first: 1024).copied
      }
    default: return false
    }
  }

  func remove(_ key: RawSpan) throws {
    switch mutation {
    case .lostRemovalBeyond130, .lostRemovalBeyond300, .lostRemovalBeyond1000:
      if putCount <= threshold { try base.remove(key) }
    case .missingRemovalWhileLent where try base.withValue(for: key) { $0 == nil }:
      return
    case .missingKeyIsAnError where try base.withValue(for: key) { $0 == nil }:
      throw StorageError(
        .engine, during: .remove, driver: "Mutant", message: "There is no such key. Put it first.")
    default:
      try base.remove(key)
    }
  }

  func removeAll(in range: StorageKeyRange) throws {
    let limit: Int
    switch mutation {
    case .emptyRangeWhileLent where range.isEmpty: return
    case .removesOneBlock, .removes10000Keys: limit = threshold
    case .removesFewOwnPuts, .removeAllKeepsLargeOnes: limit = .max
    default: return try base.removeAll(in: range)
    }
    var keys: [StorageKey] = []
    try base.scan(range, .forward) { key, value in
      if mutation == .removeAllKeepsLargeOnes && value.byteCount > threshold { return .continue }
      keys.append(StorageKey(key))
      return keys.count < limit ? .continue : .stop
    }
    for key in keys where mutation != .removesFewOwnPuts || !otherKeys.contains(key) { try base.remove(key) }
  }

  override fileprivate func isHiddenKey(_ key: RawSpan) -> Bool { otherKeys.contains(StorageKey(key)) }

  override fileprivate func isHidden(_ key: RawSpan, _ direction: ScanDirection) -> Bool {
    switch mutation {
    case .scanOf2000OwnPuts: return otherKeys.contains(StorageKey(key))
    case .backwardFromTheLastCommit:
      guard direction == .backward, putCount > threshold, let last = lastCommitted ?? nil else {
        return false
      }
      return StorageKey(key) > last
    default: return false
    }
  }
}

extension Optional where Wrapped == RawSpan {
  /// The bytes, or nil where there are none.
  fileprivate var copied: [UInt8]? {
    guard let self else { return nil }
    return [UInt8](copying: self)
  }
}

extension RawSpan {
  fileprivate var copied: [UInt8] { [UInt8](copying: self) }
}
