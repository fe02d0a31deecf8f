internal import GarageCoding
internal import GarageStorage

/// Objects that cannot be decoded, by their places: those at fault, and those that need one at fault.
struct LegacyLosses {
  /// What is wrong with each object at fault.
  private(set) var reasons: [Int: String] = [:]
  /// For each object that needs one at fault, the place of the one at fault.
  private var culprits: [Int: Int] = [:]
  /// The places that ``follow(_:_:)`` has visited.
  private var followed: Set<Int> = []
  /// The places that were examined because an error named them.
  private var examined: Set<Int> = []

  func has(_ place: Int) -> Bool { reasons[place] != nil || culprits[place] != nil }

  /// The place of the object at fault, for a lost object at a place.
  func culprit(of place: Int) -> Int { culprits[place] ?? place }

  mutating func note(_ place: Int, _ reason: String) { if !has(place) { reasons[place] = reason } }

  /// Notes an object that needs a lost one.
  mutating func note(_ place: Int, needing other: Int) {
    if !has(place) { culprits[place] = culprit(of: other) }
  }

  /// Whether a place was not examined before. From now on it counts as examined.
  mutating func examine(_ place: Int) -> Bool { !has(place) && examined.insert(place).inserted }

  /// Notes all objects that need a lost one, directly or through others.
  ///
  /// - Parameter needing: for each place the places of the objects that need its object.
  mutating func follow(_ place: Int, _ needing: [[Int]]) {
    var rest = [place]
    while let next = rest.popLast() {
      guard followed.insert(next).inserted else { continue }
      for other in needing[next] {
        note(other, needing: next)
        rest.append(other)
      }
    }
  }
}

extension LegacySource {
  /// The reason why the object at a place cannot be imported; nil if none is known.
  func reasonOfLoss(_ place: Int) -> String? {
    guard losses.has(place) else { return nil }
    let culprit = losses.culprit(of: place)
    let reason = losses.reasons[culprit] ?? "it cannot be decoded"
    if culprit == place { return reason }
    let object = objects[culprit]
    return """
      it needs \(object.type.name) "\(object.identity.identifier)" (row \(object.row.key)), which cannot be taken over: \
      \(reason)
      """
  }

  /// Notes that an object cannot be decoded, and that all objects that need it cannot either. Each of them would otherwise be
  /// decoded in vain up to the one at fault.
  func lose(_ place: Int, _ error: any Error) {
    guard let named = self.place(namedIn: error) else { return }
    if named == place {
      losses.note(place, describedAsGarageError(error))
    } else if losses.has(named) {
      losses.note(place, needing: named)
    } else {
      return
    }
    let needing = needing
    losses.follow(named, needing)
    losses.follow(place, needing)
  }

  /// Does the same for an object that was met while other objects were being decoded, which need it.
  func lose(_ identity: RecordIdentity, metWith error: any Error) {
    guard let place = place(of: identity), let named = self.place(namedIn: error), named != place,
      losses.has(named)
    else { return }
    losses.note(place, needing: named)
  }

  /// Whether an error is about an object that is known to be lost.
  func namesLost(_ error: any Error) -> Bool { place(namedIn: error).map { losses.has($0) } ?? false }

  /// The place of the object that an error names: the one whose record could not be decoded.
  func place(namedIn error: any Error) -> Int? {
    guard let (type, identifier) = LegacySource.name(in: error) else { return nil }
    let named = placesByName[identifier] ?? []
    return named.count == 1 ? named[0] : named.first { objects[$0].type.name == type }
  }

  private static func name(in error: any Error) -> (type: String, identifier: String)? {
    switch error {
    case GraphCodingError.corrupt(let type, let identifier, _): return (type, identifier)
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
      return (context.underlyingError as? UnreadableObject).map { ($0.type, $0.identifier) }
    default: return nil
    }
  }
}
