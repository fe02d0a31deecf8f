/// What the last errors about values of other types than expected said.
///
/// Who tries one type after the other, until one fits, gets such an error for each that does not: about one place, or its
/// neighbour, and mostly of the same types. To put path and text together anew takes far longer than to read the value.
struct MismatchNotes {
  /// A field or element of an open frame, of which no other one has the same.
  struct Place: Equatable {
    /// That of the frame. None is given twice.
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
  private var place: Place?
  private var path: [any CodingKey] = []
  private struct FramePath {
    var serial: UInt64
    var path: [any CodingKey]
  }

  /// The paths to the frames met last: in a tree of maps and arrays one goes to and fro between a few.
  private var framePaths: [FramePath] = []
  private var nextFramePath = 0
  private static let framePathCount = 8

  /// What is said where a value with the first byte `tag` is none of that type.
  mutating func text(of type: Any.Type, _ tag: UInt8, _ make: () -> String) -> String {
    if texts.isEmpty { texts = Array(repeating: nil, count: Self.lineCount) }
    let address = TypeAddress(type)
    let line = (address.line(of: Self.lineCount) ^ Int(tag) &* 5) & (Self.lineCount - 1)
    if let known = texts[line], known.type == address, known.tag == tag { return known.text }
    let text = make()
    texts[line] = Text(type: address, tag: tag, text: text)
    return text
  }

  /// The path to a place.
  ///
  /// - Parameters:
  ///   - outer: makes the path to its frame.
  ///   - key: makes the step from there.
  mutating func path(
    to place: Place, _ outer: () -> [any CodingKey], _ key: () -> (any CodingKey)?
  ) -> [any CodingKey] {
    if place == self.place { return path }
    self.place = place
    path = framePath(place.serial, outer)
    if let key = key() { path.append(key) }
    return path
  }

  private mutating func framePath(_ serial: UInt64, _ make: () -> [any CodingKey]) -> [any CodingKey] {
    for known in framePaths where known.serial == serial { return known.path }
    let made = FramePath(serial: serial, path: make())
    if framePaths.count < Self.framePathCount {
      framePaths.append(made)
    } else {
      framePaths[nextFramePath] = made
      nextFramePath = (nextFramePath + 1) % Self.framePathCount
    }
    return made.path
  }

  /// Forgets the paths, whose keys are users' values.
  mutating func forgetPaths() {
    if place == nil { return }
    (place, path) = (nil, [])
    framePaths.removeAll(keepingCapacity: true)
    nextFramePath = 0
  }
}

extension DecoderPointer {
  /// The error for the value at the cursor, which is none of that type.
  @inline(never)
  func mismatch(_ type: Any.Type) -> any Error { mismatch(type, at: cursor, pathOfFailure(Step(framePlace))) }

  /// The error for the current frame's value, which is no container of that type.
  @inline(never)
  func mismatchOfFrame(_ type: Any.Type) -> any Error {
    mismatch(type, at: frame.start, pathOfFailure(nil))
  }

  private func mismatch(_ type: Any.Type, at offset: Int, _ path: [any CodingKey]) -> any Error {
    let tag = offset < frame.end ? base.byte(at: offset) : BodyTag.absent
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
    // The step that comes last: values that stand in no container are where what is around them is.
    var place = framePlace
    var step = last
    while step.map({ !$0.isKey }) ?? true {
      guard let outer = place.pointee.outer else { return [] }
      step =
        place.pointee.isNested ? Step(outer, place.pointee.step, place.pointee.stepKey) : Step(outer)
      place = outer
    }
    guard let step else { return [] }
    let frame = place.pointee
    // A record's own frame has no serial.
    if frame.serial == 0 { return path(to: place, step) }
    return core.mismatches.path(
      to: MismatchNotes.Place(
        serial: frame.serial, current: step.current, currentKey: step.currentKey, isMap: frame.kind == .map,
        keys: frame.keys)
    ) {
      path(to: place)
    } _: {
      codingKey(of: step)
    }
  }
}
