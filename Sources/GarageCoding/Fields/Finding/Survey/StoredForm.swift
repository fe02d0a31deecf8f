/// A place in stored objects, and the form in which a value stands there: as a double where others have a decimal, or under another
/// version of a type.
struct StoredForm: Hashable {
  private let path: [String]
  private let kind: Kind

  private enum Kind: Hashable {
    case null, bool, integer, wideInteger, float, double, date, uuid, decimal, data, string, array, map,
      reference
    case version(Int)
  }

  /// The forms of all values in some objects.
  static func all(in objects: [RecordValue]) -> Set<StoredForm> {
    var forms: Set<StoredForm> = []
    for object in objects { add(object, at: [], to: &forms) }
    return forms
  }

  private static func add(_ value: RecordValue, at path: [String], to forms: inout Set<StoredForm>) {
    func note(_ kind: Kind) { forms.insert(StoredForm(path: path, kind: kind)) }
    switch value {
    case .null: note(.null)
    case .bool: note(.bool)
    // What is beyond these a double does not have exactly.
    case .integer(let number): note(number.magnitude <= 1 << 53 ? .integer : .wideInteger)
    case .wideInteger, .unsignedInteger: note(.wideInteger)
    case .float: note(.float)
    case .double: note(.double)
    case .date: note(.date)
    case .uuid: note(.uuid)
    case .decimal: note(.decimal)
    case .data: note(.data)
    case .string: note(.string)
    case .reference: note(.reference)
    case .array(let elements):
      note(.array)
      for element in elements { add(element, at: path + ["[]"], to: &forms) }
    case .map(let fields):
      note(.map)
      for key in fields.keys {
        if let field = fields[key] { add(field, at: path + [key], to: &forms) }
      }
    case .versioned(let version, let inner):
      note(.version(version))
      add(inner, at: path, to: &forms)
    case .withSyncStatus(_, let inner): add(inner, at: path, to: &forms)
    }
  }
}
