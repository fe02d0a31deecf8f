internal import CGarage

// The names of most keys are ASCII. These are copied and examined together, by a function in C.
//
// Invariant: nothing is written behind the end of the buffer. Each length is compared with the remaining room before anything
// is copied, and `count` never exceeds the number of bytes written here.

extension KeyName {
  /// Adds text, and returns whether it contains a zero. Returns nil, and adds nothing, if the text is not ASCII or is too long.
  @inline(__always)
  mutating func appendASCII(_ text: String) -> Bool? {
    let (base, start, room) = (buffer.baseAddress.unsafelyUnwrapped, count, buffer.count &- count)
    let found = KeyName.withUTF8(text) { source, byteCount -> UInt32 in
      if byteCount > room { return UInt32(GARAGE_NOT_ASCII) }
      count = start &+ byteCount
      return garage_copy_text((base + start).assumingMemoryBound(to: UInt8.self), nil, source, byteCount)
    }
    if found & UInt32(GARAGE_NOT_ASCII) == 0 { return found != 0 }
    count = start
    return nil
  }

  /// Calls `body` with the text's bytes, if they stand in one place; otherwise returns `GARAGE_NOT_ASCII`.
  @inline(__always)
  private static func withUTF8(_ text: String, _ body: (UnsafePointer<UInt8>, Int) -> UInt32) -> UInt32 {
    text.utf8.withContiguousStorageIfAvailable { body($0.baseAddress.unsafelyUnwrapped, $0.count) }
      ?? UInt32(GARAGE_NOT_ASCII)
  }

  /// Adds a whole ``Key`` at once, if its namespace has no other around it, as most have not. Returns false, and adds nothing,
  /// if the general way is needed.
  @usableFromInline
  mutating func appendWhole(namespace: String, id: String) -> Bool {
    if namespace.isEmpty || id.isEmpty { return false }
    let (start, room) = (count, buffer.count &- count)
    let base = (buffer.baseAddress.unsafelyUnwrapped + start).assumingMemoryBound(to: UInt8.self)
    let found = KeyName.withUTF8(namespace) { space, spaceCount in
      KeyName.withUTF8(id) { name, nameCount in
        // | 02, namespace, 00 | 01, namespace, colon, id |
        let second = spaceCount &+ 2
        let byteCount = second &+ spaceCount &+ 2 &+ nameCount
        if byteCount > room { return UInt32(GARAGE_NOT_ASCII) }
        base[0] = Mark.namespace
        base[second &- 1] = 0
        base[second] = Mark.name
        base[second &+ 1 &+ spaceCount] = UInt8(ascii: ":")
        count = start &+ byteCount
        let found = garage_copy_text(base + 1, base + (second &+ 1), space, spaceCount)
        // A zero in the id is no error: only in a namespace it would be escaped.
        let isASCII = garage_copy_text(base + (second &+ 2 &+ spaceCount), nil, name, nameCount)
        return found | isASCII & UInt32(GARAGE_NOT_ASCII)
      }
    }
    if found == 0 { return true }
    count = start
    return false
  }

  /// The name of a ``Key`` in its namespace; nil for other types of keys. Code that knows the type knows the answer without
  /// asking the runtime.
  @inlinable
  @inline(__always)
  static func id<K: KeyType>(ofKey key: K) -> String? {
    // The types are the same, so nothing is reinterpreted.
    K.self == Key<K.NamespaceType, K.ValueType>.self
      ? unsafeBitCast(key, to: Key<K.NamespaceType, K.ValueType>.self).id : nil
  }
}
