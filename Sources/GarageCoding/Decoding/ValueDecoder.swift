/// The `Decoder` that user code sees: plain data, small enough to travel inside `any Decoder`.
struct ValueDecoder: Decoder {
  let state: DecoderPointer
  /// The frame this decoder was made for.
  let serial: UInt64
  /// The nested container it reads from; nil for the value that is being decoded.
  let node: Unmanaged<DecodingNode>?

  var codingPath: [any CodingKey] { state.codingPath(node, serial) }

  var userInfo: [CodingUserInfoKey: Any] {
    if serial <= state.pointee.serialBefore { return [:] }
    return state.core.userInfo
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if node == nil, state.pointee.input.frame.pointee.serial == serial {
      try state.requestMap()
      return state.pointee.boxes.container(type, serial, state)
    }
    try request { try $0.requestMap() }
    if node == nil { return state.pointee.boxes.container(type, serial, state) }
    return KeyedDecodingContainer(
      KeyedReader<Key>(state, state.pointee.boxes.keys(type), serial: serial, node: node))
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
    try state.enter(node, serial)
    defer { state.leave(node) }
    guard state.pointee.input.frame.pointee.serial == serial else { throw state.staleContainer([], serial) }
    return try body(state)
  }
}

/// A container that was asked for by itself (`nestedContainer`, `superDecoder`): a value's bounds and its own
/// place in them. Each operation on it swaps that into the decoder's state and out again. When its record is
/// done the node is used again, under another serial.
final class DecodingNode {
  fileprivate(set) var input = DecodingInput()
  fileprivate(set) var codingPath: [any CodingKey] = []
  fileprivate(set) var isActive = false
  /// How deep its value stands; the depth around it while it is active.
  fileprivate var depth = 0
  /// The serial of the container it is now; 0 while it waits to be used again.
  fileprivate(set) var serial: UInt64 = 0
  private var recordSerial: UInt64 = 0

  func close() { serial = 0 }

  fileprivate func open(_ state: DecoderPointer, _ value: Range<Int>, _ path: [any CodingKey]) {
    serial = state.nextSerial()
    depth = state.pointee.depth + 1
    codingPath = path
    recordSerial = state.pointee.record.serial
    input.offsets.truncate(to: 0)
    while let outer = input.frame.pointee.outer { input.frame = outer }
    input.frame.pointee = DecodingFrame(
      serial: serial, start: value.lowerBound, end: value.upperBound, valueEnd: value.upperBound)
    input.node = Unmanaged.passUnretained(self)
  }

  fileprivate func isCurrent(_ state: DecoderPointer, _ serial: UInt64) -> Bool {
    self.serial == serial && recordSerial == state.pointee.record.serial
  }
}

extension UnsafeMutablePointer where Pointee == DecoderState {
  /// Makes a nested container's value the one that is read. Nothing where `node` is nil.
  @inline(__always)
  func enter(_ node: Unmanaged<DecodingNode>?, _ serial: UInt64) throws {
    if let node { try enterNode(node.takeUnretainedValue(), serial) }
  }

  @inline(never)
  private func enterNode(_ node: DecodingNode, _ serial: UInt64) throws {
    guard !node.isActive, node.isCurrent(self, serial) else { throw staleContainer([], serial) }
    node.isActive = true
    swap(&pointee.input, &node.input)
    swap(&pointee.depth, &node.depth)
  }

  @inline(__always)
  func leave(_ node: Unmanaged<DecodingNode>?) {
    if let node { leaveNode(node.takeUnretainedValue()) }
  }

  @inline(never)
  private func leaveNode(_ node: DecodingNode) {
    swap(&pointee.input, &node.input)
    swap(&pointee.depth, &node.depth)
    node.isActive = false
  }

  func decoder(_ node: Unmanaged<DecodingNode>) -> ValueDecoder {
    ValueDecoder(state: self, serial: node.takeUnretainedValue().serial, node: node)
  }

  /// The frame of a nested container, wherever it is at the moment, or the current one.
  func frame(_ node: Unmanaged<DecodingNode>?) -> DecodingFrame {
    guard let node = node?.takeUnretainedValue(), !node.isActive else { return pointee.input.frame.pointee }
    return node.input.frame.pointee
  }

  /// A node for the value at the cursor, which is left behind it.
  func makeNode() throws -> Unmanaged<DecodingNode> {
    guard pointee.depth < RecordFormat.maximumDepth else {
      throw fail(GraphCodingError.nestingTooDeep(depth: pointee.depth))
    }
    let end = try BodyScanner.skipValue(pointee.base, pointee.cursor, end: pointee.input.frame.pointee.end)
    let node = core.takeNode()
    node.takeUnretainedValue().open(self, pointee.cursor..<end, childPath)
    pointee.cursor = end
    return node
  }

  /// A node for a value elsewhere that stands for the one of `key`, which is not there.
  func makeNode(_ value: Range<Int>, _ key: any CodingKey) -> Unmanaged<DecodingNode> {
    let node = core.takeNode()
    node.takeUnretainedValue().open(self, value, codingPath + [key])
    return node
  }

  /// A node for a value that is not there: it reads null.
  func makeNullNode(_ key: any CodingKey) -> Unmanaged<DecodingNode> {
    // Offsets count from the record's first byte, wherever they lead.
    let start = nullByte - pointee.base
    let node = core.takeNode()
    node.takeUnretainedValue().open(self, start..<(start + 1), codingPath + [key])
    return node
  }
}

/// A null in memory of its own.
nonisolated(unsafe) private let nullByte: UnsafeRawPointer = {
  let byte = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
  byte.storeBytes(of: BodyTag.null, as: UInt8.self)
  return UnsafeRawPointer(byte)
}()
