/// Finds out which stored field a property is read from, by decoding objects that are made up: one of plain values, then one
/// for each field in which this alone is different, and one in which all others are. The property that has what this field
/// has in all of them is read from it.
///
/// The name of a key path says less: coding keys rename properties, and the names of computed properties and of
/// properties of classes are not told.
final class FieldProbe {
  /// A scalar that `init(from:)` reads.
  struct Leaf: Equatable {
    var path: [String]
    /// What is read in place of the first value, when the leaf is chosen.
    var change: Change
    /// Which form the second value has; where all others are second ones, those of them that are no text.
    var form = 0

    enum Change: Equatable {
      case none, second, absent
      /// A nil that was encoded as such.
      case null
      /// An array at the path has so many elements, or a dictionary no entry.
      case elementCount(Int)
      /// The second value is read in all leaves that are not at the path or below, or in all there are.
      case allOthers, all
      /// A raw value that no case of an enum has.
      case unknownCase
      /// The case of that number of an enum.
      case plainCase(Int)
      /// One that differs from the first in what may be passed over where values are compared.
      case variant(Int)
      /// One of those that often stand for none; the first value where the type has no such.
      case empty(Int)
    }
  }

  /// The scalars that were made up.
  struct Made {
    /// The paths of all keys that were asked for, and of elements.
    fileprivate(set) var asked: Set<[String]> = []
    /// The paths of optionals that are nil because their types refused what they found.
    fileprivate(set) var refused: Set<[String]> = []
    /// Their paths, in the order in which they are read.
    private(set) var paths: [[String]] = []
    /// The paths of what is no scalar, in the order in which they are read.
    fileprivate(set) var containers: [[String]] = []
    /// How many cases the enums without payload have that have raw values.
    fileprivate(set) var caseCounts: [[String]: Int] = [:]
    /// The same of those that have none, and are written as a key.
    fileprivate(set) var keyedCaseCounts: [[String]: Int] = [:]
    /// The paths of what takes any key, as dictionaries do.
    fileprivate(set) var dictionaries: Set<[String]> = []
    /// Whether there are values of which their objects make something else. They are not among the paths.
    fileprivate(set) var hasConverted = false
    /// How many elements of the arrays at the paths were read.
    fileprivate(set) var elementCounts: [[String]: Int] = [:]
    /// As what collections of the library they are read; nil for those that other types read.
    fileprivate var arrayForms: [[String]: Set<CollectionForm?>] = [:]
    /// The paths of what has a record of its own, and stands in others as a reference.
    fileprivate(set) var objects: Set<[String]> = []
    /// The paths of values of enums, which have other keys in other cases.
    fileprivate(set) var enums: Set<[String]> = []
    /// The paths where it was asked which keys there are, of those of a type: those of enums, and of what reads one beside its own.
    fileprivate(set) var cases: Set<[String]> = []
    /// The paths inside of which there may be values in an older form of their type, with the type's version.
    fileprivate(set) var evolving: [[String]: Int] = [:]
    private var values: [[String]: FieldValue] = [:]

    private var hashables: [[String]: any Hashable] = [:]

    subscript(path: [String]) -> FieldValue? { values[path] }

    /// As what collection of the library an array is read; nil where it is read as something else, or as several things.
    func arrayForm(_ path: [String]) -> CollectionForm? {
      guard let forms = arrayForms[path], forms.count == 1 else { return nil }
      return forms.first ?? nil
    }

    /// What evolves on the way to a field, or is the field: the versions of those types. That of the object itself is not among them.
    func evolvingVersions(on path: [String]) -> [Int] {
      evolving.filter { path.starts(with: $0.key) }.map(\.value)
    }

    /// The way to a scalar, as far as it leads through one record and to one value there: neither into an object, nor into a
    /// dictionary or an array, nor into a case of an enum. None where another value may have it under another key.
    func wayInRecord(to path: [String]) -> [String] {
      for count in path.indices {
        let way = Array(path.prefix(count))
        if enums.contains(way) { return way }
        if cases.contains(way) { return [] }
        if count == 0 { continue }
        if path[count] == FieldPath.element || dictionaries.contains(way) || objects.contains(way) {
          return way
        }
      }
      return path
    }

