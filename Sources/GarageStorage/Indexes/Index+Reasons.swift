internal import GarageCoding

// Why an index cannot be, and what to do instead.

extension Index.Part {
  /// The property without the beginning of a key path.
  var name: String { String(text.drop { $0 == "\\" || $0 == "." }) }

  /// The field of the property; if there is none, why.
  func lookUp() -> (field: StoredField?, absence: FieldAbsence) {
    if let field = field() { return (field, .isUnknown) }
    let why = absence()
    // Another thread may have found out meanwhile how objects of the type are made up.
    if case .isDifferent = why { return (field(), why) }
    return (nil, why)
  }

  /// Whether the key path does not tell the property's name.
  var isNameless: Bool { name.contains("<") }
}

extension Index {
  /// Why a property has no field that could be indexed.
  func reason(_ absence: FieldAbsence, _ part: Part) -> String {
    switch absence {
    case .isObject:
      """
      the property is an object with a record of its own. As a Reference it could be indexed; who refers to an object is \
      found by retrieveReferrers(_:of:by:) without an index of the type (Docs/Relations.md).
      """
    case .isCollection where part.isDictionary:
      """
      the property is a dictionary, and no index is of its entries. Keep what is asked for in a property of its own, or in \
      an array, of which each element can be indexed.
      """
    case .isCollection:
      "the property is a collection, of which each element can be indexed: Index(each: \(shown(part)))."
    case .isComputed where part.text.contains("!"):
      """
      the key path unwraps an optional by force, which would end the program where there is none. Write ? in place of !: \
      Index(\(part.text.replacing("!", with: "?"))).
      """
    case .isComputed:
      """
      the property is computed, and no record has it. Store what it gives in a property of its own, set where those are \
      that it is made of, and index that.
      """
    case .isOfStatus:
      """
      the property is the sync status, or follows it. A garage keeps that beside the object, where no index is needed: \
      retrieveAll(_:withStatus:) finds objects by it.
      """
    case .isOpaque:
      """
      the type has OpaqueFields: only its own code understands what is stored. Without that conformance its fields are \
      found, by objects that are made up.
      """
    case .isDifferent:
      """
      no field of its records has what the property has: it is stored as several values, as the name of a case, or inside \
      of a value whose type has a version, or else code changes what is stored when it is read or set. Index a property \
      that is stored as it is: a number, text, an enum with raw values.
      """
    case .isUnknown:
      """
      it could not be found out which stored field the property is read from, since no object could be made up to try: \
      the type refuses what it does not know. \(advice(part))
      """
    }
  }

  func reasonBehindReference(_ path: FieldPath) -> String {
    """
    "\(path)" is a field of another object, which has a record of its own and changes without this one. Declare the index in \
    that object's type, find the object by it, and who refers to it by retrieveReferrers(_:of:by:) (Docs/Relations.md). A \
    property that is a Reference can be indexed itself.
    """
  }

  private func advice(_ part: Part) -> String {
    if isEach { return "Index another property." }
    if parts.count > 1 {
      return "Index it alone, under its coding key: Index(\"codingKey\", \(shown(part)))."
    }
    return
      "Say which it is by its coding key: Index(\"\(part.isNameless ? "codingKey" : part.name)\", \(shown(part)))."
  }

  private func shown(_ part: Part) -> String { part.isNameless ? "…" : part.text }
}
