internal import GarageCoding
internal import GarageDriver

/// Finds out what is deleted together, and what becomes of the referrers, and then does it.
///
/// Works with lists and not by recursion, and so takes the same stack however long a chain is. Memory: the keys of all records
/// that are deleted or rewritten; for ``addUnreached()`` also of those that are reached.
struct Deletion {
  let access: WriteAccess
  /// The records to be deleted, and the rule for the referrers of each.
  private(set) var rules: [StorageKey: ReferrersRule] = [:]
  /// Records to be deleted that were not looked into yet.
  private var waiting: [StorageKey] = []
  /// The declarations of types, by the tag of their objects.
  private var declared: [UInt64: Declared?] = [:]
  /// The tags under which the objects of a tag may stand, where it is not that tag alone.
  private var names = OtherNames()

  /// What a type declares.
  private struct Declared {
    let rule: ReferrersRule
    /// What its objects own.
    var owned: [PropertyReferences]
  }

  init(_ access: WriteAccess) { self.access = access }

  private var reading: ReadAccess { access.reading }
  private var transaction: any WriteTransaction { access.transaction }
  private var keys: ObjectKeys { access.garage.objectKeys }

  // MARK: - What goes

  /// Adds the records of an object, and all that is owned by what goes.
  ///
  /// - Parameter rule: nil where its type is to say.
  mutating func add(_ keys: [StorageKey], _ rule: ReferrersRule?) throws {
    // All of them first: what it owns may own it, and lead to one of them by the rule of its type.
    for key in keys { try note(key, rule) }
    try followWaiting()
  }

  /// Adds those of these records that are there, by the rules of their types, and all that is owned by the records to be
  /// deleted.
  mutating func addPresent(_ keys: [StorageKey]) throws {
    try notePresent(keys)
    try followWaiting()
  }

  private mutating func notePresent(_ keys: [StorageKey]) throws {
    access.announce(keys)
    for key in keys where try transaction.contains(key) { try note(key, nil) }
  }

  /// Adds what is owned by the records to be deleted, level by level, so that all records of a level are asked for together.
  private mutating func followWaiting() throws {
    while !waiting.isEmpty {
      let owners = waiting
      waiting = []
      access.announce(owners)
      var targets: [StorageKey] = []
      for owner in owners { targets += try ownedKeys(of: owner) }
      try notePresent(targets)
    }
  }

  private mutating func note(_ key: StorageKey, _ rule: ReferrersRule?) throws {
    if rules[key] != nil { return }
    let declared = try declaredRules(key)
    rules[key] = rule ?? declared?.rule ?? .leave
    if let declared, !declared.owned.isEmpty { waiting.append(key) }
  }

  /// What the type of a record's object declares; nil where it declares nothing, or is not known.
  private mutating func declaredRules(_ key: StorageKey) throws -> Declared? {
    try declared[tag(of: key)] ?? nil
  }

  /// The tag of a record's class, whose declarations count.
  private mutating func tag(of key: StorageKey) throws -> UInt64 {
    let bytes = key.bytes
    let space = KeyLayout.tag(inRecordKey: bytes.span.bytes)
    // Only the record tells which class an object is of. A record that does not open tells none.
    let concrete = try access.withReplaceableValue(bytes.span.bytes) { record -> UInt64? in
      guard let record, record.byteCount > 0 else { return nil }
      return try? keys.header(of: bytes.span.bytes, record, typeName: "object").concreteTag
    }
    let tag = concrete ?? space
    if declared[tag] != nil { return tag }
    let own = try declaration(ofTag: tag)
    // For a class that is not known here, at least the rules that it inherits count.
    declared[tag] = try .some(own ?? (tag == space ? nil : declaration(ofTag: space)))
    return tag
  }

  /// The declaration of the first of the types with a tag that has one.
  ///
  /// - Throws: ``GarageError/notMet(_:)``.
  private func declaration(ofTag tag: UInt64) throws -> Declared? {
    for type in access.garage.knownTypes(tag: tag) {
      guard let rules = try RecordTypeFacts.met(type)?.deleteRules else { continue }
      // From now on their tags lead to these types, whose objects may have rules of their own.
      for owned in rules.ownedTypes { _ = try RecordTypeFacts.met(owned) }
      for owned in rules.owned { _ = try owned.namedPath() }
      return Declared(
        rule: rules.referrersRule, owned: rules.owned.map { PropertyReferences($0, reading) })
    }
    return nil
  }

