/// A decoder with made-up content, for a value of any type.
struct ProbeDecoder: Decoder {
  let probe: FieldProbe
  private(set) var path: [String] = []
  /// How many values are around this one. There may be several without a key between them.
  private var depth = 0
  private(set) var guess: ProbeGuess
  /// The stored values at this place.
  private(set) var sample: FieldSample
  /// The values of which the innermost type that decodes itself makes something else.
  private var survey: TypeSurvey?
  /// Which collection its value would read an array as.
  private var arrayForm: CollectionForm?
  /// How many keys lead to its value.
  private var outerCount = 0
  var codingPath: [any CodingKey] { path.map { PathKey(stringValue: $0) } }
  var userInfo: [CodingUserInfoKey: Any] { ProbeContext.current.userInfo }

  /// For an object.
  init(probe: FieldProbe, of type: Any.Type, guess: ProbeGuess, sample: FieldSample) {
    (self.probe, self.guess, self.sample) = (probe, guess, sample)
    survey = TypeSurvey.of(type)
    arrayForm = CollectionForm(of: type)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if probe.isNull(path) { throw mismatch("It is nil.") }
    probe.noteKeys(type, path)
    return KeyedDecodingContainer(ProbeKeyedContainer<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    if probe.isNull(path) { throw mismatch("It is nil.") }
    if let stored = converted { return try StoredDecoder.elements(probe.converted(stored, path)) }
    probe.noteArray(path, path.count == outerCount ? arrayForm : nil)
    return ProbeUnkeyedContainer(decoder: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ProbeSingleValueContainer(decoder: self)
  }

  fileprivate func inner(_ key: String) -> ProbeDecoder { inner(key, sample.value(key)) }

  fileprivate func element(_ index: Int) -> ProbeDecoder { inner(FieldPath.element, sample.element(index)) }

  private func inner(_ key: String, _ sample: FieldSample) -> ProbeDecoder {
    var inner = self
    inner.path.append(key)
    inner.sample = sample
    probe.noteKey(inner.path)
    return inner
  }

  /// For a value that decodes itself here.
  private func inner(_ type: Any.Type, _ guess: ProbeGuess) -> ProbeDecoder {
    var inner = self
    inner.depth += 1
    inner.guess = guess
    inner.survey = TypeSurvey.of(type)
    inner.arrayForm = CollectionForm(of: type)
    inner.outerCount = path.count
    return inner
  }

  /// The values that stored objects have here, if their type makes something else of them.
  private var converted: FieldSample? { survey?.converted(path.dropFirst(outerCount)) }

  /// Whether it is not known what a type makes of a value there, because no stored object has one.
  fileprivate func isAlwaysNil(_ path: [String]) -> Bool {
    survey?.converted(path.dropFirst(outerCount))?.first == .some(.null)
  }

  fileprivate func read<T: Decodable>(_ type: T.Type) throws -> T {
    probe.noteType(type, path)
    if let stored = converted { return try StoredDecoder.decode(type, probe.converted(stored, path)) }
    if let scalar = try probe.scalar(type, self) { return scalar }
    guard depth < FieldProbe.maximumDepth * 4 else { throw FieldProbe.NestsTooDeep() }
    if path.last != FieldPath.element { probe.noteContainer(path) }
    do {
      return try probe.guess(type) { guess in
        do { return try T(from: inner(type, guess)) } catch {
          throw probe.isUsualRefusal(error, of: T.self, path) ? FieldProbe.UsualRefusal() : error
        }
      }
    } catch {
      // An optional that cannot be made up is nil.
      let nothing: Any? = nil
      guard T.self is any OptionalIdentifier.Type, !probe.hasUnknownCase(under: path),
        let null = nothing as? T
      else { throw error }
      probe.noteRefusal(path)
      return null
    }
  }

  fileprivate func mismatch(_ reason: String) -> any Error {
    DecodingError.dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
  }
}

private struct ProbeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ProbeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }
  /// For an enum with payloads, the key of one case.
  var allKeys: [Key] {
    guard let count = TypeAddress(Key.self).plainCaseCount else {
      decoder.probe.noteDictionary(decoder.path)
      let isEmpty = !decoder.probe.fillsDictionaries || decoder.probe.elementCount(decoder.path) == 0
      return isEmpty ? [] : Key(stringValue: FieldProbe.anyKey).map { [$0] } ?? []
    }
    decoder.probe.noteCases(decoder.path)
    if let key = decoder.probe.keyOnWay(from: decoder.path).flatMap({ Key(stringValue: $0) }) { return [key] }
    if let stored = decoder.sample.first?.keys, !stored.isEmpty {
      return stored.compactMap { Key(stringValue: $0) }
    }
    decoder.probe.note(.cases)
    let key = TypeAddress(Key.self).plainCase(decoder.guess.caseIndex % count, of: Key.self) as? Key
    return key.map { [$0] } ?? []
  }

  private func inner(_ key: Key) -> ProbeDecoder { decoder.inner(key.stringValue) }

  private func isAbsent(_ key: Key) -> Bool {
    let path = decoder.path + [key.stringValue]
    decoder.probe.noteKey(path)
    return decoder.path.count >= FieldProbe.maximumDepth || decoder.probe.isAbsent(path)
      || decoder.isAlwaysNil(path)
  }

  func contains(_ key: Key) -> Bool { !isAbsent(key) }
  func decodeNil(forKey key: Key) throws -> Bool {
    isAbsent(key) || decoder.probe.isNull(decoder.path + [key.stringValue])
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try read(type, key) }

  // Without these methods the defaults would refuse the types as not supported.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try read(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try read(type, key) }

  private func read<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
    if decoder.probe.isAbsent(decoder.path + [key.stringValue]) {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "It was left out."))
    }
    return try inner(key).read(type)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    if try decodeNil(forKey: key) { return nil }
    if decoder.probe.hasUnknownCase(under: decoder.path + [key.stringValue]) {
      return try inner(key).read(type)
    }
    do { return try inner(key).read(type) } catch {
      decoder.probe.noteRefusal(decoder.path + [key.stringValue])
      return nil
    }
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

/// An array of one element, so that it can be seen which one it is, unless its type does not accept that.
private struct ProbeUnkeyedContainer: UnkeyedDecodingContainer {
  let decoder: ProbeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? {
    decoder.probe.note(.elements)
    return decoder.probe.elementCount(decoder.path) ?? decoder.guess.elementCount
  }
  var isAtEnd: Bool { currentIndex >= count ?? 0 }
  var currentIndex = 0

  /// Stands for every element in the path of a field.
  private mutating func element() throws -> ProbeDecoder {
    if isAtEnd { throw decoder.mismatch("there are no more elements") }
    defer { skip() }
    return decoder.element(currentIndex)
  }

  mutating func decodeNil() throws -> Bool {
    let isNull = !isAtEnd && decoder.probe.isNull(decoder.element(currentIndex).path)
    if isNull { skip() }
    return isNull
  }

  private mutating func skip() {
    currentIndex += 1
    decoder.probe.noteElements(decoder.path, currentIndex)
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try element().read(type) }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try element().read(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try element().read(type) }

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

  func decodeNil() -> Bool { decoder.probe.isNull(decoder.path) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.read(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try decoder.read(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.read(type) }
}
