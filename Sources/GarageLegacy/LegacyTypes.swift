internal import GarageCoding

/// Finds the app's types by the names in the store.
struct LegacyTypes {
  struct Known {
    let type: any Codable.Type
    let name: String
    /// Whether its objects are identified by something other than their content.
    let isIdentified: Bool
    let isSyncable: Bool
  }

  private var byName: [String: Known] = [:]
  /// Unqualified names that several types share.
  private var ambiguous: Set<String> = []
  let all: [any Codable.Type]

  init(_ types: [any Codable.Type], names: [String: any Codable.Type]) throws {
    var all: [any Codable.Type] = []
    for type in types + names.sorted(by: { $0.key < $1.key }).map(\.value)
    where !all.contains(where: { $0 == type }) { all.append(type) }
    self.all = all
    for type in all {
      let known = try LegacyTypes.known(type)
      let tag = try TypeTag.of(type).name
      for name in Set([known.name, String(reflecting: type), tag]) {
        if byName.updateValue(known, forKey: name) != nil { ambiguous.insert(name) }
      }
    }
    for (name, type) in names {
      byName[name] = try LegacyTypes.known(type)
      ambiguous.remove(name)
    }
  }

  private static func known(_ type: any Codable.Type) throws -> Known {
    let description = try TypeDescription.of(type)
    return Known(
      type: type, name: description.name, isIdentified: description.identification == .identifier,
      isSyncable: type is any Syncable.Type)
  }

  /// The type that `Person`, `Module.Person` or the name of an Objective-C class stands for.
  func type(named name: String) -> Known? {
    if let known = byName[name], !ambiguous.contains(name) { return known }
    let unqualified = String(
      name[(name.lastIndex(of: ".").map { name.index(after: $0) } ?? name.startIndex)...])
    return ambiguous.contains(unqualified) ? nil : byName[unqualified]
  }

  /// The reason why no type has this name.
  func reasonForNone(named name: String) -> String {
    let unqualified = name.split(separator: ".").last.map(String.init) ?? name
    if ambiguous.contains(unqualified) {
      return "several types are called \"\(unqualified)\": say in names: which one \"\(name)\" is"
    }
    return "no type of the app is called \"\(name)\": give it in types:, or in names: under its old name"
  }
}
