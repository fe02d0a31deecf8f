import Foundation

/// Foundation's own `init(from:)` ends the process when a range has a negative length or ends beyond `Int.max`. No value has
/// such ranges, but a damaged record or one that another program wrote may: reading it throws.
extension IndexSet: CheckedFoundationType {
  private struct Parts: Decodable {
    struct Part: Decodable {
      var location: Int
      var length: Int
    }

    var indexes: [Part]
  }

  static func encode(at address: UnsafeRawPointer, toGraph state: EncoderPointer) throws {
    try state.writeByOwnCode(address[as: IndexSet.self])
  }

  init(fromGraph state: DecoderPointer) throws {
    self = try state.readChecked(Parts.self) { parts in
      parts.indexes.allSatisfy { $0.length >= 0 && !$0.location.addingReportingOverflow($0.length).overflow }
        ? nil : "A stored range has a negative length, or ends beyond Int.max."
    }
  }
}
