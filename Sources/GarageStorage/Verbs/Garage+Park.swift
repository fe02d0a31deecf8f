internal import GarageCoding

extension GarageWriting {
  /// Parks an object and everything it refers to, as they are now, under the object's `id`.
  ///
  /// Objects parked before under the same identities are replaced. Objects inside `object` that are `Identifiable` themselves
  /// are parked as records of their own, wherever they stand in it. So an older copy inside an object that you park overwrites
  /// the newer record. ``Reference`` and ``Inlined`` prevent that.
  ///
  /// The whole graph is written at once. An error anywhere in the graph leaves the store as it was.
  ///
  /// Values that would lose something when they are read back are refused: an object that could not be found under its `id`,
  /// and elements of a set, or keys of a dictionary, that would become equal.
  ///
  /// - Throws: ``GarageError/unsupportedIDConformance(_:)``, ``GarageError/unretrievableObject(type:identifier:reason:)``,
  ///   ``GarageError/nestedWrite`` inside a closure of `write`, `EncodingError` and other errors of `encode(to:)`,
  ///   ``GarageError/storage(_:)``.
  public func park<T: Codable & Identifiable>(_ object: T) throws {
    try parkGraph(of: object)
  }

  /// Parks a value that is identified by its content. Parking the same value again gives the same record.
  ///
  /// A type that is also `Identifiable` is identified by its `id` instead. Retrieve the value by
  /// ``GarageReading/identifier(for:)``.
  ///
  /// - Throws: as ``park(_:)-(T)`` of an `Identifiable` object.
  public func park<T: Codable & Hashable>(_ value: T) throws {
    try parkGraph(of: value)
  }

  /// Parks an object under its `id`.
  ///
  /// - Throws: as ``park(_:)-(T)`` of an `Identifiable` object.
  public func park<T: Codable & Hashable & Identifiable>(_ object: T) throws {
    try parkGraph(of: object)
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// If several objects have the same identity, the one nearest to the sequence is parked; at equal distance, the later one.
  /// The records of all objects are in memory until they are written. So park millions of objects in several calls, inside one
  /// ``Garage/write(retrying:_:)`` if they belong together.
  ///
  /// - Throws: as ``park(_:)-(T)``.
  public func parkAll<S: Sequence>(_ objects: S) throws where S.Element: Codable & Identifiable {
    try parkGraph(ofAll: objects)
  }

  /// Parks values that are identified by their content, all in one write.
  ///
  /// - Throws: as ``park(_:)-(T)``.
  public func parkAll<S: Sequence>(_ values: S) throws where S.Element: Codable & Hashable {
    try parkGraph(ofAll: values)
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// - Throws: as ``park(_:)-(T)``.
  public func parkAll<S: Sequence>(_ objects: S) throws where S.Element: Codable & Hashable & Identifiable {
    try parkGraph(ofAll: objects)
  }

  /// Parks an object whose type is only known at run time.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)`` if the type is not `Codable`, or neither `Identifiable` nor `Hashable`;
  ///   and as ``park(_:)-(T)``.
  public func park(any object: Any) throws {
    try parkGraph(ofAny: [codable(object)])
  }

  /// Parks objects whose types are only known at run time, all in one write.
  ///
  /// - Throws: as ``park(any:)``.
  public func parkAll<S: Sequence>(any objects: S) throws {
    try parkGraph(ofAny: objects.map { try codable($0) })
  }

  private func parkGraph<T: Codable>(of object: T) throws { try put(encoded: garage.graph(of: object)) }

  private func parkGraph<S: Sequence>(ofAll objects: S) throws where S.Element: Codable {
    try put(encoded: garage.graph(ofAll: objects))
  }

  private func parkGraph(ofAny roots: [any Encodable]) throws { try put(encoded: garage.graph(ofAny: roots)) }

  func put(encoded graph: EncodedGraph) throws {
    if graph.records.isEmpty { return }
    try withByteAccess(of: graph) { try $0.put(graph) }
  }

  /// Writes several graphs, one after another.
  func put(encoded graphs: [EncodedGraph]) throws {
    if graphs.count == 1 { return try put(encoded: graphs[0]) }
    let byteCount = graphs.reduce(0) { $0 + $1.bytes.count }
    try withByteAccess(
      byteCount: byteCount, preparing: { for graph in graphs { try garage.meetTypes(of: graph) } }
    ) { try $0.put(graphs) }
  }
}

// Encoding runs users' code, so it comes first, and writing afterwards.
extension Garage {
  /// The records of an object and of all objects that it refers to.
  func graph<T: Codable>(of object: T) throws -> EncodedGraph {
    if T.self is any NoObject.Type { return try graph(ofAny: [codable(object)]) }
    return try encoding { try $0.encode(root: object, dates: dateEncodingStrategy) }
  }

  /// The records of several objects, and of all objects that they refer to.
  func graph<S: Sequence>(ofAll objects: S) throws -> EncodedGraph where S.Element: Codable {
    if S.Element.self is any NoObject.Type {
      return try graph(ofAny: objects.map { try codable($0) })
    }
    return try encoding { try $0.encode(Array(objects), dates: dateEncodingStrategy) }
  }

  /// The records of objects of several types, and of all objects that they refer to.
  func graph(ofAny roots: [any Encodable]) throws -> EncodedGraph {
    try encoding { try $0.encode(roots, dates: dateEncodingStrategy) }
  }
}

// MARK: - Values that cannot be parked

// Declared only for the compiler's messages. Without these declarations the compiler would suggest `park(any:)`, which throws
// for such values.
extension GarageWriting {
  /// Not available: only values with an identity can be parked.
  @available(
    *, unavailable,
    message:
      "a value to be parked is Codable, and Identifiable or Hashable: conform its type to these, or park an object that holds it"
  )
  @_disfavoredOverload
  public func park<T>(_ object: T) throws {}

  /// Not available: a reference names an object but is not one.
  @available(
    *, unavailable,
    message: "a reference names an object, and is none: park the object, or one that holds the reference"
  )
  public func park<T>(_ reference: Reference<T>) throws {}

  /// Not available: nil cannot be parked.
  @available(*, unavailable, message: "an optional cannot be parked: unwrap it first")
  @_disfavoredOverload
  public func park<T>(_ object: T?) throws {}

  /// Not available: only values with an identity can be parked.
  @available(
    *, unavailable,
    message:
      "values to be parked are Codable, and Identifiable or Hashable: conform their type to these, or park an object that holds them; parkAll(any:) takes values of several types"
  )
  @_disfavoredOverload
  public func parkAll<S: Sequence>(_ objects: S) throws {}
}

// MARK: - Optionals and references

/// An optional, which may hold an object, or a reference, which names one. Both are `Hashable`, so the compiler accepts them.
protocol NoObject {}

extension Optional: NoObject {}
extension Reference: NoObject {}

/// An optional. It cannot be parked itself, but the object in it can. `Optional` is `Hashable`, so the compiler accepts one.
protocol OptionalObject {
  /// The object in the optional.
  var object: Any? { get }
}

extension Optional: OptionalObject {
  var object: Any? { self }
}

/// The object to be parked, deleted or identified.
///
/// - Throws: ``GarageError/missingConformance(_:)`` if it is not `Codable`, if it is nil, and if it is a reference.
func codable(_ object: Any) throws -> any Codable {
  if let optional = object as? any OptionalObject, let object = optional.object { return try codable(object) }
  guard let object = object as? any Codable, !(object is any OptionalObject), !(object is any LazyReference)
  else {
    throw GarageError.missingConformance(String(describing: type(of: object)))
  }
  return object
}
