/// The classes whose objects stand among the records of one type, as records name them: fields of each stand where its own
/// `encode(to:)` put them, and were written in a version of its own.
///
/// Belongs to one thread.
package final class RecordClasses {
  /// Whose object a record holds, as far as its fields are concerned.
  enum Member: Equatable {
    /// One of the type itself.
    case own
    /// One of a subclass, by its place among ``subclasses``.
    case subclass(Int)
    /// One of a class that the type is no superclass of.
    case stranger
    /// Of a class that is not known, or written in another version of its own.
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

  /// Whose object a record holds.
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
  /// One class's.
  final class Place {
    let lookup: FieldLookup
    let absentIsNull: Bool

    init(_ field: StoredField) { (lookup, absentIsNull) = (FieldLookup(field.path), field.absentIsNull) }
  }

  private let own: Place
  /// Finds out where a subclass has the property. Each is asked for when the first of its records is met.
  private let field: (any Decodable.Type) -> StoredField?
  @exclusivity(unchecked) private var ofSubclasses: [Place??] = []

  package init(_ own: StoredField, inSubclass field: @escaping (any Decodable.Type) -> StoredField?) {
    (self.own, self.field) = (Place(own), field)
  }

  /// Where a record's object has it; nil where that is not told by its bytes.
  @inline(__always)
  func place(_ record: borrowing FieldRecord, _ classes: RecordClasses) -> Place? {
    switch classes.member(record) {
    case .own: own
    case .subclass(let index): place(inSubclass: index, classes)
    case .stranger, .unknown: nil
    }
  }

  @inline(never)
  private func place(inSubclass index: Int, _ classes: RecordClasses) -> Place? {
    while ofSubclasses.count < classes.subclasses.count { ofSubclasses.append(nil) }
    if let known = ofSubclasses[index] { return known }
    let found = field(classes.subclasses[index]).map { Place($0) }
    ofSubclasses[index] = .some(found)
    return found
  }
}
