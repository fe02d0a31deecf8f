internal import Synchronization

/// What is known of making up objects of a type.
struct ProbeExperience: Sendable {
  /// What each type that it has, and that refused the first guess, took.
  var guesses: [TypeAddress: ProbeGuess] = [:]
  /// Those that take none of the guesses.
  var refusing: Set<TypeAddress> = []
  /// What the type itself said that takes none.
  var refusal: (any Error)?
  /// What objects of the type have in a store, where none could be made up without.
  var sample = FieldSample()

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
