/// The coding path of a place in a record, as a number of the walk's ``NotedPaths``. The path itself is put together only when
/// something fails, which is seldom: to do so takes longer than to read the value.
struct NotedPath {
  fileprivate var number: UInt32
}

/// The places in records where something waits to be filled in, each behind the one that holds it.
struct NotedPaths {
  private struct Place {
    enum Step {
      /// A field of a map with a shape. Shapes and tables of keys live as long as the process.
      case field(Permanent<Shape>, KeyTablePointer?, Int)
      case element(Int)
      /// Any other step.
      case key(any CodingKey)
    }
    /// The number of the place around this one; ``none`` at the beginning of a record.
    var outer: UInt32
    var step: Step

    func isSame(as other: Place) -> Bool {
      if outer != other.outer { return false }
      switch (step, other.step) {
      case (.field(let shape, let keys, let field), .field(let otherShape, let otherKeys, let otherField)):
        return field == otherField && shape.address == otherShape.address && keys == otherKeys
      case (.element(let index), .element(let otherIndex)): return index == otherIndex
      default: return false
      }
    }
  }

  private static let none = UInt32.max
  /// How many places are compared with a new one: the same fields of records of one type are noted again and again.
  private static let comparedCount = 8
  private var places = RawStack<Place>()

  /// Notes the place of the value that a decoder is reading.
  @inline(__always)
  mutating func note(_ state: DecoderPointer) -> NotedPath {
    let frame = state.frame
    if state.hasOneMap, frame.kind == .map, frame.current >= 0, frame.current < frame.shapedCount,
      let shape = frame.shape
    {
      // The usual case: a field of the record's own map.
      let place = Place(outer: NotedPaths.none, step: .field(shape, frame.keys, frame.current))
      if let last = places.all.last, last.isSame(as: place) {
        return NotedPath(number: UInt32(truncatingIfNeeded: places.count &- 1))
      }
      return NotedPath(number: note(place))
    }
    return NotedPath(number: noteFrames(state))
  }

  @inline(never)
  private mutating func noteFrames(_ state: DecoderPointer) -> UInt32 {
    var number = NotedPaths.none
    for step in state.childSteps where step.isKey {
      let frame = step.frame.pointee
      if step.current >= 0, frame.kind == .array {
        number = note(Place(outer: number, step: .element(step.current)))
      } else if step.current >= 0, step.current < frame.shapedCount, let shape = frame.shape {
        number = note(Place(outer: number, step: .field(shape, frame.keys, step.current)))
      } else if let key = state.codingKey(of: step) {
        number = note(Place(outer: number, step: .key(key)))
      }
    }
    return number
  }

  @inline(never)
  private mutating func note(_ place: Place) -> UInt32 {
    let first = max(0, places.count - NotedPaths.comparedCount)
    for number in (first..<places.count).reversed() where places[number].isSame(as: place) {
      return UInt32(truncatingIfNeeded: number)
    }
    places.append(place)
    return UInt32(truncatingIfNeeded: places.count - 1)
  }

  func keys(of path: NotedPath) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var number = path.number
    while number != NotedPaths.none {
      let place = places[Int(number)]
      switch place.step {
      case .field(let shape, let table, let field):
        let text = shape.object.keys[field]
        keys.append(table?.pathKey(text) ?? PathKey(stringValue: text))
      case .element(let index): keys.append(PathKey(intValue: index))
      case .key(let key): keys.append(key)
      }
      number = place.outer
    }
    return keys.reversed()
  }

  mutating func removeAll() { places.removeAll(keeping: 1024) }
}

extension DecoderPointer {
  /// Notes the path to the field or element being read.
  @inline(__always)
  func notedPath() -> NotedPath { walk.fills.paths.note(self) }

  /// Whether the frame is that of the record's own map: the one around it is the record's.
  @inline(__always)
  fileprivate var hasOneMap: Bool {
    guard !frame.isNested, let outer = frame.outer else { return false }
    return outer.pointee.outer == nil && outer.pointee.kind == .value
  }
}

extension GraphWalk {
  func keys(of path: NotedPath) -> [any CodingKey] { fills.paths.keys(of: path) }

  /// The same and a step further.
  func keys(of path: NotedPath, _ last: PathKey) -> [any CodingKey] { keys(of: path) + [last] }
}
