import GarageCoding

/// An owner of a value: puts it where values mostly stand, in a property, an optional, an array and a dictionary.
struct Holder<Value: Codable>: Codable, Identifiable {
  var id = 1
  var value: Value
  var optional: Value?
  var list: [Value]
  var table: [String: Value]

  init(_ value: Value) {
    self.value = value
    optional = value
    list = [value, value]
    table = ["a": value, "b": value]
  }

  var all: [Value] {
    [value] + (optional.map { [$0] } ?? []) + list + table.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// An owner of one value.
struct Owner<Value: Codable>: Codable, Identifiable {
  var id = 1
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// What a program stored …
struct Old<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "evolving" }
  var id = 1
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// … and what the next one declares.
struct New<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "evolving" }
  var id = 1
  var value: Value
}
