internal import Synchronization

/// The values of which a type makes something else when it decodes itself, as stored objects show: text that becomes a number,
/// a name that becomes a case.
///
/// In made-up objects these places get values of stored objects and no others: with another text `Int(text)!` would end the
/// program.
package struct TypeSurvey: Sendable {
  /// The values that two objects have at the paths, which begin at the value of the type.
  private var converted: [[String]: FieldSample] = [:]

  private static let known = Mutex(Known())

  private struct Known {
    var surveys: [TypeAddress: TypeSurvey] = [:]
    /// The types that were surveyed for themselves, not only inside of others, by objects of a store.
    var surveyed: Set<TypeAddress> = []
    /// The types that were surveyed by objects that were about to be stored.
    var surveyedByNew: Set<TypeAddress> = []
    /// The objects by which these were surveyed, those of each store together.
    var objects: [TypeAddress: [[RecordValue]]] = [:]
    /// The forms in which the values of these stand.
    var forms: [TypeAddress: Set<StoredForm>] = [:]
    /// How many threads are about to forget the fields that were found without what they added.
    var forgetting: [TypeAddress: Int] = [:]

    /// Whether something is found that was not known.
    func isNew(_ found: [TypeAddress: TypeSurvey]) -> Bool {
      found.contains { type, survey in
        survey.converted.keys.contains { surveys[type]?.converted[$0] == nil }
      }
    }

    mutating func add(_ found: [TypeAddress: TypeSurvey]) {
      // Earlier results stay, because fields were found with them.
      surveys.merge(found) { old, new in
        TypeSurvey(converted: old.converted.merging(new.converted) { old, _ in old })
      }
    }
  }

  /// Whether a type is to be surveyed by objects that are about to be stored: if it was not surveyed by any.
  package static func isWantedByNew(for type: Any.Type) -> Bool {
    known.withLock { known in
      let type = TypeAddress(type)
      return !known.surveyed.contains(type) && !known.surveyedByNew.contains(type)
    }
  }

  /// Surveys a type, and the types of what it has.
  ///
  /// It runs `init(from:)` with what a store has. What is found holds for all stores of the process: those after the first add to
  /// it if values stand there in forms that were not seen before, or if the type makes something else of more values, as of
  /// what an older program stored.
  ///
  /// - Parameter objects: what some of its objects have, with the objects that they refer to in place of the references.
  package static func note(_ objects: [RecordValue], of type: any Decodable.Type) {
    let address = TypeAddress(type)
    let found = surveys(of: objects, type)
    let forms = StoredForm.all(in: objects)
    let (isNew, isForgetting) = known.withLock { known in
      let samples = known.objects[address] ?? []
      var isNew = !known.surveyed.contains(address) || known.isNew(found)
      if samples.count < mostSamples, !forms.isSubset(of: known.forms[address] ?? []) { isNew = true }
      if isNew {
        known.add(found)
        known.forms[address, default: []].formUnion(forms)
        if samples.count < mostSamples && !samples.contains(objects) {
          known.objects[address] = samples + [objects]
        }
        known.forgetting[address, default: 0] += 1
      }
      return (isNew, known.forgetting[address] ?? 0 > 0)
    }
    if !isForgetting { return }
    // These objects may deny a field that was found before. Another thread that asks for one meanwhile forgets them, too.
    StoredField.forgetAll(in: type)
    ReferringField.forgetAll(in: type)
    if !isNew { return }
    known.withLock { known in
      known.surveyed.insert(address)
      known.forgetting[address, default: 1] -= 1
    }
  }

  /// How many samples are kept of a type: each of them is asked for each field.
  private static var mostSamples: Int { 32 }

  /// Surveys a type by objects that are about to be stored, of which a store has none or others so far. Those that a store has
  /// are asked as well, as soon as they can be read.
  ///
  /// - Parameter objects: as for ``note(_:of:)``.
  package static func noteNew(_ objects: [RecordValue], of type: any Decodable.Type) {
    let found = surveys(of: objects, type)
    known.withLock { known in
      known.add(found)
      guard !known.surveyed.contains(TypeAddress(type)) else { return }
      known.surveyedByNew.insert(TypeAddress(type))
      // Beside those that another thread has just found in a store.
      known.objects[TypeAddress(type), default: []].append(objects)
    }
  }

  private static func surveys<T: Decodable>(
    of objects: [RecordValue], _ type: T.Type
  ) -> [TypeAddress: TypeSurvey] {
    let surveyor = Surveyor()
    for object in objects { _ = try? StoredDecoder.decode(type, object, surveyor) }
    return surveyor.surveys
  }

  /// The objects by which a type was surveyed, and what their records have. None where it was not surveyed.
  ///
  /// - Parameter mostReads: how many values in those of one store may be read. Objects that hold more are left out.
  static func objects<T: Decodable>(
    of type: T.Type, mostReads: Int
  ) -> [(object: T, record: RecordValue)] {
    let samples = known.withLock { $0.objects[TypeAddress(type)] } ?? []
    return samples.flatMap { records in
      let surveyor = Surveyor(mostReads: mostReads, notesReads: false)
      return records.compactMap { record in
        (try? StoredDecoder.decode(type, record, surveyor)).map { (object: $0, record: record) }
      }
    }
  }

  /// What is known of a type, or of its superclass; nil where it makes nothing else of any value.
  static func of(_ type: Any.Type) -> TypeSurvey? {
    guard ProbeContext.current.usesSurveys else { return nil }
    let found = known.withLock { $0.surveys[TypeAddress(type)] }
    return found ?? (type as? AnyClass).flatMap { _getSuperclass($0) }.flatMap { of($0) }
  }

  /// The stored values at a path of whose value the type makes something else; nil at any other path.
  func converted(_ path: some Collection<String>) -> FieldSample? { converted[Array(path)] }

  var isEmpty: Bool { converted.isEmpty }

  init(converted: [[String]: FieldSample]) { self.converted = converted }
}
