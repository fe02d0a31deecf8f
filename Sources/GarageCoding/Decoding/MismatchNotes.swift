/// The texts and paths of the last errors about values of other types than expected.
///
/// Code that tries one type after another until one fits gets such an error for each that does not: about one place, or its
/// neighbour, and mostly about the same types. To put path and text together anew takes far longer than to read the value.
struct MismatchNotes {
  /// Names a field or element of an open frame, unlike any other.
  struct Place: Equatable {
    /// The frame's serial. None is given twice.
    var serial: UInt64
    var current: Int
    var currentKey: Int
    var isMap: Bool
    /// What names the fields.
    var keys: KeyTablePointer?
  }

  private struct Text {
    var type: TypeAddress
    var tag: UInt8
    var text: String
  }

  private static let lineCount = 128
  /// A direct-mapped cache.
  private var texts: [Text?] = []

  private struct Note {
    var place: Place
    var path: [any CodingKey]
  }

  private static let noteCount = 16
  /// The last place in a frame of each depth. So the frames around a value keep theirs while types are tried inside it.
  private var notes: [Note?] = []

  /// The text of the error about a value with the first byte `tag` that is none of that type.
  mutating func text(of type: Any.Type, _ tag: UInt8, _ make: () -> String) -> String {
    if texts.isEmpty { texts = Array(repeating: nil, count: Self.lineCount) }
    let address = TypeAddress(type)
    let tag = Self.kind(of: tag)
    let line = (address.line(of: Self.lineCount) ^ Int(tag) &* 5) & (Self.lineCount - 1)
    if let known = texts[line], known.type == address, known.tag == tag { return known.text }
    let text = make()
    texts[line] = Text(type: address, tag: tag, text: text)
    return text
  }

  /// The first of the tags that begin values of one kind, and tell their lengths.
  private static func kind(of tag: UInt8) -> UInt8 {
    switch tag {
    case BodyTag.smallReference...: BodyTag.smallReference
    case BodyTag.shortString...: BodyTag.shortString
    case BodyTag.smallInteger...: BodyTag.smallInteger
    default: tag
    }
  }

  /// The path to a place, if it was the last one noted in frames of that depth.
  func path(to place: Place, depth: Int32) -> [any CodingKey]? {
    if let note = notes.isEmpty ? nil : notes[Self.line(of: depth)], note.place == place { return note.path }
    return nil
  }

  /// Notes another place in a frame of which a place was noted before, and returns the path to it; nil where none was.
  ///
  /// The keys before the last one stay where they are, unless an error is kept that has them.
  mutating func path(to place: Place, depth: Int32, endingWith key: any CodingKey) -> [any CodingKey]? {
    let line = Self.line(of: depth)
    guard !notes.isEmpty, notes[line]?.place.serial == place.serial else { return nil }
    notes[line]?.place = place
    if let last = notes[line]?.path.indices.last { notes[line]?.path[last] = key }
    return notes[line]?.path
  }

  /// Notes the first place in a frame.
  mutating func note(_ place: Place, depth: Int32, _ path: [any CodingKey]) {
    if notes.isEmpty { notes = Array(repeating: nil, count: Self.noteCount) }
    notes[Self.line(of: depth)] = Note(place: place, path: path)
  }

  private static func line(of depth: Int32) -> Int { Int(truncatingIfNeeded: depth) & (noteCount - 1) }

  /// Forgets the paths, whose keys are users' values.
  mutating func forgetPaths() {
    if !notes.isEmpty { notes = [] }
  }
}

extension DecoderPointer {
  /// The error for the value at the cursor, which is none of that type.
  @inline(never)
  func mismatch(_ type: Any.Type) -> any Error {
    mismatch(type, at: cursor, end: frame.end, pathOfFailure(Step(framePlace)))
  }

  /// The error for the current frame's value, which is no container of that type.
  @inline(never)
  func mismatchOfFrame(_ type: Any.Type) -> any Error {
    // Not to `end`, which may be that of an array's content that was written out elsewhere.
    mismatch(type, at: frame.start, end: frame.valueEnd, pathOfFailure(nil))
  }

  /// The error for a key for which the current frame's map has no value.
  @inline(never)
  func keyNotFound<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer) -> any Error {
    let text =
      keys.isByte ? keys.text(ofMissing: discriminator(of: key)) { notFound(key) } : notFound(key)
    return DecodingError.keyNotFound(
      key, DecodingError.Context(codingPath: pathOfFailure(nil), debugDescription: text))
  }

  private func notFound(_ key: some CodingKey) -> String {
    """
    The record has no value for "\(key.stringValue)". If the property was added after the object was \
    parked, make it an optional, conform its type to Evolving and give it a prototype, or write an \
    init(from:) that decodes it with a default. If it was renamed, name the old key in propertyAliases.
    """
  }

  private func mismatch(_ type: Any.Type, at offset: Int, end: Int, _ path: [any CodingKey]) -> any Error {
    let tag = offset < end ? base.byte(at: offset) : BodyTag.absent
    let isMissing = tag == BodyTag.null || tag == BodyTag.absent
    let text = core.mismatches.text(of: type, tag) {
      let name = types.facts(of: type).0.with { $0.name }
      return isMissing
        ? "A \(name) was expected, but null was found."
        : "A \(name) was expected, but \(describe(tag)) was found."
    }
    let context = DecodingError.Context(codingPath: path, debugDescription: text)
    return isMissing ? DecodingError.valueNotFound(type, context) : DecodingError.typeMismatch(type, context)
  }

  /// The path to the current frame and, where it is given, a step further.
  private func pathOfFailure(_ last: Step?) -> [any CodingKey] {
    guard let step = lastKey(last, framePlace) else { return [] }
    let frame = step.frame
    // A record's own frame has no serial.
    if frame.pointee.serial == 0 { return path(to: frame, step) }
    let (place, depth) = (MismatchNotes.Place(step), frame.pointee.depth)
    if let known = core.mismatches.path(to: place, depth: depth) { return known }
    guard let key = codingKey(of: step) else { return path(to: frame, step) }
    if let path = core.mismatches.path(to: place, depth: depth, endingWith: key) { return path }
    var path = pathToFrame(frame)
    path.append(key)
    core.mismatches.note(place, depth: depth, path)
    return path
  }

  /// The path to a frame, with room for one more step. Mostly it is the path that was noted for a place in the frame around it.
  private func pathToFrame(_ frame: UnsafeMutablePointer<DecodingFrame>) -> [any CodingKey] {
    guard let step = lastKey(nil, frame),
      let known = core.mismatches.path(to: MismatchNotes.Place(step), depth: step.frame.pointee.depth)
    else { return path(to: frame) }
    var path: [any CodingKey] = []
    path.reserveCapacity(known.count + 1)
    path += known
    return path
  }

  /// The last step that has a key, on the path to a frame or to a step inside it. A value in a single value container has no
  /// key of its own, so it has the path of the value around it.
  private func lastKey(_ last: Step?, _ frame: UnsafeMutablePointer<DecodingFrame>) -> Step? {
    var place = frame
    var step = last
    while step.map({ !$0.isKey }) ?? true {
      guard let outer = place.pointee.outer else { return nil }
      step =
        place.pointee.isNested ? Step(outer, place.pointee.step, place.pointee.stepKey) : Step(outer)
      place = outer
    }
    return step
  }
}

extension MismatchNotes.Place {
  init(_ step: DecoderPointer.Step) {
    let frame = step.frame
    self.init(
      serial: frame.pointee.serial, current: step.current, currentKey: step.currentKey,
      isMap: frame.pointee.kind == .map, keys: frame.pointee.keys)
  }
}