    /// A scalar as it was made up.
    func hashable(_ path: [String]) -> (any Hashable)? { hashables[path] }

    fileprivate mutating func note(_ path: [String], _ value: FieldValue, _ made: Any) {
      hashables[path] = made as? any Hashable
      if values.updateValue(value, forKey: path) == nil { paths.append(path) }
    }
  }

  private var made = Made()
  private let chosen: Leaf?
  /// Whether what takes any key has one.
  let fillsDictionaries: Bool
  private var experience: ProbeExperience
  /// What the type that is being read has asked for.
  private var asked: ProbeGuess.Matter = []
  /// How many values of a type are being read, one in the other.
  private var openCounts: [TypeAddress: Int] = [:]
  private var readCount = 0

  private init(_ chosen: Leaf?, fillsDictionaries: Bool, _ experience: ProbeExperience) {
    (self.chosen, self.fillsDictionaries, self.experience) = (chosen, fillsDictionaries, experience)
  }

  /// Decodes an object of made-up values.
  ///
  /// - Parameters:
  ///   - chosen: the field that is different.
  ///   - fillsDictionaries: whether dictionaries with keys of text, and what else takes any key, have an entry.
  /// - Throws: what `init(from:)` throws, for instance because it refuses these values.
  static func object<T: Decodable>(
    _ type: T.Type, _ chosen: Leaf? = nil, fillsDictionaries: Bool = false
  ) throws -> (T, Made) {
    guard ProbeContext.current.isAllowed, !(type is any OpaqueFields.Type) else { throw IsNotAllowed() }
    let key = ProbeExperience.Key(type, fillsDictionaries: fillsDictionaries)
    let experience = ProbeExperience.of(key)
    if let refusal = experience.refusal { throw refusal }
    let probe = FieldProbe(chosen, fillsDictionaries: fillsDictionaries, experience)
    func read(_ guess: ProbeGuess) throws -> T {
      try T(from: ProbeDecoder(probe: probe, of: type, guess: guess, sample: experience.sample))
    }
    if chosen != nil { return (try read(experience.guess(for: key.type)), probe.made) }
    // What the first one takes is known to all that follow.
    defer { ProbeExperience.note(probe.experience, of: key) }
    do { return (try probe.guess(type, read), probe.made) } catch {
      probe.experience.refusal = error
      throw error
    }
  }

  /// In how many forms a difference is tried at least.
  static func formCount(of change: Leaf.Change) -> Int {
    switch change {
    case .second: 4
    // Values near to each other are among them.
    case .allOthers, .all: 3
    default: 1
    }
  }

  /// What is made of the first second value at a path that is taken; nil where none is.
  static func different<Found>(_ path: [String], _ object: (Leaf?) throws -> Found?) -> Found? {
    for form in 0..<MadeUpValue.formCount {
      if let found = try? object(Leaf(path: path, change: .second, form: form)) { return found }
    }
    return nil
  }

  /// The paths, with those first that have the property's name.
  static func likely<Root, Value>(_ keyPath: KeyPath<Root, Value>, among paths: [[String]]) -> [[String]] {
    // Of an optional chain, without what makes it one.
    let name = "\(keyPath)".split { ".?".contains($0) }.last.map(String.init) ?? ""
    return paths.filter { $0.contains(name) } + paths.filter { !$0.contains(name) }
  }

  /// Whether the field at a path is to be left out.
  func isAbsent(_ path: [String]) -> Bool { chosen.map { $0.change == .absent && $0.path == path } ?? false }

  /// The key that leads from a path to the chosen one; nil where none does.
  func keyOnWay(from path: [String]) -> String? {
    guard let chosen, chosen.path.count > path.count, chosen.path.starts(with: path) else { return nil }
    return chosen.path[path.count]
  }

  /// Whether a nil stands at a path.
  func isNull(_ path: [String]) -> Bool { chosen.map { $0.change == .null && $0.path == path } ?? false }

  /// In place of every key of what takes any: a number as well, for keys that are one.
  static let anyKey = "1"

  /// How many elements an array at a path is to have; nil where that is not told.
  func elementCount(_ path: [String]) -> Int? {
    guard let chosen, chosen.path == path, case .elementCount(let count) = chosen.change else { return nil }
    return count
  }

