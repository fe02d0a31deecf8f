/// Finds out which stored field a property is read from, by decoding made-up objects: one with certain values, then for each
/// field one in which this field alone is different, and one in which all others are. A property that has the field's value in
/// all of them is read from this field.
///
/// The name of a key path does not suffice: coding keys rename properties, and Swift does not tell the names of computed
/// properties and of properties of classes.
final class FieldProbe {
  /// A scalar that `init(from:)` reads.
  struct Leaf: Equatable {
    var path: [String]
    /// The value that is read in place of the first one when the leaf is chosen.
    var change: Change
    /// Which form the second value has; where all others are second ones, those of them that are no text.
    var form = 0
    /// The case that an enum at another path has, or a truth value there: 1 is true.
    var enumCase: EnumCase?

    struct EnumCase: Equatable {
      let path: [String]
      let number: Int
    }

    enum Change: Equatable {
      case none, second, absent
      /// A nil that was encoded as such.
      case null
      /// The array at the path has so many elements, or the dictionary no entry.
      case elementCount(Int)
      /// The second value is read in all leaves that are not at the path or below, or in all there are.
      case allOthers, all
      /// A raw value that no case of an enum has.
      case unknownCase
      /// The case of that number of an enum.
      case plainCase(Int)
      /// A value that differs from the first in something that a comparison may ignore.
      case variant(Int)
      /// A value that often stands for nil; the first value if the type has none.
      case empty(Int)
    }
  }

  /// The made-up scalars.
  struct Made {
    /// The paths of all keys that were asked for, and of elements.
    fileprivate(set) var asked: Set<[String]> = []
    /// The paths of optionals that are nil because their types refused the values.
    fileprivate(set) var refused: Set<[String]> = []
    /// Their paths, in the order in which they are read.
    private(set) var paths: [[String]] = []
    /// The paths of what is no scalar, in the order in which they are read.
    fileprivate(set) var containers: [[String]] = []
    /// How many cases the enums without payload have that have raw values.
    fileprivate(set) var caseCounts: [[String]: Int] = [:]
    /// How many cases the enums have that have no raw values, and are written as a key.
    fileprivate(set) var keyedCaseCounts: [[String]: Int] = [:]
    /// Where truth values are.
    fileprivate(set) var truthValues: Set<[String]> = []
    /// The paths of values that accept any key, as dictionaries do.
    fileprivate(set) var dictionaries: Set<[String]> = []
    /// Whether there are values of which their objects make something else. Their paths are not among these.
    fileprivate(set) var hasConverted = false
    /// How many elements of the arrays at the paths were read.
    fileprivate(set) var elementCounts: [[String]: Int] = [:]
    /// Which collections of the library they are read as; nil for arrays that other types read.
    fileprivate var arrayForms: [[String]: Set<CollectionForm?>] = [:]
    /// The paths of objects that have records of their own, and stand in others as references.
    fileprivate(set) var objects: Set<[String]> = []
    /// The paths of values of enums, which have other keys in other cases.
    fileprivate(set) var enums: Set<[String]> = []
    /// The paths of values whose types asked which keys are there: enums, and types that also read other keys than their own.
    fileprivate(set) var cases: Set<[String]> = []
    /// The types of the keys that were asked for by, at the paths of maps.
    fileprivate var keyTypes: [[String]: [any CodingKey.Type]] = [:]
    /// The paths inside of which there may be values in an older form of their type, with the type's version.
    fileprivate(set) var evolving: [[String]: Int] = [:]
    private var values: [[String]: FieldValue] = [:]

    private var hashables: [[String]: any Hashable] = [:]

    subscript(path: [String]) -> FieldValue? { values[path] }

    /// Which collection of the library an array is read as; nil where it is read as something else, or as several things.
    func arrayForm(_ path: [String]) -> CollectionForm? {
      guard let forms = arrayForms[path], forms.count == 1 else { return nil }
      return forms.first ?? nil
    }

    /// The versions of the types that evolve on the way to a field, its own included. That of the object itself is not among
    /// them.
    func evolvingVersions(on path: [String]) -> [Int] {
      evolving.filter { path.starts(with: $0.key) }.map(\.value)
    }

    /// Whether a map on the way to a field has keys that its type knows and did not read: by its own code it may read them in other
    /// objects, and a property that is read from the field have its value there.
    func hasUnreadKeys(on path: [String]) -> Bool {
      path.indices.contains { count in
        let place = Array(path.prefix(count))
        // Of an enum the keys of one case are read.
        if enums.contains(place) || cases.contains(place) { return false }
        return keyTypes[place, default: []].contains { type in
          (0..<(TypeAddress(type).plainCaseCount ?? 0)).contains { number in
            guard let key = TypeAddress(type).plainCase(number, of: type) as? any CodingKey else {
              return false
            }
            return !asked.contains(place + [key.stringValue])
          }
        }
      }
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

    /// A scalar that was made up.
    func hashable(_ path: [String]) -> (any Hashable)? { hashables[path] }

    fileprivate mutating func note(_ path: [String], _ value: FieldValue, _ made: Any) {
      hashables[path] = made as? any Hashable
      if values.updateValue(value, forKey: path) == nil { paths.append(path) }
    }
  }

