#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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

    enum Change: Equatable {
      case none, second, absent
      /// The second value is read in all leaves that are not at the path or below, or in all there are.
      case allOthers, all
      /// A raw value that no case of an enum has.
      case unknownCase
      /// The case of that number of an enum.
      case plainCase(Int)
    }
  }

  /// The scalars that were made up.
  struct Made {
    /// Their paths, in the order in which they are read.
    private(set) var paths: [[String]] = []
    /// The paths of what is no scalar, in the order in which they are read.
    fileprivate(set) var containers: [[String]] = []
    /// How many cases the enums without payload have that have raw values.
    fileprivate(set) var caseCounts: [[String]: Int] = [:]
    private var values: [[String]: FieldValue] = [:]

    subscript(path: [String]) -> FieldValue? { values[path] }

    fileprivate mutating func note(_ path: [String], _ value: FieldValue) {
      if values.updateValue(value, forKey: path) == nil { paths.append(path) }
    }
  }

  private var made = Made()
  private let chosen: Leaf?
  /// What each type that refused the first guess took.
  private var guesses: [TypeAddress: Guess] = [:]
  /// Those that take none of the guesses.
  private var refusing: Set<TypeAddress> = []
  /// How many values of a type are being read, one in the other.
  private var openCounts: [TypeAddress: Int] = [:]
  private var readCount = 0

  private init(_ chosen: Leaf?) { self.chosen = chosen }

  /// Decodes an object of made-up values.
  ///
  /// - Parameter chosen: the field that is different.
  /// - Throws: what `init(from:)` throws, for instance because it refuses these values.
  static func object<T: Decodable>(_ type: T.Type, _ chosen: Leaf? = nil) throws -> (T, Made) {
    let probe = FieldProbe(chosen)
    let object = try T(from: ProbeDecoder(probe: probe, path: []))
    return (object, probe.made)
  }

  /// The paths, with those first that have the property's name.
  static func likely<Root, Value>(_ keyPath: KeyPath<Root, Value>, among paths: [[String]]) -> [[String]] {
    // Of an optional chain, without what makes it one.
    let name = "\(keyPath)".split { ".?".contains($0) }.last.map(String.init) ?? ""
    return paths.filter { $0.contains(name) } + paths.filter { !$0.contains(name) }
  }

  /// Whether the field at a path is to be left out.
  func isAbsent(_ path: [String]) -> Bool { chosen.map { $0.change == .absent && $0.path == path } ?? false }

  /// How deep values are made up: an optional object of the same type stays nil somewhere.
  static let maximumDepth = 4

  /// What a type finds in the containers that it opens.
  struct Guess {
    /// How many elements an array has: a range has two, a vector as many as dimensions.
    var elementCount = 1
    /// Which case an enum is that tells it by the only key there is.
    var caseIndex = 0

    /// In the order in which they are tried. An array is empty where no element can be made up.
    fileprivate static let all =
      (1..<8).map { Guess(caseIndex: $0) } + [2, 3, 4, 6, 8, 9, 12, 16, 0].map { Guess(elementCount: $0) }
  }

  /// A value of a type that decodes itself, from what it takes.
  ///
  /// - Parameter read: decodes it from a guess.
  /// - Throws: what it throws where it takes none.
  func guess<T>(_ type: T.Type, _ read: (Guess) throws -> T) throws -> T {
    let address = TypeAddress(type)
    let openCount = openCounts[address] ?? 0
    if openCount >= FieldProbe.maximumOpenCount { throw NestsTooDeep() }
    if refusing.contains(address) { throw Refuses() }
    openCounts[address] = openCount + 1
    defer { openCounts[address] = openCount }
    readCount += 1
    do { return try read(guesses[address] ?? Guess()) } catch {
      if error is UsualRefusal { throw error }
      var nestsTooDeep = error is NestsTooDeep
      for guess in Guess.all where readCount < FieldProbe.maximumReadCount {
        do {
          let value = try read(guess)
          guesses[address] = guess
          return value
        } catch { nestsTooDeep = nestsTooDeep || error is NestsTooDeep }
      }
      // Further out it may take what it refuses here.
      if nestsTooDeep { throw NestsTooDeep() }
      refusing.insert(address)
      throw error
    }
  }

  /// That values of one type stand in each other, or values of all types, as often as they are made up.
  struct NestsTooDeep: Error {}
  /// That a type takes no guess.
  private struct Refuses: Error {}

  /// How often a type is read inside of itself: an array in it is empty at last, and an optional nil.
  private static let maximumOpenCount = 2

  /// Notes what is no scalar.
  func noteContainer(_ path: [String]) {
    if made.containers.last != path { made.containers.append(path) }
  }

  /// How many values are read, lest types in types that refuse everything take forever.
  private static let maximumReadCount = 2000

  /// A value of a type that is no container, which is noted; nil where the type decodes itself.
  func scalar<T: Decodable>(_ type: T.Type, _ path: [String]) throws -> T? {
    let isChosen = chosen?.path == path
    let change = isChosen ? chosen?.change ?? .none : .none
    let isSecond =
      switch chosen?.change {
      case .second: isChosen
      case .allOthers: !path.starts(with: chosen?.path ?? [])
      case .all: true
      default: false
      }
    let isEnum = FieldComparability.isPlainEnum(type)
    if isEnum { self.made.caseCounts[path] = TypeAddress(type).plainCaseCount }
    if change == .unknownCase {
      // Its own code reads what follows.
      if isEnum { return nil }
      if let type = type as? any FixedWidthInteger.Type { return FieldProbe.unusual(type) as? T }
    }
    let made: Any? =
      if case .plainCase(let number) = change {
        TypeAddress(type).plainCase(number, of: type)
      } else {
        FieldProbe.value(type, isSecond: isSecond)
      }
    guard let value = made as? T else { return nil }
    if let value = value as? any Encodable, let field = try? GraphEncoder.fieldValue(of: value) {
      self.made.note(path, field)
    }
    return value
  }

  private static func value(_ type: Any.Type, isSecond: Bool) -> Any? {
    func pick<T>(_ first: T, _ second: T) -> T { isSecond ? second : first }
    switch type {
    case is Bool.Type: return pick(false, true)
    // As a name might be written, so that who changes case, trims or composes gives himself away.
    case is String.Type: return pick("Probe A", " probe\u{65}\u{301} B ")
    case is Double.Type: return pick(1 as Double, 2.5)
    case is Float.Type: return pick(Float(1), Float(2.5))
    case let type as any FixedWidthInteger.Type: return integer(type, isSecond: isSecond)
    case is Date.Type:
      return Date(timeIntervalSinceReferenceDate: pick(86_400, 86_401.25))
    case is UUID.Type: return UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, pick(1, 2)))
    case is Data.Type: return pick(Data([1]), Data([2, 3]))
    case is URL.Type: return URL(string: pick("probe:a", "probe:b"))
    case is Decimal.Type: return pick(Decimal(1), Decimal(2.5))
    // The first one traps where it reads a scheme that is none. The others refuse names that nothing has.
    case is URLComponents.Type: return URLComponents(string: pick("probe:a", "probe:b"))
    case is TimeZone.Type: return TimeZone(secondsFromGMT: pick(0, 3600))
    case is Calendar.Type: return Calendar(identifier: pick(.gregorian, .iso8601))
    case let type as any ProbeValue.Type: return type.probe(isSecond: isSecond)
    default: return TypeAddress(type).plainCase(isSecond ? 1 : 0, of: type)
    }
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

  private static func unusual<N: FixedWidthInteger>(_ type: N.Type) -> Any { N.max - 12 }

  private static func integer<N: FixedWidthInteger>(_ type: N.Type, isSecond: Bool) -> Any {
    // So much more that a version, or a number of something, asks for another way.
    isSecond ? 100 as N : 1 as N
  }
}

