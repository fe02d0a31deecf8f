internal import Synchronization

extension FieldPath {
  /// What a type accepts in place of a field.
  package enum Substitute: Sendable {
    /// Nothing at all: an element leaves its collection.
    case absence
    /// The same for a key or a value in a dictionary that is stored as an array of both in turn: the other one is removed, too.
    case entryAbsence
    /// A nil that is encoded as such.
    case null
    /// Neither: its objects need what was there.
    case refused
  }

  /// What is known of a substitute.
  package struct Answer: Sendable {
    package let substitute: Substitute
    /// Whether objects can be decoded with it, whatever else they have. If not, each has to be decoded to find out.
    package var isSure = true
  }

  /// What may stand in place of the field so that objects of a type can still be decoded; nil where that is not found out,
  /// because no object can be made up, or because it is not known what the type does with the field. Runs the type's
  /// `init(from:)` with made-up values.
  package func substitute(in type: any Decodable.Type) -> Answer? {
    let address = TypeAddress(type)
    let place = KnownSubstitutes.Place(
      type: address,
      path: KnownSubstitutes.dictionaries(of: address).map { FieldPath(withAnyKeys(in: $0)) } ?? self)
    if let known = KnownSubstitutes.answer(place) { return known }
    let found = findSubstitute(in: type)
    // Not remembered, because it may be found out with other objects.
    if let found { KnownSubstitutes.note(found, place) }
    return found
  }

  /// The path where one key stands for all that a dictionary may have.
  ///
  /// - Parameter dictionaries: where those are that take any key.
  private func withAnyKeys(in dictionaries: Set<[String]>) -> [String] {
    if dictionaries.isEmpty { return keys }
    var path: [String] = []
    for key in keys { path.append(dictionaries.contains(path) ? FieldProbe.anyKey : key) }
    return path
  }

  private func findSubstitute(in type: any Decodable.Type) -> Answer? {
    func made<T: Decodable>(_ type: T.Type, _ leaf: FieldProbe.Leaf? = nil) -> FieldProbe.Made? {
      (try? FieldProbe.object(type, leaf, fillsDictionaries: true))?.1
    }
    func isDecoded(_ path: [String], _ change: FieldProbe.Leaf.Change) -> Bool {
      made(type, FieldProbe.Leaf(path: path, change: change)) != nil
    }
    guard !keys.isEmpty, var first = made(type) else { return nil }
    KnownSubstitutes.note(dictionaries: first.dictionaries, of: TypeAddress(type))
    let path = withAnyKeys(in: first.dictionaries)
    if !first.asked.contains(path) {
      // It may be in another case of an enum than the first.
      guard let other = made(type, FieldProbe.Leaf(path: path, change: .none)), other.asked.contains(path)
      else { return substituteFurtherOut(in: type) }
      first = other
    }
    let outer = Array(path.dropLast())
    let isEvolving =
      TypeFacts.of(type).object.isEvolving || !first.evolvingVersions(on: path).isEmpty
    if path.last == FieldPath.element {
      /// Whether an array of so many elements is read to its end.
      func takes(_ count: Int) -> Bool {
        made(type, FieldProbe.Leaf(path: outer, change: .elementCount(count)))?.elementCounts[outer] == count
      }
      switch first.arrayForm(outer) ?? CollectionForm(takes) {
      case .elements:
        return Answer(substitute: .absence, isSure: !isEvolving && (0...3).allSatisfy(takes))
      case .entries:
        return Answer(substitute: .entryAbsence, isSure: !isEvolving && [0, 2, 4].allSatisfy(takes))
      case nil:
        if isEvolving { return nil }
        // One of several elements may be needed.
        guard let nulled = made(type, FieldProbe.Leaf(path: path, change: .null)),
          !nulled.refused.contains(where: { path.starts(with: $0) && !first.refused.contains($0) })
        else { return nil }
        return Answer(substitute: .null)
      }
    }
    if isEvolving { return nil }
    if first.dictionaries.contains(outer) {
      return isDecoded(outer, .elementCount(0)) ? Answer(substitute: .absence) : nil
    }
    if isDecoded(path, .absent) { return Answer(substitute: .absence) }
    return Answer(substitute: isDecoded(path, .null) ? .null : .refused)
  }
}