  private var made = Made()
  private let chosen: Leaf?
  /// Whether values that accept any key have one.
  let fillsDictionaries: Bool
  private var experience: ProbeExperience
  /// The keys that the type which is being read has asked for.
  private var asked: ProbeGuess.Matter = []
  /// How many values of each type are being read inside each other.
  private var openCounts: [TypeAddress: Int] = [:]
  private var readCount = 0

  private init(_ chosen: Leaf?, fillsDictionaries: Bool, _ experience: ProbeExperience) {
    (self.chosen, self.fillsDictionaries, self.experience) = (chosen, fillsDictionaries, experience)
  }

  /// Decodes an object of made-up values.
  ///
  /// - Parameters:
  ///   - chosen: the field that is different.
  ///   - fillsDictionaries: whether dictionaries with keys of text, and other values that accept any key, have an entry.
  /// - Throws: what `init(from:)` throws, for instance because it refuses these values.
  static func object<T: Decodable>(
    _ type: T.Type, _ chosen: Leaf? = nil, fillsDictionaries: Bool = false
  ) throws -> (T, Made) {
    // Inside of others such types of Foundation have values of their own (`MadeUpValue`).
    guard ProbeContext.current.isAllowed, !(type is any OpaqueFields.Type),
      !(type is any CheckedFoundationType.Type)
    else { throw IsNotAllowed() }
    let key = ProbeExperience.Key(type, fillsDictionaries: fillsDictionaries)
    let experience = ProbeExperience.of(key)
    if let refusal = experience.refusal { throw refusal }
    let probe = FieldProbe(chosen, fillsDictionaries: fillsDictionaries, experience)
    func read(_ guess: ProbeGuess) throws -> T {
      try T(from: ProbeDecoder(probe: probe, of: type, guess: guess, sample: experience.sample))
    }
    if chosen != nil { return (try read(experience.guess(for: key.type)), probe.made) }
    // What the first object accepts is known to all that follow.
    defer { ProbeExperience.note(probe.experience, of: key) }
    do { return (try probe.guess(type, read), probe.made) } catch {
      probe.experience.refusal = error
      throw error
    }
  }

  /// The least number of forms in which a difference is tried.
  static func formCount(of change: Leaf.Change) -> Int {
    switch change {
    case .second: 4
    // Values near to each other are among them.
    case .allOthers, .all: 3
    default: 1
    }
  }

  /// The result for the first of the second values at a path that is accepted; nil where none is.
  static func different<Found>(_ path: [String], _ object: (Leaf?) throws -> Found?) -> Found? {
    for form in 0..<MadeUpValue.formCount {
      if let found = try? object(Leaf(path: path, change: .second, form: form)) { return found }
    }
    return nil
  }

  /// The paths, with those first that have the property's name.
  static func likely<Root, Value>(_ keyPath: KeyPath<Root, Value>, among paths: [[String]]) -> [[String]] {
    // An optional chain counts without its question marks.
    let name = "\(keyPath)".split { ".?".contains($0) }.last.map(String.init) ?? ""
    return paths.filter { $0.contains(name) } + paths.filter { !$0.contains(name) }
  }

  /// Whether the field at a path is to be left out.
  func isAbsent(_ path: [String]) -> Bool { chosen.map { $0.change == .absent && $0.path == path } ?? false }

  /// The key that leads from a path towards the chosen one; nil where none does.
  func keyOnWay(from path: [String]) -> String? {
    guard let chosen, chosen.path.count > path.count, chosen.path.starts(with: path) else { return nil }
    return chosen.path[path.count]
  }

  /// Whether a nil stands at a path.
  func isNull(_ path: [String]) -> Bool { chosen.map { $0.change == .null && $0.path == path } ?? false }

  /// Stands for every key of a value that accepts any key. It is a number, too, for keys that are numbers.
  static let anyKey = "1"

  /// How many elements an array at a path has to have; nil where that is open.
  func elementCount(_ path: [String]) -> Int? {
    guard let chosen, chosen.path == path, case .elementCount(let count) = chosen.change else { return nil }
    return count
  }

  /// How deep values are made up: an optional object of the same type has to be nil somewhere.
  static let maximumDepth = 4

  // MARK: - Guessing

