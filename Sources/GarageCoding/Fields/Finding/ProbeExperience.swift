internal import Synchronization

/// What is known of making up objects of a type.
struct ProbeExperience: Sendable {
  /// The guesses that types inside it accepted, after they refused the first one.
  private var guesses: [Place: ProbeGuess] = [:]
  /// The types that accept none of the guesses.
  var refusing: Set<TypeAddress> = []
  /// The error of the type itself, if it accepts no guess.
  var refusal: (any Error)?
  /// The values of stored objects of the type, if none could be made up without them.
  var sample = FieldSample()

  /// A type, and how many values of the same type are around the value.
  private struct Place: Hashable {
    let type: TypeAddress
    let openCount: Int
  }

  /// The guess that a type accepts inside so many values of the same type.
  func guess(for type: TypeAddress, in openCount: Int = 0) -> ProbeGuess {
    if guesses.isEmpty { return ProbeGuess() }
    if openCount > 0, let found = guesses[Place(type: type, openCount: openCount)] { return found }
    return guesses[Place(type: type, openCount: 0)] ?? ProbeGuess()
  }

  /// Notes the guess that a type accepts.
  ///
  /// - Parameter nests: whether it accepted nothing else because values stand in each other as deep as they are made up. An
  ///   array that is empty for this reason has elements further out.
  mutating func note(_ guess: ProbeGuess, for type: TypeAddress, in openCount: Int, nests: Bool) {
    if nests && openCount == 0 { return }
    guesses[Place(type: type, openCount: nests ? openCount : 0)] = guess
  }

  struct Key: Hashable, Sendable {
    let type: TypeAddress
    let fillsDictionaries: Bool

    init(_ type: Any.Type, fillsDictionaries: Bool) {
      (self.type, self.fillsDictionaries) = (TypeAddress(type), fillsDictionaries)
    }
  }

  private static let known = Mutex<[Key: ProbeExperience]>([:])

  /// How many samples there were. Fields that were not found before the last one may be found with it.
  static let sampleCount = Atomic(0)

  /// Whether there was no other sample since there were so many.
  static func isLast(_ count: Int) -> Bool { sampleCount.load(ordering: .sequentiallyConsistent) == count }

  static func of(_ key: Key) -> ProbeExperience { known.withLock { $0[key] } ?? ProbeExperience() }

  static func note(_ experience: ProbeExperience, of key: Key) {
    known.withLock { known in
      // Experience without a sample must not replace one with a sample that came meanwhile.
      if experience.sample.first == nil, known[key]?.sample.first != nil { return }
      known[key] = experience
    }
  }
}
