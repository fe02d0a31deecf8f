package import GarageCoding
internal import GarageDriver

// The short way for plain values, whose records are read and written without a coder. The generic code here is compiled into
// the users' code, where the types are known: asking the runtime for them would take longer than the rest.

extension KeyName {
  /// Lends the name of a key and the record of its value, if the value is a plain one. The record is empty for no value.
  /// Returns false, and lends nothing, if the coder is needed.
  @inlinable
  @inline(__always)
  static func withPlainRecord<K: KeyType>(
    of value: K.ValueType, _ key: K,
    _ body: (_ record: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    let kind = PlainValue.Kind(K.ValueType.self)
    if kind == .other { return false }
    var isLent = false
    _ = try KeyName.withShort(key) { name in
      try withUnsafePointer(to: value) { value in
        try PlainValue.withRecord(kind, UnsafeRawPointer(value), name) { record in
          isLent = true
          try body(record, name)
        }
      }
    }
    return isLent
  }
}

extension PlainValue {
  /// The result of looking under a key.
  @usableFromInline
  enum Found: UInt8 {
    case nothing, value
    /// The coder is needed, to read the value or to say what is wrong with it.
    case coded
  }

  /// Lends the record for a key of the value at an address, empty for no value. Does nothing if the coder is needed.
  @usableFromInline
  static func withRecord(
    _ kind: Kind, _ value: UnsafeRawPointer, _ name: UnsafeRawBufferPointer,
    _ body: (_ record: UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard let plain = PlainValue(at: value, kind) else { return }
    if case .null = plain { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    try withUnsafeTemporaryAllocation(byteCount: PlainValue.maximumByteCount, alignment: 8) { buffer in
      let count = plain.write(key: KeyLayout.checked(name), to: buffer)
      if count > 0 { try body(UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)) }
    }
  }

  @inline(__always)
  fileprivate static func read(
    _ name: UnsafeRawBufferPointer, _ kind: Kind, to place: UnsafeMutableRawPointer,
    in transaction: any ReadTransaction
  ) throws -> Found {
    var found = Found.nothing
    try transaction.withValue(for: name.bytes) { record in
      guard let record else { return }
      if kind == .int {
        let isRead = record.withUnsafeBytes {
          PlainValue.readInteger(key: KeyLayout.checked(name), record: $0, to: place)
        }
        found = isRead ? .value : .coded
        return
      }
      guard let value = PlainValue(key: KeyLayout.checked(name), record: record, kind) else {
        found = .coded
        return
      }
      value.initialize(place, kind)
      found = .value
    }
    return found
  }
}

extension Garage {
  /// Reads a plain value in a transaction of its own. It does as ``GarageReading/withReadAccess(_:)`` does, without its
  /// closures.
  @usableFromInline
  func readPlainOnce(
    _ name: UnsafeRawBufferPointer, _ kind: PlainValue.Kind, to place: UnsafeMutableRawPointer
  ) throws -> PlainValue.Found {
    try translatingErrors {
      var found = PlainValue.Found.nothing
      try repeatableRead { found = try PlainValue.read(name, kind, to: place, in: $0) }
      return found
    }
  }
}

extension ReadAccess {
  /// Reads a plain value into memory that has room for one.
  @usableFromInline
  func readPlain(
    _ name: UnsafeRawBufferPointer, _ kind: PlainValue.Kind, to place: UnsafeMutableRawPointer
  ) throws -> PlainValue.Found {
    try PlainValue.read(name, kind, to: place, in: transaction)
  }
}

extension WriteAccess {
  /// Writes the record of a plain value, or removes the stored one if the record is empty.
  @usableFromInline
  func putPlain(
    _ record: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer, _ namespace: any Namespace.Type,
    isOutermost: Bool
  ) throws {
    if record.isEmpty {
      try transaction.remove(name.bytes)
    } else {
      try transaction.put(record.bytes, for: name.bytes)
    }
    pending.hooks.note(namespace, isOutermost: isOutermost)
  }
}
