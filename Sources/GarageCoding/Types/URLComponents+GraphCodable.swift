import Foundation

/// Foundation's own `init(from:)` ends the process when the scheme is not valid or the port is negative. No value has such
/// parts, but a damaged record or one that another program wrote may: reading it throws.
extension URLComponents: CheckedFoundationType {
  private struct Parts: Decodable {
    var scheme: String?
    var port: Int?

    /// By RFC 3986, section 3.1: a letter, then letters, digits, "+", "-" and ".".
    var isScheme: Bool {
      guard let scheme else { return true }
      return scheme.utf8.first.map(Parts.isLetter) == true
        && scheme.utf8.allSatisfy { byte in
          Parts.isLetter(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }
  }

  static func encode(at address: UnsafeRawPointer, toGraph state: EncoderPointer) throws {
    try state.writeByOwnCode(address[as: URLComponents.self])
  }

  init(fromGraph state: DecoderPointer) throws {
    self = try state.readChecked(Parts.self) { parts in
      if !parts.isScheme { return "The stored scheme is not a URL scheme." }
      return parts.port.map { $0 < 0 } == true ? "The stored port is a negative number." : nil
    }
  }
}
