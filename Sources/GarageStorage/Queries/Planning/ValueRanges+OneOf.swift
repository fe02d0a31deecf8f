internal import GarageCoding

extension ValueRanges {
  /// Where the identifiers stand that are one of some values; nil where one of these is no identifier. There may be
  /// many: one writer makes all their keys.
  static func identifiers(of constants: OneOfConstants) -> ValueRanges? {
    var points: [Range] = []
    points.reserveCapacity(constants.all.count)
    var writer = IdentifierWriter()
    for constant in constants.all {
      var key: [UInt8] = []
      switch constant.value {
      case .number(.integer(let number)): writer.write(integer: number)
      case .number(.wide(let number)):
        guard let magnitude = UInt64(exactly: number.magnitude), !number.isNegative else { return nil }
        writer.write(integer: magnitude)
      case .text(let text): writer.write(string: text)
      case .uuid(let bytes): key = [IdentifierKind.uuid.rawValue] + bytes
      case .null, .bool, .number, .date, .data, .reference: return nil
      }
      if key.isEmpty { Identifier.appendKeyForm(of: writer.bytes, to: &key) }
      writer.removeAll()
      points.append(Range(lower: key, upper: key + [0], isExact: false, isPoint: true))
    }
    return ValueRanges(points.sorted { isLess($0.lower, $1.lower) }).union(.none)
  }
}
