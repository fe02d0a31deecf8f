/// What is known of one identity of a graph.
struct GraphNode {
  // What each link asks for stands first, mostly in one cache line.
  /// The object that it was decoded to, if that is an instance of a class. It also serves where a superclass is asked for.
  private var placedInstance: PlacedInstance?
  /// Whether the value is a mapped object whose own record is still being read, and (`isLent`) whether it was handed out
  /// meanwhile.
  private(set) var isUnfinished = false
  var isLent = false
  private var position: Int32 = -1
  /// What it was decoded to, in the walk's arena.
  private var object: PlacedObject?
  /// The type as which it is being decoded.
  private var active: Any.Type?
  /// What few nodes have.
  private var rare: Rare?

  private final class Rare {
    /// The same record decoded as other types.
    var others: [PlacedObject] = []
    /// Why it could not be decoded ahead, for when it is asked for.
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

  /// Its place in the plan; -1 where it is not planned.
  var planPosition: Int {
    get { Int(position) }
    set { position = Int32(clamping: newValue) }
  }

  // MARK: - Its object

  var hasValue: Bool { object != nil }

  /// Whether ``value(_:_:)`` has an object of that type.
  @inline(__always)
  func hasValue<T>(_ wanted: T.Type, _ facts: Permanent<TypeFacts>) -> Bool {
    guard let object else { return false }
    return object.type == wanted || hasOther(wanted, facts)
  }

  @inline(never)
  private func hasOther<T>(_ wanted: T.Type, _ facts: Permanent<TypeFacts>) -> Bool {
    // An object of a subclass serves for its superclass, so that it stays one object.
    if let instance, facts.with({ $0.isClass }), instance is T { return true }
    return rare?.others.contains { $0.type == wanted } ?? false
  }

  /// The object, where it is an instance of just this class and wholly read.
  @inline(__always)
  func complete(as wanted: Any.Type) -> AnyObject? {
    guard let placedInstance, !isUnfinished, let object, object.type == wanted else { return nil }
    return placedInstance.object
  }

  /// The address of the object, if that is an instance of a class, to have its memory loaded ahead.
  @inline(__always)
  var instanceAddress: UnsafeRawPointer? { placedInstance?.address }

  /// The object, where it is an instance of a class.
  private var instance: AnyObject? { placedInstance?.object }

  /// The object as the type that ``hasValue(_:_:)`` was asked for. By address: a copy of a record costs more than a
  /// look into it.
  @inline(__always)
  static func value<T>(_ record: UnsafePointer<GraphNode>, _ wanted: T.Type) -> T {
    if let object = record.pointee.object, object.type == wanted {
      return object.place[as: T.self]
    }
    return otherValue(record, wanted)
  }

  @inline(never)
  private static func otherValue<T>(_ record: UnsafePointer<GraphNode>, _ wanted: T.Type) -> T {
    guard let rare = record.pointee.rare, !rare.others.isEmpty else {
      // There is nothing else that the type was found for, so the object is one of a subclass.
      let instance = record.pointee.instance!
      assert(instance is T, "\(Swift.type(of: instance)) was taken for \(wanted)")
      return Reinterpretation.value(heldBy: instance, as: wanted)
    }
    if let instance = record.pointee.instance as? T { return instance }
    return rare.others.first { $0.type == wanted }!.place[as: T.self]
  }

  func isDecoded(as wanted: Any.Type) -> Bool {
    object?.type == wanted || rare?.others.contains { $0.type == wanted } ?? false
  }

  /// Keeps the object if it is of the very type that is being decoded. One of another type belongs to a wrapper.
  mutating func storeUnfinished<T: MappableObject>(_ object: T, _ arena: inout PlaceArena) {
    guard self.object == nil, let active, active == Swift.type(of: object) else { return }
    let place = arena.place(for: AnyObject.self)
    place.initializeMemory(as: AnyObject.self, to: object)
    let new = PlacedObject(place: place, type: active)
    self.object = new
    placedInstance = PlacedInstance(new)
    isUnfinished = true
  }

  /// Whether that is its object, kept by ``storeUnfinished(_:_:)``.
  func holdsUnfinished(_ object: AnyObject) -> Bool { isUnfinished && instance === object }

  /// Forgets an object whose record turned out not to be readable. Returns whether it was handed out before.
  mutating func takeBack() -> Bool {
    guard isUnfinished else { return false }
    isUnfinished = false
    object?.destroy()
    object = nil
    placedInstance = nil
    return isLent
  }

  /// Takes the object at a place of the arena over, which is one of these facts' type.
  @inline(__always)
  mutating func store(_ place: UnsafeMutableRawPointer, _ facts: Permanent<TypeFacts>) {
    let (type, isClass) = facts.with { ($0.type, $0.isClass) }
    let new = PlacedObject(place: place, type: type)
    isUnfinished = false
    if object == nil {
      object = new
      placedInstance = isClass ? PlacedInstance(new) : nil
    } else {
      storeOther(new)
    }
  }

  @inline(never)
  private mutating func storeOther(_ new: PlacedObject) {
    if isDecoded(as: new.type) { return new.destroy() }
    makeRare().others.append(new)
  }

  /// The name of the type that it was decoded as, or is being decoded as; nil where it was not.
  var typeName: String? { (object?.type ?? active).map { String(describing: $0) } }

  /// Lets the objects go.
  mutating func release() {
    isLent = false
    if let object {
      self.object = nil
      placedInstance = nil
      object.destroy()
    }
    if let rare { Self.release(rare) }
  }

  @inline(never)
  private static func release(_ rare: Rare) {
    let others = rare.others
    rare.others = []
    for other in others { other.destroy() }
  }

  // MARK: - On the way to it

  /// Whether there may be a failure.
  var hasFailures: Bool { rare != nil }

  func failure(_ type: Any.Type) -> Failure? { rare?.failures.first { $0.type == type }?.failure }

  mutating func fail(_ type: Any.Type, _ failure: Failure) { makeRare().failures.append((type, failure)) }

  mutating func forgetFailures() { rare?.failures = [] }

  var isActive: Bool { active != nil }

  func isActive(_ wanted: Any.Type, _ facts: TypeFacts) -> Bool {
    guard let active else { return false }
    // Another class may be one around the object, which asks for it.
    func meets(_ type: Any.Type) -> Bool {
      if type == wanted { return true }
      guard facts.isClass, let type = type as? AnyClass, let wanted = wanted as? AnyClass else {
        return false
      }
      return isClass(type, orSubclassOf: wanted) || isClass(wanted, orSubclassOf: type)
    }
    return meets(active) || rare?.alsoActive.contains(where: meets) ?? false
  }

  mutating func activate(_ type: Any.Type) {
    if let active { makeRare().alsoActive.append(active) }
    active = type
  }

  mutating func deactivate() { active = rare?.alsoActive.popLast() }
}
