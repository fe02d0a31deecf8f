internal import Synchronization

/// What is known of making up objects of a type.
struct ProbeExperience: Sendable {
  /// What each type that it has, and that refused the first guess, took.
  private var guesses: [Place: ProbeGuess] = [:]
  /// Those that take none of the guesses.
  var refusing: Set<TypeAddress> = []
  /// What the type itself said that takes none.
  var refusal: (any Error)?
  /// What objects of the type have in a store, where none could be made up without.
  var sample = FieldSample()

  /// A type, and in how many values of it its own stands.
  private struct Place: Hashable {
    let type: TypeAddress
    let openCount: Int
  }

  /// What a type takes that stands in so many values of it.
  func guess(for type: TypeAddress, in openCount: Int = 0) -> ProbeGuess {
    if guesses.isEmpty { return ProbeGuess() }
    if openCount > 0, let found = guesses[Place(type: type, openCount: openCount)] { return found }
    return guesses[Place(type: type, openCount: 0)] ?? ProbeGuess()
  }

  /// Notes what a type takes.
  ///
  /// - Parameter nests: whether it took nothing else because values stand in each other as often as they are made up. An array
  ///   that is empty for that has elements further out.
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

  /// How many samples there were. What was not found before the last one may be found with it.
  static let sampleCount = Atomic(0)

  /// Whether there was no other sample since then.
  static func isLast(_ count: Int) -> Bool { sampleCount.load(ordering: .sequentiallyConsistent) == count }

  static func of(_ key: Key) -> ProbeExperience { known.withLock { $0[key] } ?? ProbeExperience() }

  static func note(_ experience: ProbeExperience, of key: Key) {
    known.withLock { known in
      // What was found out without a sample is nothing beside one that came meanwhile.
      if experience.sample.first == nil, known[key]?.sample.first != nil { return }
      known[key] = experience
    }
  }
}