  /// The keys of the records that a record owns, which need not be there.
  private mutating func ownedKeys(of key: StorageKey) throws -> [StorageKey] {
    let tag = try tag(of: key)
    guard var owned = try declaredRules(key)?.owned else { return [] }
    // The object owns what its present record says. What an older program's record beside that names may belong to others.
    if try reading.isSuperseded(key) { return [] }
    let bytes = key.bytes
    var identities: Set<RecordIdentity> = []
    try access.withReplaceableValue(bytes.span.bytes) { record in
      guard let record, RecordSummary.uncheckedRefersToOthers(record) else { return }
      // It cannot be told what a damaged object owns; it can be deleted all the same.
      guard let content = try? reading.content(of: bytes.span.bytes, record) else { return }
      for index in owned.indices {
        identities.formUnion(try owned[index].ownedIdentities(bytes.span.bytes, record, content))
      }
    }
    // With the places that were found for the properties.
    declared[tag]??.owned = owned
    return try identities.flatMap { try possibleKeys(of: keys.record(tag: $0.tag, $0.identifier)) }
  }

  // MARK: - Names

  /// The records of the object that a reference leads to, which may be under other names of its type. There are several if a
  /// program that knows only the older name parked the object again. If not all were deleted, the object would still be there.
  private mutating func presentKeys(_ target: StorageKey) throws -> [StorageKey] {
    try possibleKeys(of: target).filter { try transaction.contains($0) }
  }

  /// The keys that the record of a reference's target may have.
  private mutating func possibleKeys(of target: StorageKey) throws -> [StorageKey] {
    try [target] + otherNames(of: target)
  }

  /// The keys that an object has under other names of its type, as far as the type is known.
  ///
  /// - Throws: ``GarageError/notMet(_:)``.
  private mutating func otherNames(of key: StorageKey) throws -> [StorageKey] {
    try names.keys(beside: key)
  }

  // MARK: - What nothing else reaches

  /// Adds the records that are reached only by records to be deleted.
  ///
  /// Values of typed keys reach what they refer to.
  mutating func addUnreached() throws {
    var reached = Set(rules.keys)
    var next = Array(reached)
    while let key = next.popLast() {
      for target in try targets(of: key) where reached.insert(target).inserted { next.append(target) }
    }
    let candidates = reached.subtracting(rules.keys)
    if candidates.isEmpty { return }
    var kept = try reachedFromOutside(candidates, reached)
    next = Array(kept)
    while let key = next.popLast() {
      for target in try targets(of: key) where candidates.contains(target) && kept.insert(target).inserted {
        next.append(target)
      }
    }
    for key in candidates where !kept.contains(key) { rules[key] = .leave }
  }

  /// The records that a record refers to, as far as they are there.
  private mutating func targets(of key: StorageKey) throws -> [StorageKey] {
    var named: [StorageKey] = []
    try reading.forEachTarget(ofRecord: key) { _, target in named.append(StorageKey(target)) }
    var present: [StorageKey] = []
    for target in named { present += try presentKeys(target) }
    return present
  }

  /// Those of the candidates that are referred to by records which were not reached.
  private mutating func reachedFromOutside(
    _ candidates: Set<StorageKey>, _ reached: Set<StorageKey>
  ) throws -> Set<StorageKey> {
    let named = try byName(candidates)
    var kept: Set<StorageKey> = []
    let search = try ReferrerSearch(reading)
    for (name, key) in named where search.item != nil && !kept.contains(key) {
      try search.forEachReferrer(ofAny: [name]) { referrer, _ in
        if reached.contains(referrer) { return .continue }
        kept.insert(key)
        return .stop
      }
    }
    if search.item == nil {
      try search.forEachReferrer(ofAny: named.keys) { referrer, name in
        if let key = named[name], !reached.contains(referrer) { kept.insert(key) }
        return .continue
      }
    }
    try transaction.scan(KeyLayout.allValues, .forward) { key, value in
      do {
        try RecordVerifier.forEachReference(inValueUnder: KeyLayout.checked(key), value) {
          _, tag, identifier in
          try Identifier.withKeyForm(of: identifier) { identifier in
            try keys.withStorageKey(tag: tag, identifier.bytes) { target in
              if let key = named[StorageKey(target)] { kept.insert(key) }
            }
          }
        }
      } catch let damage as ValueDamage {
        throw GarageError(damage, key: KeyName.text(ofKey: key))
      }
      return .continue
    }
    // An object that has several records keeps all of them, by whichever name it is referred to.
    for key in kept {
      for other in try otherNames(of: key) where candidates.contains(other) { kept.insert(other) }
    }
    return kept
  }

