internal import GarageCoding
internal import GarageDriver

/// The bytes of a typed key, while they are being written. It is meant for the library; see ``KeyType/writeStringValue(to:)``.
///
/// ```
/// | 30 | for each namespace with a name, the outermost first: 02, its id, 00 | 01 | stringValue |
/// ```
/// Text is UTF-8 in normalization form C; a zero in an id is 00 FF. So a namespace is a prefix of its keys. Its own keys come
/// first, then those of the namespaces in it, both in the order of their names.
///
/// A key of up to ``maximumByteCount`` - 1 bytes stands as it is. A longer one stands as its first bytes and a digest of the
/// whole key, exactly ``maximumByteCount`` bytes in all; the value then holds the whole key.
public struct KeyName: ~Copyable {
  let buffer: UnsafeMutableRawBufferPointer
  /// The number of bytes written. It is more than the buffer holds if the buffer was too small.
  @usableFromInline var count = 0
  private var hasParts = false

  /// The maximum length of a key, in bytes. It is within the limit of every driver.
  @inlinable static var maximumByteCount: Int { 480 }
  static let digestByteCount = 16
  /// How many bytes of a longer key stand before its digest.
  static let cutByteCount = maximumByteCount - digestByteCount

  enum Mark {
    static let name: UInt8 = 0x01
    static let namespace: UInt8 = 0x02
  }

  @usableFromInline
  init(_ buffer: UnsafeMutableRawBufferPointer) {
    self.buffer = buffer
    append(KeyLayout.Space.value.rawValue)
  }

  /// Adds text.
  public mutating func append(_ text: String) {
    _ = appendASCII(text) ?? appendComposed(text)
  }

  /// Adds text of any kind. The result is of no interest.
  @inline(never)
  private mutating func appendComposed(_ text: String) -> Bool {
    let room = count < buffer.count ? buffer.count - count : 0
    count += copyComposedUTF8(
      text,
      to: UnsafeMutableRawBufferPointer(
        start: buffer.baseAddress.map { $0 + (buffer.count - room) }, count: room))
    return true
  }

  @inline(__always)
  private mutating func append(_ byte: UInt8) {
    if count < buffer.count { buffer[count] = byte }
    count += 1
  }

  /// Adds a part of a ``Key``'s name, behind a colon if it is not the first part. An empty part adds nothing.
  @usableFromInline
  mutating func appendPart(_ part: String) {
    if part.isEmpty { return }
    if hasParts { append(UInt8(ascii: ":")) }
    hasParts = true
    append(part)
  }

  /// Adds the names of a namespace, and of those around it, as parts.
  @inlinable
  mutating func appendPath<N: Namespace>(of namespace: N.Type) {
    if N.self == GlobalNamespace.self { return }
    if N.Parent.self != N.self { appendPath(of: N.Parent.self) }
    appendPart(N.id)
  }

  @inlinable
  mutating func appendNamespaces<N: Namespace>(_ namespace: N.Type) {
    if N.self == GlobalNamespace.self { return }
    if N.Parent.self != N.self { appendNamespaces(N.Parent.self) }
    appendNamespace(N.id)
  }

  @usableFromInline
  mutating func appendNamespace(_ id: String) {
    if id.isEmpty { return }
    append(Mark.namespace)
    let start = count
    // Text that is not ASCII may contain a zero.
    if appendASCII(id) ?? true {
      count = start
      appendEscaped(id)
    }
    append(0)
  }

  @inline(never)
  private mutating func appendEscaped(_ id: String) {
    let parts = id.split(separator: "\0", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if index > 0 {
        append(0)
        append(0xFF)
      }
      append(String(part))
    }
  }

  @inlinable
  mutating func appendName<K: KeyType>(of key: K) {
    appendNameMark()
    key.writeStringValue(to: &self)
  }
}

extension KeyName {
  @usableFromInline
  mutating func appendNameMark() { append(Mark.name) }

