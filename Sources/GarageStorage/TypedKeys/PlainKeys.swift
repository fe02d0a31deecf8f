internal import GarageCoding
internal import GarageDriver

// The short way to values of the plainest types. What is generic here is compiled into the users' code, where the types
// are known: asking the runtime about them would take longer than the rest.

/// The types whose values take no coder.
@usableFromInline
enum PlainType: UInt8 {
  case other, int, string, bool, double
  case optionalInt, optionalString, optionalBool, optionalDouble

  @inlinable
  @inline(__always)
  init<V>(_ type: V.Type) {
    if V.self == Int.self {
      self = .int
    } else if V.self == String.self {
      self = .string
    } else if V.self == Bool.self {
      self = .bool
    } else if V.self == Double.self {
      self = .double
    } else if V.self == Int?.self {
      self = .optionalInt
    } else if V.self == String?.self {
      self = .optionalString
    } else if V.self == Bool?.self {
      self = .optionalBool
    } else if V.self == Double?.self {
      self = .optionalDouble
    } else {
      self = .other
    }
  }

  fileprivate var kind: PlainValue.Kind {
    switch self {
    case .other: .other
    case .int: .int
    case .string: .string
    case .bool: .bool
    case .double: .double
    case .optionalInt: .optionalInt
    case .optionalString: .optionalString
    case .optionalBool: .optionalBool
    case .optionalDouble: .optionalDouble
    }
  }

  /// Lends what is kept under a key for the value at an address, empty for no value; does nothing where that takes the
  /// coder.
  @usableFromInline
  static func withRecord(
    _ type: PlainType, _ value: UnsafeRawPointer, _ name: UnsafeRawBufferPointer,
    _ body: (_ record: UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard let plain = PlainValue(at: value, type.kind) else { return }
    if case .null = plain { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    try withUnsafeTemporaryAllocation(byteCount: PlainValue.maximumByteCount, alignment: 8) { buffer in
      let count = plain.write(key: KeyLayout.checked(name), to: buffer)
      if count > 0 { try body(UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)) }
    }
  }
}

extension Garage {
  /// As that of ``ReadAccess``, in a transaction of its own.
  @usableFromInline
  func readPlain(
    _ name: UnsafeRawBufferPointer, _ type: PlainType, to place: UnsafeMutableRawPointer
  ) throws -> ReadAccess.PlainOutcome {
    try translatingErrors {
      var outcome = ReadAccess.PlainOutcome.absent
      try beginCall()
      defer { endCall() }
      try store.read { outcome = try ReadAccess.readPlain(name, type, to: place, in: $0) }
      return outcome
    }
  }
}

extension ReadAccess {
  /// What there is under a key.
  @usableFromInline
  enum PlainOutcome: UInt8 {
    case absent, value
    /// It takes the coder to read it, or to say what is wrong with it.
    case coded
  }

  /// Reads a value of a plain type to where there is room for one.
  @usableFromInline
  func readPlain(
    _ name: UnsafeRawBufferPointer, _ type: PlainType, to place: UnsafeMutableRawPointer
  ) throws -> PlainOutcome {
    try ReadAccess.readPlain(name, type, to: place, in: transaction)
  }

  @inline(__always)
  fileprivate static func readPlain(
    _ name: UnsafeRawBufferPointer, _ type: PlainType, to place: UnsafeMutableRawPointer,
    in transaction: any ReadTransaction
  ) throws -> PlainOutcome {
    var outcome = PlainOutcome.absent
    try transaction.withValue(for: name.bytes) { record in
      guard let record else { return }
      if type == .int {
        let isRead = record.withUnsafeBytes {
          PlainValue.readInteger(key: KeyLayout.checked(name), record: $0, to: place)
        }
        outcome = isRead ? .value : .coded
        return
      }
      guard let value = PlainValue(key: KeyLayout.checked(name), record: record, type.kind) else {
        outcome = .coded
        return
      }
      value.initialize(place, type)
      outcome = .value
    }
    return outcome
  }
}

extension WriteAccess {
  /// Writes the record of a plain value, or removes what is there where it is empty.
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
    pending.pointee.hooks.note(namespace, isOutermost: isOutermost)
  }
}

extension PlainValue {
  /// Initializes what stands at `place` with the value, which is of that type.
  fileprivate func initialize(_ place: UnsafeMutableRawPointer, _ type: PlainType) {
    let isOptional = type.rawValue >= PlainType.optionalInt.rawValue
    func initialize<T>(_ value: T) {
      if isOptional {
        place.initializeMemory(as: T?.self, to: value)
      } else {
        place.initializeMemory(as: T.self, to: value)
      }
    }
    switch self {
    case .int(let value): initialize(value)
    case .string(let value): initialize(value)
    case .bool(let value): initialize(value)
    case .double(let value): initialize(value)
    // Nothing is stored for those.
    case .null: break
    }
  }
}