  /// The keys by which records may be referred to, each with the record.
  private mutating func byName(_ keys: some Collection<StorageKey>) throws -> [StorageKey: StorageKey] {
    var named: [StorageKey: StorageKey] = [:]
    for key in keys {
      named[key] = key
      for other in try otherNames(of: key) where named[other] == nil { named[other] = key }
    }
    return named
  }

  // MARK: - Doing it

  /// Applies the rules for referrers, and deletes the records; returns how many objects were deleted.
  ///
  /// - Throws: ``GarageError/stillReferredTo(type:identifier:by:)``, before anything was changed.
  mutating func run() throws -> Int {
    let named = try byName(rules.filter { $0.value != .leave }.keys)
    var denied: [StorageKey: [StorageKey]] = [:]
    var rewritten: Set<StorageKey> = []
    var superseded: Set<StorageKey> = []
    try ReferrerSearch(reading).forEachReferrer(
      ofAny: named.keys,
      tellingSuperseded: { referrer, name, isSuperseded in
        guard let key = named[name], rules[referrer] == nil else { return .continue }
        if rules[key] == .nullify {
          if isSuperseded { superseded.insert(referrer) } else { rewritten.insert(referrer) }
        } else if !isSuperseded {
          denied[key, default: []].append(referrer)
          // Enough to name them.
          if denied[key, default: []].count > 3 { return .stop }
        }
        return .continue
      })
    if let (key, referrers) = denied.min(by: { $0.key < $1.key }) {
      throw try reading.stillReferred(key, referrers)
    }
    let nullification = Nullification(access, named.filter { rules[$0.value] == .nullify })
    if let refusal = try nullification.refusal(of: rewritten) {
      throw try reading.stillReferred(refusal.target, by: refusal.referrer)
    }
    // What an older program has parked beside the present record is changed for its sake, where that can be. It forbids nothing.
    for key in superseded where try nullification.refusal(of: [key]) == nil { rewritten.insert(key) }
    let count = try objectCount()
    try nullification.run(rewritten)
    try access.removeRecords(Array(rules.keys))
    try noteDenials(named)
    return count
  }

  /// Where the deletion stays unsaved: what nobody may refer to when it is saved.
  private mutating func noteDenials(_ named: [StorageKey: StorageKey]) throws {
    guard let overlay = access.overlay else { return }
    var denying = named.filter { rules[$0.value] == .deny }
    if denying.isEmpty { return }
    // An object that had several records is there again when one of them is.
    for (name, key) in denying {
      let others = try otherNames(of: key).filter { rules[$0] == .deny }
      if let first = others.min(), first < key { denying[name] = first }
    }
    var denials = overlay.changes.denials ?? UnsavedDenials(access.garage)
    denials.add(denying)
    overlay.changes.denials = denials
  }

  /// How many objects are deleted: fewer than records if some objects have several.
  private mutating func objectCount() throws -> Int {
    var count = 0
    for key in rules.keys {
      let isCounted = try otherNames(of: key).contains { rules[$0] != nil && $0 < key }
      if !isCounted { count += 1 }
    }
    return count
  }
}

extension ReadAccess {
  /// The error that names the first of those who refer to a record.
  func stillReferred(_ key: StorageKey, _ referrers: [StorageKey]) throws -> GarageError {
    let texts = try referrers.prefix(3).map { try text(ofRecord: $0).joined(separator: " ") }
    return try stillReferred(
      key, by: texts.joined(separator: ", ") + (referrers.count > 3 ? " and others" : ""))
  }

  fileprivate func stillReferred(_ key: StorageKey, by others: String) throws -> GarageError {
    let text = try text(ofRecord: key)
    return .stillReferredTo(type: text[0], identifier: text[1], by: others)
  }
}
