/// A coding key that is only a name or a position.
struct PathKey: CodingKey {
  // Small enough to need no memory of its own as `any CodingKey`.
  private enum Form: Hashable { case text(String), index(Int) }
  private let form: Form

  init(stringValue: String) { form = .text(stringValue) }
  init(intValue: Int) { form = .index(intValue) }

  var stringValue: String {
    switch form {
    case .text(let text): text
    case .index(let index): "Index \(index)"
    }
  }
  var intValue: Int? {
    if case .index(let index) = form { index } else { nil }
  }
  static let `super` = PathKey(stringValue: "super")
}
