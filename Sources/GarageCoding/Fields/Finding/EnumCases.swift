/// The cases of an enum without payloads: a condition can be tried on each of them.
package enum EnumCases {
  /// All of them; nil for any other type.
  package static func all(of type: Any.Type) -> [Any]? {
    guard let count = TypeAddress(type).plainCaseCount, count <= 256 else { return nil }
    return (0..<count).compactMap { TypeAddress(type).plainCase($0, of: type) }
  }

  private static let memo = TypeMemo<Bool>()

  /// Whether their order is that of the scalars that they are written as.
  static func areOrderedAsWritten(_ type: Any.Type) -> Bool {
    func find<T: Comparable & Encodable>(_ type: T.Type) -> Bool {
      let cases = all(of: type)?.compactMap { $0 as? T } ?? []
      let written = cases.compactMap { try? GraphEncoder.fieldValue(of: $0) }
      guard cases.count == written.count else { return false }
      return cases.indices.allSatisfy { left in
        cases.indices.allSatisfy { right in
          (cases[left] < cases[right]) == (written[left] < written[right])
        }
      }
    }
    return memo.answer(for: type) { (type as? any (Comparable & Encodable).Type).map { find($0) } ?? false }
  }
}