/// A type of this module of which the probe makes values.
protocol ProbeValue {
  static func probe(isSecond: Bool) -> Self
}

// MARK: - The decoder

private struct ProbeDecoder: Decoder {
  let probe: FieldProbe
  let path: [String]
  /// How many values this one is in, which may be one after the other without a key.
  var depth = 0
  var guess = FieldProbe.Guess()
  var codingPath: [any CodingKey] { path.map { PathKey(stringValue: $0) } }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(ProbeKeyedContainer<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { ProbeUnkeyedContainer(decoder: self) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ProbeSingleValueContainer(decoder: self)
  }

  func inner(_ key: String) -> ProbeDecoder {
    ProbeDecoder(probe: probe, path: path + [key], depth: depth, guess: guess)
  }

  func read<T: Decodable>(_ type: T.Type) throws -> T {
    if let scalar = try probe.scalar(type, path) { return scalar }
    guard depth < FieldProbe.maximumDepth * 4 else { throw FieldProbe.NestsTooDeep() }
    if path.last != FieldPath.element { probe.noteContainer(path) }
    return try probe.guess(type) { guess in
      do { return try T(from: ProbeDecoder(probe: probe, path: path, depth: depth + 1, guess: guess)) } catch
      {
        throw probe.isUsualRefusal(error, of: T.self, path) ? FieldProbe.UsualRefusal() : error
      }
    }
  }

  func mismatch(_ reason: String) -> any Error {
    DecodingError.dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
  }
}

private struct ProbeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ProbeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }
  /// Of an enum with payloads, that of one case. Nothing is known of those of a dictionary.
  var allKeys: [Key] {
    guard let count = TypeAddress(Key.self).plainCaseCount,
      let key = TypeAddress(Key.self).plainCase(decoder.guess.caseIndex % count, of: Key.self) as? Key
    else { return [] }
    return [key]
  }

  private func inner(_ key: Key) -> ProbeDecoder { decoder.inner(key.stringValue) }

  private func isAbsent(_ key: Key) -> Bool {
    decoder.path.count >= FieldProbe.maximumDepth || decoder.probe.isAbsent(decoder.path + [key.stringValue])
  }

  func contains(_ key: Key) -> Bool { !isAbsent(key) }
  func decodeNil(forKey key: Key) throws -> Bool { isAbsent(key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    if decoder.probe.isAbsent(decoder.path + [key.stringValue]) {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "It was left out."))
    }
    return try inner(key).read(type)
  }

  /// An optional that cannot be made up is nil.
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    if isAbsent(key) { return nil }
    if decoder.probe.hasUnknownCase(under: decoder.path + [key.stringValue]) {
      return try inner(key).read(type)
    }
    return try? inner(key).read(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try inner(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try inner(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoder.inner(PathKey.super.stringValue) }
  func superDecoder(forKey key: Key) throws -> any Decoder { inner(key) }
}

/// An array of one element, so that it can be seen which one it is, unless its type takes none such.
private struct ProbeUnkeyedContainer: UnkeyedDecodingContainer {
  let decoder: ProbeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { decoder.guess.elementCount }
  var isAtEnd: Bool { currentIndex >= decoder.guess.elementCount }
  var currentIndex = 0

  /// Stands for every element in the path of a field.
  private mutating func element() throws -> ProbeDecoder {
    if isAtEnd { throw decoder.mismatch("there are no more elements") }
    currentIndex += 1
    return decoder.inner(FieldPath.element)
  }

  mutating func decodeNil() throws -> Bool { false }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try element().read(type) }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try element().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try element().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try element() }
}

private struct ProbeSingleValueContainer: SingleValueDecodingContainer {
  let decoder: ProbeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { false }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.read(type) }
}
