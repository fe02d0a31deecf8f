// The types here are `@unchecked Sendable` because they hold a `GraphMemory`. Nothing changes that, but as a subclass of
// `ManagedBuffer` it cannot be declared `Sendable`.

/// A graph as records, ready to be written.
public struct EncodedGraph: @unchecked Sendable {
  /// One record: where its key and its bytes stand in the graph's bytes.
  public struct Record: Sendable {
    /// The prefix byte, the identity tag (8 bytes, big-endian) and the identifier's key form, in
    /// ``EncodedGraph/bytes``.
    public var key: Range<Int>
    /// The record itself, in ``EncodedGraph/bytes``.
    public var value: Range<Int>
    /// Digests of the tags under which older programs parked the same object: whoever writes the record
    /// removes those records.
    public var formerTags: [UInt64]
    /// The object's sync status, for types that have one. The record holds it too.
    public var syncStatus: SyncStatus?
  }

  /// How many roots there are, each identity once. Their records come first.
  let rootCount: Int
  let memory: GraphMemory
  package let texts: GraphTexts
  /// Objects that references in the graph were made from, because they stood inline: they are parked too, if they have no
  /// record.
  package internal(set) var inlineTargets: [InlineTarget] = []
  /// Whether several records may be of one identity: then the last of them counts.
  package internal(set) var mayRepeat = false
  /// Whether the key of each record is known to stand behind that of the one before: no more need be compared.
  package internal(set) var isInKeyOrder = false

  init(rootCount: Int, _ memory: GraphMemory, _ texts: GraphTexts) {
    self.rootCount = rootCount
    self.memory = memory
    self.texts = texts
  }

  /// The records, nearest to the roots first.
  public var records: Records { Records(memory: memory, texts: texts) }

  /// The records' keys and values, one behind the other, with up to a kilobyte of zeros before large ones.
  public var bytes: Bytes { Bytes(memory: memory) }

  /// Every type tag that a key, header or reference table names by digest.
  public var tags: [TypeTag] { texts.tags }

  /// Every shape that a body names by digest, with its text.
  public var shapes: [(digest: UInt64, text: [UInt8])] { texts.shapes }

  /// Where the keys are: among the bytes.
  public var keys: Bytes { bytes }

  /// The roots' identities in the order in which they were given, each once. Made anew each time from the records.
  public var roots: [RecordIdentity] { records.prefix(rootCount).map(identity) }

  /// The identity of one of the records.
  package func identity(of record: Record) -> RecordIdentity {
    bytes.withUnsafeBytes { bytes in
      let key = EncodedGraph.key(of: record, in: bytes)
      let value = UnsafeRawBufferPointer(rebasing: bytes[record.value])
      let whole = (try? ParsedRecord(key, value))?.wholeIdentifier.map { value[$0] } ?? key.identifier[...]
      return RecordIdentity(tag: key.tag, identifier: Identifier(unchecked: Array(whole)))
    }
  }

  /// How many bytes stand before what coders know of a key.
  static var keyPrefixByteCount: Int { 1 }

  /// The key of one of the records, among the graph's bytes.
  package static func key(of record: Record, in bytes: UnsafeRawBufferPointer) -> RecordKey {
    let start = record.key.lowerBound + keyPrefixByteCount
    return RecordKey(UnsafeRawBufferPointer(rebasing: bytes[start..<record.key.upperBound]))
  }

  /// Whether the key of a record stands before that of another.
  @inline(__always)
  static func isBefore(_ first: RecordPlace, _ second: RecordPlace, in bytes: UnsafeRawBufferPointer) -> Bool
  {
    compareBytes(
      UnsafeRawBufferPointer(rebasing: bytes[first.key..<first.value]),
      UnsafeRawBufferPointer(rebasing: bytes[second.key..<second.value])) < 0
  }

  /// Copies of the records, and of the bytes of their keys, to find them by.
  package var recordsByKey: [(key: [UInt8], record: [UInt8])] {
    bytes.withUnsafeBytes { bytes in
      records.map { (EncodedGraph.key(of: $0, in: bytes).bytes, Array(bytes[$0.value])) }
    }
  }
}

extension EncodedGraph {
  /// The records of a graph.
  public struct Records: RandomAccessCollection, @unchecked Sendable {
    fileprivate let memory: GraphMemory
    fileprivate let texts: GraphTexts

