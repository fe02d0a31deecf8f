/// Names of types that mean the same in every process.
enum TypeName {
  /// The name of a type that is the same in every process: the runtime's qualified name, without the parts that change between
  /// launches and platforms.
  ///
  /// | the runtime says | the stable name |
  /// |---|---|
  /// | `M.Outer.Inner` | the same |
  /// | `M.(unknown context at $55d0c8a4).Secret` (private or file-private) | `M.Secret` |
  /// | `M.Suite.(unknown context at $1).(unknown context at $2).Local` (local) | `M.Suite.Local` |
  /// | `M.Box<M.(unknown context at $55d0c8a4).Secret>` | `M.Box<M.Secret>` |
  /// | `(extension in M):Swift.Int.Kind` | the same |
  /// | `M.Box<FoundationEssentials.UUID>` (Linux) | `M.Box<Foundation.UUID>` (as on Apple platforms) |
  ///
  /// Nothing of the address remains, so a type keeps its records when it becomes public.
  static func stable(of type: Any.Type) -> String { stable(reflected: String(reflecting: type)) }

  static func stable(reflected name: String) -> String {
    let name = Array(name.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(name.count)
    var rest = name[...]
    var isQuoted = false  // inside a raw identifier: `any text`
    var startsName = true  // where a module's name may stand
    while let byte = rest.first {
      if byte == UInt8(ascii: "`") { isQuoted.toggle() }
      if !isQuoted {
        if let end = endOfUnknownContext(rest) {
          rest = rest[end...]
          continue
        }
        if startsName, let end = endOfFoundationPart(rest) {
          result += Array("Foundation.".utf8)
          rest = rest[end...]
          startsName = false
          continue
        }
      }
      result.append(byte)
      rest = rest.dropFirst()
      startsName = !isQuoted && "<(, :[>".utf8.contains(byte)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The end of `(unknown context at $55d0c8a4).`, if the text begins with it.
  private static func endOfUnknownContext(_ text: ArraySlice<UInt8>) -> Int? {
    let opening = "(unknown context at $".utf8
    guard text.first == UInt8(ascii: "("), text.starts(with: opening) else { return nil }
    let address = text.dropFirst(opening.count).drop { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        true
      default: false
      }
    }
    guard address.starts(with: ").".utf8) else { return nil }
    return address.startIndex + 2
  }

  /// The end of the name of a module that is part of Foundation on other platforms, if the text begins with one.
  private static func endOfFoundationPart(_ text: ArraySlice<UInt8>) -> Int? {
    guard text.first == UInt8(ascii: "F") else { return nil }
    for module in ["FoundationEssentials.", "FoundationInternationalization."]
    where text.starts(with: module.utf8) {
      return text.startIndex + module.utf8.count
    }
    return nil
  }
}
