/// A root whose record waits in memory, to be decoded together with others.
struct HeldRoot {
  var key: RecordKey
  var record: UnsafeRawBufferPointer
  /// That of its identity; -1 where it has to be asked for.
  var number: Int
}

/// Records that a decoder will ask for, in the order of their keys: of one type, with identifiers that stand whole in
/// keys.
package struct WantedRecords {
  package let tag: UInt64
  fileprivate let numbers: ArraySlice<GraphWalk.Wanted>
  fileprivate let walk: GraphWalk

  package var count: Int { numbers.count }

  fileprivate func number(_ index: Int) -> Int { numbers[numbers.startIndex + index].number }

  /// Lends the identifier as it stands in the key.
  package func withIdentifier<R>(_ index: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
    try body(walk.identities.identifier(of: number(index)).bytes)
  }

  /// Compares that identifier with another one: negative where it stands before it, 0 where it is the same, positive where it
  /// stands behind it.
  package func compare(_ index: Int, with identifier: RawSpan) -> Int {
    identifier.withUnsafeBytes { compareBytes(walk.identities.identifier(of: number(index)), $0) }
  }
}

/// Lends those of the wanted records that it finds at little cost to `found`, with their places, until `found` returns false.
/// If it throws, the records are asked for when they are needed.
package typealias WantedReading = (WantedRecords, _ found: (Int, RawSpan) -> Bool) throws -> Void

// Reading ahead. Where a scan meets records that need others, many of them are read before the first one is decoded. What they
// refer to is found among them, or read in the order of keys: a record that a scan comes by costs a fraction of one that is
// looked up. The same is done for the targets of links that are filled in together.

extension GraphWalk {
  /// The record of an identity, and the bytes that its identifier begins with, as a number that sorts like them.
  struct Wanted {
    var number: Int
    var tag: UInt64
    var beginning: UInt64
  }

  /// Below so many it does not pay to read them in order.
  private static let fewestWanted = 8

  /// Holds a root back, which will be decoded as a type with these facts.
  func hold(_ key: RecordKey, _ record: UnsafeRawBufferPointer, _ facts: Permanent<TypeFacts>) {
    if heldRoots.isEmpty { kept.holdAll() }
    // Before the object gets its number, as where it is decoded at once.
    learn(tag: key.tag, facts)
    let key = RecordKey(tag: key.tag, identifier: kept.copy(key.identifier))
    let record = kept.copy(record)
    var number = -1
    // The key of a record under a former tag is not that of its identity.
    if currentTags[key.tag] == nil, !Identifier.isCut(byteCount: key.identifier.count) {
      number = self.number(tag: key.tag, key.identifier)
      kept.note(record, of: number)
    }
    heldRoots.append(HeldRoot(key: key, record: record, number: number))
  }

  /// Reads what the roots that are held refer to, and what that refers to in turn.
  func readAheadOfHeld() {
    guard let read = wantedReading else { return }
    var wanted: [Wanted] = []
    for root in heldRoots.all { noteWanted(by: root.record, .eager, &wanted) }
    try? self.read(wanted, .eager, read)
    heldTooMuch = !kept.hasRoom
  }

  /// Reads the targets of links from a place in ``FillQueue/targets`` on, and what they refer to in turn. Returns the place up
  /// to which that was done.
  func readAhead(ofTargetsFrom start: Int) -> Int {
    guard let read = wantedReading else { return .max }
    // What was read ahead before is decoded, unless roots wait for it.
    if heldRoots.isEmpty { kept.removeAll() }
    var wanted: [Wanted] = []
    let end = min(start + 8192, fills.targets.count)
    for place in start..<end { note(Int(fills.targets[place]), &wanted) }
    try? self.read(wanted, [.eager, .linked], read)
    return end
  }

  /// Reads records, and those that they refer to by references of these kinds, and so on, as far as they are found at little
  /// cost and there is room.
  private func read(_ wanted: [Wanted], _ kinds: ReferenceKinds, _ read: WantedReading) throws {
    var wanted = wanted
    while wanted.count >= GraphWalk.fewestWanted, kept.hasRoom {
      let level = wanted.sorted(by: isBefore)
      wanted = []
      var start = 0
      while start < level.count {
        let tag = level[start].tag
        let end = level[start...].firstIndex { $0.tag != tag } ?? level.count
        let records = WantedRecords(tag: tag, numbers: level[start..<end], walk: self)
        var found: [Int] = []
        try read(records) { index, record in
          guard record.byteCount <= KeptRecords.largestByteCount, kept.hasRoom else { return false }
          let number = records.number(index)
          record.withUnsafeBytes { kept.keep($0, of: number) }
          found.append(number)
          return true
        }
        noteWanted(byAll: found, kinds, &wanted)
        start = end
      }
    }
  }

  /// Notes the missing records that kept records refer to. Stops early where most of the records turn out to be there.
  private func noteWanted(byAll numbers: [Int], _ kinds: ReferenceKinds, _ wanted: inout [Wanted]) {
    let countBefore = wanted.count
    var referenceCount = 0
    for number in numbers {
      guard let record = kept.record(of: number) else { continue }
      referenceCount += noteWanted(by: record, kinds, &wanted)
      if referenceCount > 256, (wanted.count - countBefore) * 8 < referenceCount { return }
    }
  }

  /// Notes the missing records that a record refers to; returns to how many it refers. The record has not been checked yet. If
  /// it is damaged, what is noted may be anything; decoding it will say so.
  @discardableResult
  private func noteWanted(
    by record: UnsafeRawBufferPointer, _ kinds: ReferenceKinds, _ wanted: inout [Wanted]
  ) -> Int {
    guard RecordHead.uncheckedFlags(record)?.contains(.references) ?? false,
      let parsed = try? ParsedRecord(encoded: record)
    else { return 0 }
    var count = 0
    try? parsed.forEachReference { kind, tag, identifier in
      guard kinds.contains(kind) else { return }
      note(self.number(tag: tag, identifier), &wanted)
      count += 1
    }
    return count
  }

  /// Notes a record that is not there.
  private func note(_ number: Int, _ wanted: inout [Wanted]) {
    if records[number].hasValue { return }
    let identifier = identities.identifier(of: number)
    guard !Identifier.isCut(byteCount: identifier.count), kept.want(number) else { return }
    wanted.append(
      Wanted(number: number, tag: identities.tag(of: number), beginning: UInt64(beginning: identifier)))
  }

  private func isBefore(_ one: Wanted, _ other: Wanted) -> Bool {
    if one.tag != other.tag { return one.tag < other.tag }
    if one.beginning != other.beginning { return one.beginning < other.beginning }
    return compareBytes(identities.identifier(of: one.number), identities.identifier(of: other.number)) < 0
  }

  /// Forgets the records that were kept, and the roots that are held.
  func forgetKept() {
    if kept.isEmpty && heldRoots.isEmpty { return }
    heldRoots.removeAll(keeping: 1024)
    kept.removeAll()
  }
}
