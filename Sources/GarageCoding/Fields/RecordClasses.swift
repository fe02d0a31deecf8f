/// The classes whose objects stand among the records of one type, as records name them: fields of each stand where its own
/// `encode(to:)` put them, and were written in a version of its own.
///
/// Belongs to one thread.
package final class RecordClasses {
  /// Of which class the object in a record is, as far as its fields are concerned.
  enum Member: Equatable {
    /// One of the type itself.
    case own
    /// One of a subclass, by its place among ``subclasses``.
    case subclass(Int)
    /// One of a class that the type is no superclass of.
    case stranger
    /// An object of an unknown class, or written in another version of its class.
    case unknown
  }

  private struct Known {
    let tag: UInt64
    let version: Int
    let member: Member
  }

  /// The digests of the type's own tags, present and former.
  private let ownTags: [UInt64]
  private let version: Int
  /// The subclasses that are known, once for each tag of theirs.
  private(set) var subclasses: [any Decodable.Type] = []
  private var others: [Known] = []

  /// - Parameters:
  ///   - ownTags: the digests of the type's own tags.
  ///   - types: those that may be met.
  ///   - isSubclass: whether objects of one of these are of the type, too.
  package init(
    _ facts: TypeFacts, ownTags: [UInt64], _ types: RegisteredTypes,
    isSubclass: (any Decodable.Type) -> Bool
  ) {
    (self.ownTags, version) = (ownTags, facts.version)
    if !facts.isClass { return }
    for (tag, type) in types.byTag where !ownTags.contains(tag) {
      let isOne = isSubclass(type)
      let member = isOne ? Member.subclass(subclasses.count) : .stranger
      others.append(Known(tag: tag, version: TypeFacts.of(type).object.version, member: member))
      if isOne { subclasses.append(type) }
    }
  }

  /// Whether a record with neither a tag of its own nor a type's version is one of the type.
  var haveNoVersion: Bool { version == 0 }

  /// Of which class the object in a record is.
  @inline(__always)
  func member(_ record: borrowing FieldRecord) -> Member {
    guard let tag = record.concreteTag else { return record.typeVersion == version ? .own : .unknown }
    return member(tag, record.typeVersion)
  }

  private func member(_ tag: UInt64, _ typeVersion: Int) -> Member {
    if ownTags.contains(tag) { return typeVersion == version ? .own : .unknown }
    for other in others where other.tag == tag {
      return other.member == .stranger || other.version == typeVersion ? other.member : .unknown
    }
    return .unknown
  }
}

/// Where a property stands in the records of a type and of its subclasses, in each of which it has a place of its own.
///
/// Belongs to one thread.
package final class PropertyLookup {
  /// Where the property stands in a record, and whether it is nil if it is not there; nil where the record's bytes do not tell.
  typealias Found = (place: FieldLookup.Place, absentIsNull: Bool)

  private let lookup: FieldLookup
  private let absentIsNull: Bool
  /// A copy of what the lookup knows, to be read without counting references.
  @exclusivity(unchecked) private var near: FieldLookup.Near?
  /// Finds out where a subclass has the property. Each is asked for when the first of its records is met.
  private let field: (any Decodable.Type) -> StoredField?
  @exclusivity(unchecked) private var ofSubclasses: [PropertyLookup??] = []

  package init(_ own: StoredField, inSubclass field: @escaping (any Decodable.Type) -> StoredField?) {
    (lookup, absentIsNull) = (FieldLookup(own.path), own.absentIsNull)
    self.field = field
  }

  /// Where a record's object has it; nil where that is not told by its bytes.
  @inline(__always)
  func find(_ record: borrowing FieldRecord, _ classes: RecordClasses) throws -> Found? {
    if case .own = classes.member(record) { return try find(record) }
    return try findInSubclass(record, classes)
  }

  /// Where a record of the usual form, of the type itself, has the property; nil where that takes the general way.
  @inline(__always)
  func find(_ record: PlainRecord) -> Found? {
    guard let place = near?.find(record) else { return nil }
    if case .undecided = place { return nil }
    return (place, absentIsNull)
  }

  @inline(__always)
  private func find(_ record: borrowing FieldRecord) throws -> Found {
    if let near {
      let place = try near.find(record)
      if case .undecided = place {} else { return (place, absentIsNull) }
    }
    return try findByPath(record)
  }

  @inline(never)
  private func findByPath(_ record: borrowing FieldRecord) throws -> Found {
    let place = try lookup.place(in: record)
    near = lookup.near
    return (place, absentIsNull)
  }

  @inline(never)
  private func findInSubclass(_ record: borrowing FieldRecord, _ classes: RecordClasses) throws -> Found? {
    guard case .subclass(let index) = classes.member(record) else { return nil }
    while ofSubclasses.count < classes.subclasses.count { ofSubclasses.append(nil) }
    if ofSubclasses[index] == nil {
      let found = field(classes.subclasses[index])
      ofSubclasses[index] = .some(found.map { PropertyLookup($0, inSubclass: { _ in nil }) })
    }
    return try ofSubclasses[index]??.find(record)
  }
}