  /// Lends `body` a key's bytes, made on the stack, as a name. Returns false, and lends nothing, if they are too many for a
  /// key.
  ///
  /// Inlined, because the names of the namespaces are constants where the key's type is known.
  @inlinable
  @inline(__always)
  static func withShort<K: KeyType>(
    _ key: K, _ body: (_ name: UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    try withUnsafeTemporaryAllocation(byteCount: maximumByteCount, alignment: 8) { buffer in
      var name = KeyName(buffer)
      var isComplete = false
      if K.NamespaceType.isOutermost, let id = KeyName.id(ofKey: key) {
        isComplete = name.appendWhole(namespace: K.NamespaceType.id, id: id)
      }
      if !isComplete {
        name.appendNamespaces(K.NamespaceType.self)
        name.appendName(of: key)
      }
      if name.count >= maximumByteCount { return false }
      try body(UnsafeRawBufferPointer(start: buffer.baseAddress, count: name.count))
      return true
    }
  }

  /// Lends a key's bytes, made on the stack. If they are too many for a key, it also lends all of them.
  @inline(__always)
  static func with<K: KeyType, R>(_ key: K, _ body: (RawSpan, _ full: [UInt8]?) throws -> R) throws -> R {
    try withUnsafeTemporaryAllocation(byteCount: maximumByteCount, alignment: 8) { buffer in
      var full: [UInt8]?
      let count = write(key, to: buffer)
      if count >= maximumByteCount { full = writeCut(key, count, to: buffer) }
      return try body(
        UnsafeRawBufferPointer(rebasing: buffer[..<min(count, maximumByteCount)]).bytes, full)
    }
  }

  @inline(never)
  private static func writeCut<K: KeyType>(
    _ key: K, _ byteCount: Int, to buffer: UnsafeMutableRawBufferPointer
  ) -> [UInt8] {
    let full = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      count = write(key, to: UnsafeMutableRawBufferPointer(buffer))
    }
    let digest = full.withUnsafeBytes { ContentDigest.sha256(of: $0) }
    buffer.copyBytes(from: full[..<cutByteCount] + digest[..<digestByteCount])
    return full
  }

  private static func write<K: KeyType>(_ key: K, to buffer: UnsafeMutableRawBufferPointer) -> Int {
    var name = KeyName(buffer)
    name.appendNamespaces(K.NamespaceType.self)
    name.appendName(of: key)
    return name.count
  }

  /// The range of the keys that begin with a namespace's `prefix`, if no key is cut before the end of the prefix. Behind the
  /// prefix comes a name or another namespace; FF there would belong to a longer id.
  static func range(prefix: [UInt8]) -> StorageKeyRange {
    StorageKeyRange(from: prefix + [Mark.name], to: prefix + [Mark.namespace + 1])
  }

  /// Whether a key, given whole, is in the namespace with this prefix.
  static func isKey(_ full: [UInt8], inNamespace prefix: [UInt8]) -> Bool {
    full.count > prefix.count && full.starts(with: prefix)
      && (full[prefix.count] == Mark.name || full[prefix.count] == Mark.namespace)
  }

  /// The bytes that all keys in a namespace begin with, before any key is cut.
  static func prefix<N: Namespace>(of namespace: N.Type) -> [UInt8] {
    let capacity = withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { buffer in
      writePrefix(namespace, to: buffer)
    }
    return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      count = writePrefix(namespace, to: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  private static func writePrefix<N: Namespace>(_ namespace: N.Type, to buffer: UnsafeMutableRawBufferPointer)
    -> Int
  {
    var name = KeyName(buffer)
    name.appendNamespaces(namespace)
    return name.count
  }

  /// Splits a whole key into the names of its namespaces and its own name. Nil if it is not a key.
  static func parts(of key: [UInt8]) -> (namespace: [String], name: String)? {
    guard key.first == KeyLayout.Space.value.rawValue else { return nil }
    var namespace: [String] = []
    var rest = key[1...]
    while let mark = rest.popFirst() {
      if mark == Mark.name { return (namespace, String(decoding: rest, as: UTF8.self)) }
      guard mark == Mark.namespace else { return nil }
      var id: [UInt8] = []
      while let byte = rest.popFirst() {
        if byte == 0 && rest.first != 0xFF { break }
        id.append(byte)
        if byte == 0 { rest.removeFirst() }
      }
      namespace.append(String(decoding: id, as: UTF8.self))
    }
    return nil
  }
}

// MARK: - Text for people

extension KeyName {
  /// A stored key as text: its `stringValue`; for a cut key as much of it as is stored.
  static func text(ofKey key: RawSpan) -> String {
    let bytes = [UInt8](copying: key).dropFirst()
    let isCut = key.byteCount == maximumByteCount
    var parts: [String] = []
    var rest = isCut ? bytes.dropLast(digestByteCount) : bytes
    while rest.first == Mark.namespace {
      rest = rest.dropFirst()
      var id: [UInt8] = []
      while let byte = rest.popFirst() {
        if byte != 0 {
          id.append(byte)
        } else if rest.first == 0xFF {
          rest = rest.dropFirst()
          id.append(0)
        } else {
          break
        }
      }
      parts.append(String(decoding: id, as: UTF8.self))
    }
    // The bytes of a key begin with the names of its namespaces. If they are cut within these, no more is known.
    let text =
      rest.first == Mark.name
      ? String(decoding: rest.dropFirst(), as: UTF8.self) : parts.joined(separator: ":")
    return text + (isCut ? "…" : "")
  }
}
