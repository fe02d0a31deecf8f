/// What the elements of a packed array are: its second header field. Fixed-width ones are little-endian.
enum PackedKind: UInt8 {
  case string = 1
  case date = 2
  case int8 = 3
  case int16 = 4
  case int32 = 5
  case int64 = 6
  case uint64 = 7
  case float = 8
  case double = 9
  case bool = 10
  case uint8 = 11

  /// Bytes per element; 0 for strings, which stand behind a length of their own.
  var width: Int {
    switch self {
    case .string: 0
    case .int8, .bool, .uint8: 1
    case .int16: 2
    case .int32, .float: 4
    case .date, .int64, .uint64, .double: 8
    }
  }

  var isInteger: Bool {
    switch self {
    case .int8, .int16, .int32, .int64, .uint64, .uint8: true
    case .string, .date, .float, .double, .bool: false
    }
  }
}
