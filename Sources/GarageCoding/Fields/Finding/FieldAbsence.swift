/// Why no field is known that a property could be indexed by.
package enum FieldAbsence: Sendable {
  /// It is an object with a record of its own.
  case isObject
  /// It is a collection.
  case isCollection
  /// Code computes it, so that only an object can be asked.
  case isComputed
  /// It is the sync status of its object, or follows it.
  case isOfStatus
  /// The type says that only its own code understands its fields.
  case isOpaque
  /// No field has the property's value: it is several values, the name of a case, or made from stored values.
  case isDifferent
  /// No object could be made up, or none with a value in the property.
  case isUnknown

  /// - Parameters:
  ///   - scalar: what is to be indexed of the property: itself, or its elements.
  ///   - isEach: whether it is the elements.
  package init<Root: Decodable, Value: Encodable>(
    of keyPath: KeyPath<Root, Value>, scalar: Any.Type, isEach: Bool
  ) {
    let form = PropertyForm(keyPath)
    /// Whether the property has a value in a made-up object. Only stored properties are asked, because no code may run on such
    /// objects.
    func isThere(_ object: Root) -> Bool {
      guard case .stored = form else { return true }
      let value = object[keyPath: keyPath]
      if let optional = value as? any OptionalIdentifier, optional.isNil { return false }
      return !isEach || (value as? any Collection).map { !$0.isEmpty } ?? false
    }
    if FieldAbsence.isOfRecord(unwrapped(scalar)) {
      self = .isObject
    } else if !isEach && FieldAbsence.isCollection(Value.self) {
      self = .isCollection
    } else if Root.self is any OpaqueFields.Type {
      self = .isOpaque
    } else if FieldSearch(keyPath, in: Root.self).isComputed {
      self = .isComputed
    } else if FieldSearch(keyPath, in: Root.self).isOfStatus {
      self = .isOfStatus
    } else if let (object, _) = try? FieldProbe.object(Root.self), isThere(object) {
      self = .isDifferent
    } else {
      self = .isUnknown
    }
  }

  /// Whether values of a type are an array, a set or a dictionary.
  package static func isCollection(_ type: Any.Type) -> Bool {
    unwrapped(type) is any DecodableCollection.Type
  }

  /// Whether values of a type are dictionaries.
  package static func isDictionary(_ type: Any.Type) -> Bool { unwrapped(type) is any DictionaryType.Type }

  private static func isOfRecord(_ type: Any.Type) -> Bool {
    let kind = TypeFacts.of(type).object.kind
    return kind == .reference || kind == .interned
  }
}

private protocol DictionaryType {}

extension Dictionary: DictionaryType {}

extension StoredField {
  /// Whether it is a field of another object that this one refers to: records of the type do not have it.
  package func isBehindReference<Root: Decodable>(in type: Root.Type) -> Bool {
    guard let (_, made) = try? FieldProbe.object(type) else { return false }
    return path.keys.indices.contains { made.objects.contains(Array(path.keys.prefix($0))) }
  }
}
