/// The `Decoder` that user code sees: plain data, small enough to travel inside `any Decoder`.
struct ValueDecoder: Decoder {
  let state: DecoderPointer
  /// The frame this decoder was made for.
  let serial: UInt64
  /// The nested container it reads from; nil for the value that is being decoded.
  let node: DecodingNode?

  var codingPath: [any CodingKey] { node?.codingPath ?? state.codingPath }

  var userInfo: [CodingUserInfoKey: Any] { state.core.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try request { try $0.requestMap() }
    if node == nil { return state.core.boxes.container(type, serial, state) }
    return KeyedDecodingContainer(
      KeyedReader<Key>(state, state.core.boxes.keys(type), serial: serial, node: node))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try request { try $0.requestArray() }
    return UnkeyedReader(state: state, serial: serial, node: node)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    SingleValueReader(state: state, serial: serial, node: node)
  }

  /// Runs `body` on this decoder's own value.
  func request<R>(_ body: (DecoderPointer) throws -> R) throws -> R {
    try node?.enter(state)
    defer { node?.leave(state) }
    guard state.pointee.input.frame.serial == serial else { throw state.staleContainer([]) }
    return try body(state)
  }
}

/// A container that was asked for by itself (`nestedContainer`, `superDecoder`): a value's bounds and its own
/// place in them. Each operation on it swaps that into the decoder's state and out again.
final class DecodingNode {
  private var input: DecodingInput
  private let recordSerial: UInt64
  private var isActive = false
  let codingPath: [any CodingKey]
  let serial: UInt64

  /// A node for the value at the cursor.
  init(_ state: DecoderPointer, end: Int) {
    serial = state.nextSerial()
    codingPath = state.childPath
    recordSerial = state.pointee.record.serial
    input = DecodingInput()
    input.frame.serial = serial
    input.frame.start = state.pointee.cursor
    input.frame.end = end
  }

  deinit { input.offsets.deallocate() }

  /// Makes this node's value the one that the decoder reads.
  func enter(_ state: DecoderPointer) throws {
    guard !isActive, state.pointee.record.serial == recordSerial else { throw state.staleContainer([]) }
    isActive = true
    swap(&state.pointee.input, &input)
  }

  func leave(_ state: DecoderPointer) {
    swap(&state.pointee.input, &input)
    isActive = false
  }

  func decoder(_ state: DecoderPointer) -> ValueDecoder { ValueDecoder(state: state, serial: serial, node: self) }

  /// The frame, wherever it is at the moment.
  func frame(_ state: DecoderPointer) -> DecodingFrame { isActive ? state.pointee.input.frame : input.frame }
}
