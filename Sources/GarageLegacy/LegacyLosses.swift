internal import GarageCoding
internal import GarageStorage

/// Objects that cannot be decoded, by their places: those at fault, and those that cannot be without them.
struct LegacyLosses {
  /// What is wrong with those at fault.
  private(set) var reasons: [Int: String] = [:]
  /// Which one of those the others cannot be without.
  private var culprits: [Int: Int] = [:]
  /// Places from which ``follow(_:_:)`` has gone on.
  private var followed: Set<Int> = []
  /// Places that were looked at because an error named them.
  private var examined: Set<Int> = []

  func has(_ place: Int) -> Bool { reasons[place] != nil || culprits[place] != nil }

  /// Which object is at fault where that at a place is lost.
  func culprit(of place: Int) -> Int { culprits[place] ?? place }

  mutating func note(_ place: Int, _ reason: String) { if !has(place) { reasons[place] = reason } }

  /// Notes an object that cannot be without another, which is lost.
  mutating func note(_ place: Int, needing other: Int) {
    if !has(place) { culprits[place] = culprit(of: other) }
  }

  /// Whether a place was not looked at yet; from now on it was.
  mutating func examine(_ place: Int) -> Bool { !has(place) && examined.insert(place).inserted }

  /// Notes all objects that cannot be without one that is lost, however far they are.
  ///
  /// - Parameter needing: for each place those of the objects that cannot be without that one.
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
  /// Why the object at a place cannot be taken over; nil where nothing is known that speaks against it.
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

  /// Notes that an object cannot be decoded, and all that cannot be without it: each of them would be decoded in vain, up
  /// to the one that is at fault.
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

  /// The same of one that was met on the way, which others are still being decoded for.
  func lose(_ identity: RecordIdentity, metWith error: any Error) {
    guard let place = place(of: identity), let named = self.place(namedIn: error), named != place,
      losses.has(named)
    else { return }
    losses.note(place, needing: named)
  }

  /// Whether an error is about an object that is known to be lost.
  func namesLost(_ error: any Error) -> Bool { place(namedIn: error).map { losses.has($0) } ?? false }

  /// The place of the object that an error is about: the one whose record could not be decoded.
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