    /// 0.
    public var startIndex: Int { 0 }
    /// How many records there are.
    public var endIndex: Int { memory.content.recordCount }

    /// The record at a position, the roots' first.
    public subscript(position: Int) -> Record {
      let content = memory.content
      precondition(position >= 0 && position < content.recordCount, "a graph has no record \(position)")
      let place = content.places[position]
      return Record(
        key: place.key..<place.value, value: place.value..<place.end,
        formerTags: place.formerTags < 0 ? [] : texts.formerTags[Int(place.formerTags)],
        syncStatus: place.syncStatus)
    }
  }

  /// Where the key and the bytes stand of the record at a position, without the rest of what there is to know.
  package func place(ofRecord position: Int) -> (key: Range<Int>, value: Range<Int>) {
    let content = memory.content
    precondition(position >= 0 && position < content.recordCount, "a graph has no record \(position)")
    let place = content.places[position]
    return (place.key..<place.value, place.value..<place.end)
  }

  /// Whether the record at a position has neither a sync status nor former tags.
  package func isPlain(_ position: Int) -> Bool {
    let content = memory.content
    precondition(position >= 0 && position < content.recordCount, "a graph has no record \(position)")
    return content.places[position].formerTags < 0 && content.places[position].status < 0
  }

  /// Whether older programs parked the object of the record at a position under other tags.
  package func hasFormerTags(_ position: Int) -> Bool {
    let content = memory.content
    precondition(position >= 0 && position < content.recordCount, "a graph has no record \(position)")
    return content.places[position].formerTags >= 0
  }

  /// The bytes of a graph.
  public struct Bytes: RandomAccessCollection, Equatable, @unchecked Sendable {
    fileprivate let memory: GraphMemory

    /// 0.
    public var startIndex: Int { 0 }
    /// How many bytes there are.
    public var endIndex: Int { memory.content.byteCount }

    /// The byte at a position.
    public subscript(position: Int) -> UInt8 {
      let content = memory.content
      precondition(position >= 0 && position < content.byteCount, "a graph has no byte \(position)")
      return content.bytes.load(fromByteOffset: position, as: UInt8.self)
    }

    /// Lends all of them to `body`.
    @inline(__always)
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
      let content = memory.content
      defer { withExtendedLifetime(memory) {} }
      return try body(UnsafeRawBufferPointer(start: content.bytes, count: content.byteCount))
    }

    /// Lends all of them to `body`: they always are in one place.
    public func withContiguousStorageIfAvailable<R>(
      _ body: (UnsafeBufferPointer<UInt8>) throws -> R
    ) rethrows -> R? {
      try withUnsafeBytes { try $0.withTypedBytes(body) }
    }

    /// Whether two graphs have the same bytes.
    public static func == (a: Bytes, b: Bytes) -> Bool {
      a.withUnsafeBytes { a in b.withUnsafeBytes { b in compareBytes(a, b) == 0 } }
    }
  }
}

/// Where one record stands among the bytes.
struct RecordPlace: BitwiseCopyable {
  /// Where its key begins, and the record itself, which ends at `end`.
  var key: Int
  var value: Int
  var end: Int
  /// Its former tags' place among the lists of all; -1 where it has none.
  var formerTags: Int32
  var status: Int32

  var syncStatus: SyncStatus? { status < 0 ? nil : SyncStatus(rawValue: Int(status)) }
}

/// What the records of a graph need beside their bytes: the texts that they name by digest, and their lists of former tags.
/// Mostly the graph before needed the same, and then this is the same object.
package final class GraphTexts: Sendable {
  package let tags: [TypeTag]
  /// The type that has each of the tags now; nil where that type was not met itself.
  package let types: [Any.Type?]
  package let shapes: [(digest: UInt64, text: [UInt8])]
  let formerTags: [[UInt64]]

  init(
    tags: [TypeTag], types: [Any.Type?], shapes: [(digest: UInt64, text: [UInt8])], formerTags: [[UInt64]]
  ) {
    self.tags = tags
    self.types = types
    self.shapes = shapes
    self.formerTags = formerTags
  }

  static let none = GraphTexts(tags: [], types: [], shapes: [], formerTags: [])
}
