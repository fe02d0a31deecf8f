/// A key and its value, as a scan lends them.
struct Entry: Hashable, CustomStringConvertible, Sendable {
  var key: [UInt8]
  var value: [UInt8]

  init(key: [UInt8], value: [UInt8]) {
    self.key = key
    self.value = value
  }

  init(_ key: String, _ value: String) {
    self.init(key: Array(key.utf8), value: Array(value.utf8))
  }

  var description: String { "\(readable(key)): \(readable(value))" }
}
