// Mapped objects that stand inline and name their class, because the class of the property is a superclass of it.

extension DecoderPointer {
  /// The class that the mapped object at the cursor names; nil where it is that of the property.
  ///
  /// - Throws: also ``UnregisteredClass``.
  @inline(never)
  func namedClass(_ facts: TypeFacts) throws -> TypeFacts? {
    guard let name = try className() else { return nil }
    let tag = TypeTag(name: name).digest
    if facts.isNamed(by: tag) { return nil }
    guard let type = walk.knownClass(tag: tag) else {
      throw UnregisteredClass(tag: name, type: facts.name, path: childPath)
    }
    // Where the named class is no subclass (any more), the object is read as one of the property's class.
    guard let own = type as? AnyClass, let wanted = facts.type as? AnyClass,
      isClass(own, orSubclassOf: wanted)
    else { return nil }
    return types.facts(of: type).0.object
  }

  /// Reads the mapped object at the cursor as one of its own class.
  func readNamed<T: Decodable>(_ own: TypeFacts, _ type: T.Type) throws -> T? {
    func read<C: Decodable>(_ type: C.Type) throws -> any Decodable { try readInlineTarget(type) }
    guard let concrete = own.decodable else { return nil }
    return try read(concrete) as? T
  }

  /// The name of a class in the map at the cursor, which stays there; nil where it has none.
  private func className() throws -> String? {
    let end = frame.end
    let start = try InlinePrefix.skip(base, self.cursor, end: end)
    guard
      let header = try ContainerHeader.read(
        base, start, end: end, small: BodyTag.mapSmall, large: BodyTag.mapLarge)
    else { return nil }
    guard let offset = try offsetOfClass(header) else { return nil }
    let cursor = self.cursor
    defer { self.cursor = cursor }
    self.cursor = offset
    let first = try tag()
    let isText =
      first & 0xC0 == BodyTag.shortString || first == BodyTag.string8 || first == BodyTag.string32
    return isText ? try readString() : nil
  }

  private func offsetOfClass(_ header: ContainerHeader) throws -> Int? {
    if header.second > 0 {
      let isNamed = try shape(at: header.second - 1).with {
        $0.keys.first == MappingPlan.classKey
      }
      return isNamed ? header.content : nil
    }
    // A map without a shape was written from a `RecordValue`, as after an upgrade. The class is then one of its entries.
    var at = header.content
    while at < header.end {
      let range = try BodyScanner.readKey(base, &at, end: header.end)
      let key = UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
      if key.elementsEqual(MappingPlan.classKey.utf8) { return at }
      at = try BodyScanner.skipValue(base, at, end: header.end)
    }
    return nil
  }
}

extension GraphWalk {
  /// The class of a mapped object that is identified by its content, and whose record has another tag than the wanted class:
  /// either a subclass's, whose object is stored once for both, or that of another type which is read as this one.
  func mappedClass(_ facts: TypeFacts, _ tag: UInt64, _ key: RecordKey) throws -> TypeFacts {
    if facts.kind != .interned || facts.isNamed(by: tag) { return facts }
    guard let type = knownClass(tag: tag) else {
      throw GraphCodingError.unregisteredSubclass(
        tag: try tagName(tag) ?? "an unknown class", type: facts.name, identifier: key.text)
    }
    guard let own = type as? AnyClass, let wanted = facts.type as? AnyClass,
      isClass(own, orSubclassOf: wanted)
    else { return facts }
    return state.types.facts(of: type).0.object
  }
}
