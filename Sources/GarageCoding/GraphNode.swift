/// What is known of one identity of a graph.
struct GraphNode {
  private var type: Any.Type?
  private var value: Any?
  private var isClass = false
  /// Its place in the plan; -1 where it is not planned.
  var planPosition = -1
  /// The type as which it is being decoded.
  private var active: Any.Type?
  /// What few nodes have.
  private var rare: Rare?

  private final class Rare {
    /// The same record decoded as other types.
    var others: [(type: Any.Type, value: Any)] = []
    /// Why it could not be decoded ahead: whoever asks for it gets the error.
    var failures: [(type: Any.Type, failure: Failure)] = []
    /// Further types as which it is being decoded.
    var alsoActive: [Any.Type] = []
  }

  struct Failure {
    var error: any Error
    /// Whether it must not be lost, even where user code says `try?`.
    var isFinal: Bool
  }

  private mutating func makeRare() -> Rare {
    if let rare { return rare }
    let new = Rare()
    rare = new
    return new
  }

  // MARK: - Its object

  var hasValue: Bool { value != nil }

  /// Whether ``value(_:)`` has an object of that type.
  @inline(__always)
  func hasValue<T>(_ wanted: T.Type, _ facts: Unmanaged<TypeFacts>) -> Bool {
    guard let type else { return false }
    if type == wanted { return true }
    // An object of a subclass serves for its superclass, so that it stays one object.
    if isClass, facts._withUnsafeGuaranteedRef({ $0.isClass }), value is T { return true }
    return rare?.others.contains { $0.type == wanted } ?? false
  }

  /// The object as the type that ``hasValue(_:_:)`` was asked for. By address: a copy of a node costs more than a
  /// look into it.
  @inline(__always)
  static func value<T>(_ node: UnsafePointer<GraphNode>, _ wanted: T.Type) -> T {
    if node.pointee.type == wanted, let value = node.pointee.value { return opened(value) }
    return otherValue(node, wanted)
  }

  /// The value, which is a `T`: a cast would ask whether it is.
  @inline(__always)
  private static func opened<T>(_ value: Any) -> T {
    func open<U>(_ value: U) -> T { unsafeBitCast(value, to: T.self) }
    return _openExistential(value, do: open)
  }

  @inline(never)
  private static func otherValue<T>(_ node: UnsafePointer<GraphNode>, _ wanted: T.Type) -> T {
    if node.pointee.isClass, node.pointee.value is T { return node.pointee.value as! T }
    let other = node.pointee.rare?.others.first { $0.type == wanted }
    return other?.value as! T
  }

  func isDecoded(as wanted: Any.Type) -> Bool {
    type == wanted || rare?.others.contains { $0.type == wanted } ?? false
  }

  /// Whether the value is a mapped object whose own record is still being read, and whether somebody has it.
  private(set) var isUnfinished = false
  var isLent = false

  /// Where the object is of the very type that is being decoded: another one belongs to a wrapper.
  mutating func storeUnfinished(_ object: any MappableObject) {
    guard value == nil, let active, active == Swift.type(of: object) else { return }
    store(object, type: active, isClass: true)
    isUnfinished = true
  }

  /// Forgets an object whose record turned out not to be readable. Whether somebody has it.
  mutating func takeBack() -> Bool {
    guard isUnfinished else { return false }
    (value, type, isUnfinished) = (nil, nil, false)
    return isLent
  }

  @inline(__always)
  mutating func store(_ value: consuming Any, _ facts: Unmanaged<TypeFacts>) {
    let (type, isClass) = facts._withUnsafeGuaranteedRef { ($0.type, $0.isClass) }
    store(value, type: type, isClass: isClass)
  }

  private mutating func store(_ value: consuming Any, type: Any.Type, isClass: Bool) {
    isUnfinished = false
    if self.value == nil {
      self.value = value
      self.type = type
      self.isClass = isClass
    } else if !isDecoded(as: type) {
      makeRare().others.append((type, value))
    }
  }

  mutating func release() {
    value = nil
    rare?.others = []
  }

  // MARK: - On the way to it

  /// Whether there may be a failure.
  var hasFailures: Bool { rare != nil }

  func failure(_ type: Any.Type) -> Failure? { rare?.failures.first { $0.type == type }?.failure }

  mutating func fail(_ type: Any.Type, _ failure: Failure) { makeRare().failures.append((type, failure)) }

  var isActive: Bool { active != nil }

  func isActive(_ wanted: Any.Type, _ facts: TypeFacts) -> Bool {
    guard let active else { return false }
    func meets(_ type: Any.Type) -> Bool { type == wanted || (facts.isClass && type is AnyClass) }
    return meets(active) || rare?.alsoActive.contains(where: meets) ?? false
  }

  mutating func activate(_ type: Any.Type) {
    if let active { makeRare().alsoActive.append(active) }
    active = type
  }

  mutating func deactivate() { active = rare?.alsoActive.popLast() }
}