  /// How deep values are made up: an optional object of the same type stays nil somewhere.
  static let maximumDepth = 4

  // MARK: - Guessing

  /// A value of a type that decodes itself, from what it takes.
  ///
  /// - Parameter read: decodes it from a guess.
  /// - Throws: what it throws where it takes none.
  func guess<T>(_ type: T.Type, _ read: (ProbeGuess) throws -> T) throws -> T {
    if type is any OpaqueFields.Type { throw Refuses() }
    let address = TypeAddress(type)
    let openCount = openCounts[address] ?? 0
    if openCount >= FieldProbe.maximumOpenCount { throw NestsTooDeep() }
    if experience.refusing.contains(address) { throw Refuses() }
    let askedOutside = asked
    asked = []
    openCounts[address] = openCount + 1
    defer {
      openCounts[address] = openCount
      asked = askedOutside
    }
    readCount += 1
    do { return try read(experience.guess(for: address, in: openCount)) } catch {
      if error is UsualRefusal { throw error }
      var nestsTooDeep = error is NestsTooDeep
      for guess in ProbeGuess.all(asked) where readCount < FieldProbe.maximumReadCount {
        do {
          let value = try read(guess)
          if chosen == nil { experience.note(guess, for: address, in: openCount, nests: nestsTooDeep) }
          return value
        } catch { nestsTooDeep = nestsTooDeep || error is NestsTooDeep }
      }
      // Further out it may take what it refuses here.
      if nestsTooDeep { throw NestsTooDeep() }
      // Where something is different it says nothing of other places.
      if chosen == nil { experience.refusing.insert(address) }
      throw error
    }
  }

  /// Notes that the type that is being read depends on a guess.
  func note(_ matter: ProbeGuess.Matter) { asked.formUnion(matter) }

  /// That values of one type stand in each other, or values of all types, as often as they are made up.
  struct NestsTooDeep: Error {}
  /// That no objects are to be made up now, or none of the type.
  private struct IsNotAllowed: Error {}
  /// That a type takes no guess.
  private struct Refuses: Error {}

  /// How often a type is read inside of itself: an array in it is empty at last, and an optional nil.
  private static let maximumOpenCount = 2

  /// Notes that a key was asked for.
  func noteKey(_ path: [String]) { made.asked.insert(path) }

  /// Notes that an optional is nil because its type refused what it found.
  func noteRefusal(_ path: [String]) { made.refused.insert(path) }

  /// Notes what takes any key.
  func noteDictionary(_ path: [String]) { made.dictionaries.insert(path) }

  /// Notes where one of several keys stands.
  func noteCases(_ path: [String]) { made.cases.insert(path) }

  /// Notes as what an array is read.
  func noteArray(_ path: [String], _ form: CollectionForm?) {
    made.arrayForms[path, default: []].insert(form)
    noteElements(path, 0)
  }

  /// Notes how many elements of an array were read.
  func noteElements(_ path: [String], _ count: Int) {
    made.elementCounts[path] = max(made.elementCounts[path] ?? 0, count)
  }

  /// Notes of which kind the type of a value is.
  func noteType(_ type: Any.Type, _ path: [String]) {
    let facts = TypeFacts.of(type).object
    if facts.kind == .reference || facts.kind == .interned { made.objects.insert(path) }
    if TypeAddress(type).isEnum { made.enums.insert(path) }
    if let evolution = facts.evolution { made.evolving[path] = evolution.version }
  }

  /// Notes what is no scalar.
  func noteContainer(_ path: [String]) {
    if made.containers.last != path { made.containers.append(path) }
  }

  /// How many values are read, lest types in types that refuse everything take forever.
  private static let maximumReadCount = 2000

  // MARK: - Scalars