extension FieldPath {
  /// The same for a field in values of a type that stand in each other, deeper than these are made up. What is true for such a
  /// value further out is most likely true here.
  private func substituteFurtherOut(in type: any Decodable.Type) -> Answer? {
    let path = FieldPath(FieldPath.withoutRepetitions(keys))
    guard path != self, var answer = path.substitute(in: type) else { return nil }
    answer.isSure = false
    return answer
  }

  /// The keys without repeated groups: `a.[].a.[].b` becomes `a.[].b`.
  private static func withoutRepetitions(_ keys: [String]) -> [String] {
    var keys = keys
    var length = 1
    while 2 * length <= keys.count {
      let repetition = (0...keys.count - 2 * length).first { start in
        let (one, other) = (keys[start..<start + length], keys[start + length..<start + 2 * length])
        // An array in an array is no repetition.
        return one.elementsEqual(other) && one.contains { $0 != element }
      }
      if let repetition {
        keys.removeSubrange(repetition..<repetition + length)
      } else {
        length += 1
      }
    }
    return keys
  }
}

/// What was found out about fields of types. Kept, because many objects are made up for each.
private enum KnownSubstitutes {
  struct Place: Hashable {
    let type: TypeAddress
    let path: FieldPath
  }

  private struct Known {
    var answers: [Place: FieldPath.Answer] = [:]
    var dictionaries: [TypeAddress: Set<[String]>] = [:]
  }

  private static let known = Mutex(Known())

  /// Among the paths may be keys of dictionaries in other cases of enums, of which there may be any number.
  private static let limit = 4096

  static func answer(_ place: Place) -> FieldPath.Answer? { known.withLock { $0.answers[place] } }

  static func note(_ answer: FieldPath.Answer, _ place: Place) {
    known.withLock { known in
      if known.answers.count >= limit { known.answers = [:] }
      known.answers[place] = answer
    }
  }

  /// Where a type has dictionaries that take any key; nil where that was not looked at yet.
  static func dictionaries(of type: TypeAddress) -> Set<[String]>? {
    known.withLock { $0.dictionaries[type] }
  }

  static func note(dictionaries: Set<[String]>, of type: TypeAddress) {
    known.withLock { $0.dictionaries[type] = dictionaries }
  }
}

/// What the elements of an array are for the type that reads it. If they are none of these, each may have a meaning of its own.
enum CollectionForm {
  case elements
  /// Keys and values in turn.
  case entries

  /// The form of a collection of the library; nil for any other type.
  init?(of type: Any.Type) {
    guard let type = type as? any LibraryCollection.Type else { return nil }
    self = type.arrayForm
  }

  /// - Parameter takes: whether an array of so many elements is read to its end. What reads each to its end is a collection.
  init?(_ takes: (Int) -> Bool) {
    let (even, odd) = ([0, 2, 8, 22].allSatisfy(takes), [1, 3, 7, 21].map(takes))
    if even && !odd.contains(false) {
      self = .elements
    } else if even && !odd.contains(true) {
      self = .entries
    } else {
      return nil
    }
  }
}

private protocol LibraryCollection {
  static var arrayForm: CollectionForm { get }
}

extension Array: LibraryCollection {
  fileprivate static var arrayForm: CollectionForm { .elements }
}

extension ContiguousArray: LibraryCollection {
  fileprivate static var arrayForm: CollectionForm { .elements }
}

extension Set: LibraryCollection {
  fileprivate static var arrayForm: CollectionForm { .elements }
}

extension Dictionary: LibraryCollection {
  fileprivate static var arrayForm: CollectionForm { .entries }
}
