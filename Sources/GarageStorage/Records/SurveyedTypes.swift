internal import Synchronization

/// The types that one garage has surveyed by objects of its store (``TypeSurvey``).
///
/// Each garage asks its own store. What another one has tells nothing of this one, in which an older program may have
/// parked objects in a form of which the type makes something else.
final class SurveyedTypes: Sendable {
  private struct Known {
    var surveyed: Set<ObjectIdentifier> = []
    /// How often a survey was asked for, for types of which objects were looked for in vain.
    var missed: [ObjectIdentifier: Int] = [:]
  }
  private let known = Mutex(Known())

  /// Whether a type was surveyed by objects that are in the store.
  func contains(_ type: ObjectIdentifier) -> Bool { known.withLock { $0.surveyed.contains(type) } }

  /// Whether objects of a type are to be looked for: if it was not surveyed yet, and not each time if they were looked
  /// for in vain. Objects that were about to be stored do not count: those that older programs stored may differ.
  func isWanted(_ type: ObjectIdentifier) -> Bool {
    known.withLock { known in
      if known.surveyed.contains(type) { return false }
      guard let count = known.missed[type] else { return true }
      known.missed[type] = count + 1
      return count & (count - 1) == 0
    }
  }

  /// Notes that a type was surveyed.
  func note(_ type: ObjectIdentifier) { known.withLock { _ = $0.surveyed.insert(type) } }

  /// Notes that no objects of a type were found among those of other classes.
  func noteMiss(of type: ObjectIdentifier) {
    known.withLock { known in
      if known.missed[type] == nil { known.missed[type] = 1 }
    }
  }
}
