internal import GarageCoding
internal import GarageDriver

extension ReadAccess {
  /// Surveys a type, and then runs `find`, which makes objects of it up, with this garage's `userInfo`.
  ///
  /// A survey needs objects. For a type that has none nothing is made up, and nothing new is found out; no query of it finds
  /// anything either.
  ///
  /// - Parameters:
  ///   - subclasses: subclasses whose fields `find` looks for, too.
  ///   - isExplained: whether `find` may make objects up even if the type has none.
  func makingUp<R>(
    _ type: any Codable.Type, _ facts: RecordTypeFacts, subclasses: [any Decodable.Type] = [],
    isExplained: Bool = false, _ find: () throws -> R
  ) throws -> R {
    var context = garage.probeContext
    // What is found is remembered: so the objects are asked first, even where the query is only explained.
    context.isAllowed = try garage.surveyedTypes.contains(facts.type) || survey(type, facts) || isExplained
    for case let type as any Codable.Type in subclasses
    where !garage.surveyedTypes.contains(ObjectIdentifier(type)) {
      _ = try survey(type, RecordTypeFacts.of(type))
    }
    return try context.run(find)
  }

  /// Surveys a type by some of its objects, where this garage has not done that before (``TypeSurvey``).
  ///
  /// - Returns: whether there are any.
  func survey(_ type: any Codable.Type, _ facts: RecordTypeFacts) throws -> Bool {
    guard garage.surveyedTypes.isWanted(facts.type) else { return true }
    return garage.survey(type, facts, by: try surveySample(of: facts))
  }

  /// What a type is surveyed by, and whether there are no records of it. Runs no users' code.
  func surveySample(of facts: RecordTypeFacts) throws -> (objects: [RecordValue], isEmpty: Bool) {
    try sampleObjects(facts, count: 8, ofAnyVersion: true)
  }

  /// Where no object of a type could be made up to find its fields, because it accepts only values of a certain form, reads two
  /// stored objects, so that others can be made from their values.
  ///
  /// - Returns: whether fields may be found now that were not before.
  func takeFieldSample<T: Codable>(_ type: T.Type, _ facts: RecordTypeFacts) throws -> Bool {
    guard FieldSample.isWanted(for: type) else { return false }
    let found = try sampleObjects(facts, count: 1, ofAnyVersion: false).objects
    guard let first = found.first else { return false }
    FieldSample.note(FieldSample(first, found.dropFirst().last { $0 != first }), of: type)
    return true
  }

  /// Some objects of a type, with those that they refer to in place of the references.
  ///
  /// - Parameters:
  ///   - count: how many are wanted from either end.
  ///   - ofAnyVersion: whether objects of older versions of the type are taken, too, with their version.
  /// - Returns: also whether there are no records under its tags.
  private func sampleObjects(
    _ facts: RecordTypeFacts, count: Int, ofAnyVersion: Bool
  ) throws -> (objects: [RecordValue], isEmpty: Bool) {
    var found: [RecordValue] = []
    var (isEmpty, restOfBytes) = (true, ReadAccess.mostSampledBytes)
    for tag in try presentTags(of: facts) {
      var isTagUsed = false
      for direction in [ScanDirection.forward, .backward] {
        if direction == .backward && !isTagUsed { break }
        var (foundCount, rest) = (0, ReadAccess.mostSampleReads)
        func visit(_ key: RawSpan, _ record: RawSpan) throws -> ScanStep {
          (isTagUsed, isEmpty) = (true, false)
          // A record that is large, damaged or of another class is no sample. If it is damaged, decoding it will say so. One that
          // does not open may be given without bytes.
          if 1..<ReadAccess.mostSampledBytes ~= record.byteCount,
            let content = try contentIfWhole(key, record),
            content.header.concreteTag.map({ facts.ownTags.contains($0) }) ?? true,
            ofAnyVersion || content.header.typeVersion == facts.ofCoder.currentVersion
          {
            let version = content.header.typeVersion
            found.append(ofAnyVersion && version > 0 ? .versioned(version, content.value) : content.value)
            foundCount += 1
          }
          (rest, restOfBytes) = (rest - 1, restOfBytes - record.byteCount)
          return foundCount == count || rest == 0 || restOfBytes < 0 ? .stop : .continue
        }
        do {
          try scanForSample(KeyLayout.records(tag: tag), direction, visit)
        } catch let error as StorageError where error.isOfOneValue {
          // Neither is one that does not open. Those in front of it have to do.
          (isTagUsed, isEmpty) = (true, false)
        }
      }
    }
    var room = 16 + 16 * count
    let whole = try found.map { value in
      try value.withTargets(room: &room) { identity in
        let key = try garage.objectKeys.record(tag: identity.tag, identity.identifier).bytes
        do {
          return try transaction.withReplaceableValue(
            for: key.span.bytes, isSealed: garage.objectKeys.isSealed
          ) { record -> RecordValue? in
            guard let record, 1..<ReadAccess.mostSampledBytes ~= record.byteCount else { return nil }
            return try contentIfWhole(key.span.bytes, record)?.value
          }
        } catch let error as StorageError where error.isOfOneValue {
          return nil
        }
      }
    }
    return (whole, isEmpty)
  }

  /// Visits records for a sample. In a write, to read one that does not open as others are read would forbid the commit. There each
  /// is read by itself, and such a one is given without bytes.
  private func scanForSample(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    guard garage.objectKeys.isSealed, transaction is any WriteTransaction else {
      return try transaction.scan(range, direction, visit)
    }
    var keys: [StorageKey] = []
    try transaction.scanKeys(range, direction) { key in
      keys.append(StorageKey(key))
      return keys.count < ReadAccess.mostSampleReads ? .continue : .stop
    }
    for key in keys {
      let bytes = key.bytes
      let step = try transaction.withReplaceableValue(for: bytes.span.bytes, isSealed: true) {
        record -> ScanStep in
        guard let record else { return .continue }
        return try visit(bytes.span.bytes, record)
      }
      if step == .stop { return }
    }
  }

  /// The content of a record; nil where it is damaged. An error of fetching is no damage, and is thrown.
  private func contentIfWhole(_ key: RawSpan, _ record: RawSpan) throws -> RecordContent? {
    do {
      return try content(of: key, record)
    } catch is FetchedTransaction.Missed {
      throw FetchedTransaction.Missed()
    } catch {
      return nil
    }
  }

  private static var mostSampledBytes: Int { 1 << 20 }
  /// How many records are looked at for a sample, from either end.
  private static var mostSampleReads: Int { 16 }
}

extension Garage {
  /// Surveys a type by some of its objects, which runs its `init(from:)`.
  ///
  /// - Returns: whether there are any.
  func survey(
    _ type: any Codable.Type, _ facts: RecordTypeFacts, by sample: (objects: [RecordValue], isEmpty: Bool)
  ) -> Bool {
    if sample.isEmpty { return false }
    if sample.objects.isEmpty {
      surveyedTypes.noteMiss(of: facts.type)
      return true
    }
    probeContext.run { TypeSurvey.note(sample.objects, of: type) }
    surveyedTypes.note(facts.type)
    return true
  }

  /// The terms on which objects are made up.
  var probeContext: ProbeContext {
    var context = ProbeContext()
    context.userInfo = userInfo
    return context
  }
}