  /// A value of a type that decodes itself, from a guess that it accepts.
  ///
  /// - Parameter read: decodes it from a guess.
  /// - Throws: what it throws where it accepts none.
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
      // Further out it may accept what it refuses here.
      if nestsTooDeep { throw NestsTooDeep() }
      // If something is chosen to be different, this tells nothing of other places.
      if chosen == nil { experience.refusing.insert(address) }
      throw error
    }
  }

  /// Notes that the type that is being read depends on a guess.
  func note(_ matter: ProbeGuess.Matter) { asked.formUnion(matter) }

  /// Thrown where values of one type, or of all types, stand in each other as deep as they are made up.
  struct NestsTooDeep: Error {}
  /// Thrown where no objects, or none of the type, may be made up now.
  private struct IsNotAllowed: Error {}
  /// Thrown where a type accepts no guess.
  private struct Refuses: Error {}

  /// How often a type is read inside of itself: an array in it is empty at last, and an optional nil.
  private static let maximumOpenCount = 2

  /// Notes that a key was asked for.
  func noteKey(_ path: [String]) { made.asked.insert(path) }

  /// Notes by which keys a map is read.
  func noteKeys(_ type: any CodingKey.Type, _ path: [String]) {
    if made.keyTypes[path]?.contains(where: { $0 == type }) ?? false { return }
    made.keyTypes[path, default: []].append(type)
  }

  /// Notes that an optional is nil because its type refused what it found.
  func noteRefusal(_ path: [String]) { made.refused.insert(path) }

  /// Notes a value that accepts any key.
  func noteDictionary(_ path: [String]) { made.dictionaries.insert(path) }

  /// Notes where one of several keys stands.
  func noteCases(_ path: [String]) { made.cases.insert(path) }

  /// Notes which collection an array is read as.
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

  /// How many values are read at most, so that types inside types that refuse everything do not take forever.
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
      // Its own code may read the value, and finds it there.
      if MadeUpValue.of(type, isSecond: false) == nil { return nil }
      throw Refuses()
    }
    let isEnum = FieldComparability.isPlainEnum(type)
    if isEnum { self.made.caseCounts[path] = TypeAddress(type).plainCaseCount }
    if type is Bool.Type { self.made.truthValues.insert(path) }
    if change == .unknownCase {
      // Its own code reads what follows.
      if isEnum { return nil }
      // Nothing, cast to an optional type, would be a nil of that type.
      if let made = MadeUpValue.unusual(type), let unusual = made as? T { return unusual }
    }
    let enumCase = chosen?.enumCase.flatMap { $0.path == path ? Leaf.Change.plainCase($0.number) : nil }
    let made: Any? =
      switch enumCase ?? change {
      case .plainCase(let number):
        type is Bool.Type ? number == 1 : TypeAddress(type).plainCase(number, of: type)
      case .variant(let number): MadeUpValue.variant(number, of: type, form: decoder.guess.form)
      case .empty(let number):
        MadeUpValue.empty(number, of: type) ?? value(type, decoder, isSecond: false, isAlone: false)
      default: value(type, decoder, isSecond: isSecond, isAlone: change == .second)
      }
    // Most types have no variants, and must not be read in the form that they have in other formats.
    if case .variant = change, made == nil, MadeUpValue.of(type, isSecond: false) != nil { throw Refuses() }
    // A nil is a value of every optional type.
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

  /// Whether the second value is read at a path, if it is read in more than one place.
  private func isSecondAmongOthers(_ path: [String]) -> Bool {
    switch chosen?.change {
    case .allOthers: !path.starts(with: chosen?.path ?? [])
    case .all: true
    default: false
    }
  }

  /// The value of a stored object, in place of one of which the type makes something else.
  func converted(_ sample: FieldSample, _ path: [String]) -> RecordValue {
    made.hasConverted = true
    return (isSecondAmongOthers(path) ? sample.second ?? sample.first : sample.first) ?? .null
  }

  /// - Parameter isAlone: whether it is the only value that differs.
  private func value(_ type: Any.Type, _ decoder: ProbeDecoder, isSecond: Bool, isAlone: Bool) -> Any? {
    let (sample, form) = (decoder.sample, chosen?.form ?? 0)
    // The first form of a difference is one between stored objects, if there is one.
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

  /// Notes that an enum refused a raw value with the message of the standard library's own `init(from:)`. Such an enum reads no
  /// other raw values than those of its cases.
  ///
  /// An enum with a message of its own may also read older spellings.
  struct UsualRefusal: Error {}

  /// Whether an error has that message.
  ///
  /// - Important: the message is that of the default `init(from:)` of `RawRepresentable`. If it changed, objects would be asked
  ///   for all enums, which is slower but still right.
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