  /// A value of a type that is no container, which is noted; nil where the type decodes itself.
  func scalar<T: Decodable>(_ type: T.Type, _ decoder: ProbeDecoder) throws -> T? {
    let path = decoder.path
    let isChosen = chosen?.path == path
    let change = isChosen ? chosen?.change ?? .none : .none
    let isSecond = isChosen && change == .second || isSecondAmongOthers(path)
    if change == .null {
      let nothing: Any? = nil
      if type is any OptionalIdentifier.Type { return nothing as? T }
      // Its own code may read it, and finds it there.
      if MadeUpValue.of(type, isSecond: false) == nil { return nil }
      throw Refuses()
    }
    let isEnum = FieldComparability.isPlainEnum(type)
    if isEnum { self.made.caseCounts[path] = TypeAddress(type).plainCaseCount }
    if change == .unknownCase {
      // Its own code reads what follows.
      if isEnum { return nil }
      if let unusual = MadeUpValue.unusual(type) as? T { return unusual }
    }
    let made: Any? =
      switch change {
      case .plainCase(let number): TypeAddress(type).plainCase(number, of: type)
      case .variant(let number): MadeUpValue.variant(number, of: type, form: decoder.guess.form)
      case .empty(let number):
        MadeUpValue.empty(number, of: type) ?? value(type, decoder, isSecond: false, isAlone: false)
      default: value(type, decoder, isSecond: isSecond, isAlone: change == .second)
      }
    // Most types have no variants, and are not to be read as what they are in other formats.
    if case .variant = change, made == nil, MadeUpValue.of(type, isSecond: false) != nil { throw Refuses() }
    // Nil as it stands is a value of every optional type.
    guard let made, let value = made as? T else { return nil }
    note(.values)
    if let value = value as? any Encodable, let field = try? GraphEncoder.fieldValue(of: value) {
      self.made.note(path, field, made)
    } else if let count = TypeAddress(type).plainCaseCount {
      noteContainer(path)
      self.made.keyedCaseCounts[path] = count
    }
    return value
  }

  /// Whether the second value is read at a path where it is in more than one place.
  private func isSecondAmongOthers(_ path: [String]) -> Bool {
    switch chosen?.change {
    case .allOthers: !path.starts(with: chosen?.path ?? [])
    case .all: true
    default: false
    }
  }

  /// What stands in the store, in place of a value of which its object makes something else.
  func converted(_ sample: FieldSample, _ path: [String]) -> RecordValue {
    made.hasConverted = true
    return (isSecondAmongOthers(path) ? sample.second ?? sample.first : sample.first) ?? .null
  }

  /// - Parameter isAlone: whether it is the one that differs.
  private func value(_ type: Any.Type, _ decoder: ProbeDecoder, isSecond: Bool, isAlone: Bool) -> Any? {
    let (sample, form) = (decoder.sample, chosen?.form ?? 0)
    // The first form of a difference is one between objects that are there, if there is one.
    let isStored = !isSecond || (form == 0 ? sample.first != sample.second : form == 1 && !isAlone)
    if isStored, let stored = isSecond ? sample.second : sample.first, let value = stored.scalar(as: type) {
      return value
    }
    let takesForm = isAlone || isSecond && form > 0 && !(type is String.Type)
    return MadeUpValue.of(type, isSecond: isSecond, form: takesForm ? form : decoder.guess.form)
  }

  /// Whether a raw value that no case has is to be read at a path, or below.
  func hasUnknownCase(under path: [String]) -> Bool {
    chosen.map { $0.change == .unknownCase && $0.path.starts(with: path) } ?? false
  }

  /// That an enum refused a raw value with the words that all enums have which leave reading to the standard library: it reads
  /// no other raw values than those of its cases.
  ///
  /// With words of its own, an enum may read older spellings beside them.
  struct UsualRefusal: Error {}

  /// Whether an error says so.
  ///
  /// - Important: the words are those of the default `init(from:)` of `RawRepresentable`. Were they to change, all enums would be
  ///   asked as objects, which is slower and as right.
  func isUsualRefusal(_ error: any Error, of type: Any.Type, _ path: [String]) -> Bool {
    guard let chosen, chosen.change == .unknownCase, chosen.path == path,
      case DecodingError.dataCorrupted(let context) = error, let type = type as? any RawRepresentable.Type
    else { return false }
    return context.debugDescription.hasPrefix(FieldProbe.usualWords(of: type))
  }

  private static func usualWords<T: RawRepresentable>(of type: T.Type) -> String {
    "Cannot initialize \(T.self) from invalid \(T.RawValue.self) value "
  }
}
