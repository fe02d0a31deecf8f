internal import GarageDriver

/// The layout of a sealed value.
///
/// ```
/// 0   | F8 53 4C | 3   the mark of sealed values
/// 3   | version  | 1   of this layout
/// 4   | key      | 4   identifier of the key, big-endian
/// 8   | what the sealer made of the value |
/// ```
/// The sealer's context is these 8 bytes and, behind them, the key that the value stands under.
enum SealedValue {
  static let version: UInt8 = 1
  static let headerByteCount = 8

  /// Appends the header of a value that is sealed with this key.
  static func appendHeader(keyIdentifier: UInt32, to output: SealerOutput) {
    output.append(byteCount: headerByteCount) { header in
      header.copyBytes(from: SealedMark.bytes)
      header[3] = version
      header.storeBytes(of: keyIdentifier.bigEndian, toByteOffset: 4, as: UInt32.self)
    }
  }

  /// What the header of a value says.
  enum Header: Equatable {
    case sealed(keyIdentifier: UInt32)
    case newer(version: UInt8)
    /// It begins with the mark, or with the first bytes of it, and ends before the header does.
    case cut
    case plain

    init(_ value: RawSpan) {
      guard value.byteCount >= headerByteCount, SealedMark.begins(value) else {
        self = Header.isCut(value) ? .cut : .plain
        return
      }
      let version = value.unsafeLoad(fromByteOffset: 3, as: UInt8.self)
      guard version == SealedValue.version else {
        self = .newer(version: version)
        return
      }
      let key = value.unsafeLoadUnaligned(fromByteOffset: 4, as: UInt32.self)
      self = .sealed(keyIdentifier: UInt32(bigEndian: key))
    }

    private static func isCut(_ value: RawSpan) -> Bool {
      let count = min(value.byteCount, SealedMark.bytes.count)
      return count > 0 && value.byteCount < headerByteCount
        && value.withUnsafeBytes { $0.prefix(count).elementsEqual(SealedMark.bytes.prefix(count)) }
    }
  }
}
