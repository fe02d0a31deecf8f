internal import GarageCoding
internal import GarageDriver
internal import Synchronization

/// Names the text of a type tag or shape by the digest of its content.
struct TextName: Hashable, Sendable {
  enum Kind: Sendable { case tag, shape }
  var kind: Kind
  var digest: UInt64
}

/// What a garage knows of the texts of type tags and shapes in its store.
///
/// Texts are named by their content, so one that was read once is right for good, in every snapshot. That it
/// is *in the store* is only known once the transaction that found or put it there has committed.
final class StoreTexts: Sendable {
  private struct Known: Sendable {
    var inStore: Set<TextName> = []
    /// The types of which objects were parked.
    var types: Set<ObjectIdentifier> = []
    /// The texts of the last graph of which all were known.
    var last: GraphTexts?
    var texts: [TextName: [UInt8]] = [:]
  }
  private let known = Mutex(Known())
  /// With more texts than this, all are forgotten, and read again as they are needed.
  private static let limit = 65_536

  // MARK: - Writing

  /// What a graph has that is new to a garage.
  struct News {
    /// The texts that are not known to be in the store.
    var texts: [(name: TextName, text: [UInt8])] = []
    /// The types of which no object was parked before.
    var types: [Any.Type] = []
  }

  /// What is new in a graph; nil where nothing is.
  func news(of graph: EncodedGraph) -> News? {
    let texts = graph.texts
    return known.withLock { known in
      // Mostly the next graph needs what the last one did.
      if known.last === texts { return nil }
      var news = News()
      for (tag, type) in zip(texts.tags, texts.types) {
        let name = TextName(kind: .tag, digest: tag.digest)
        let isNew = !known.inStore.contains(name)
        if isNew { news.texts.append((name, Array(tag.name.utf8))) }
        if let type {
          if !known.types.contains(ObjectIdentifier(type)) { news.types.append(type) }
        } else if isNew {
          news.types += TypeTag.types(withDigest: tag.digest)
        }
      }
      for shape in texts.shapes {
        let name = TextName(kind: .shape, digest: shape.digest)
        if !known.inStore.contains(name) { news.texts.append((name, shape.text)) }
      }
      if news.texts.isEmpty && news.types.isEmpty {
        known.last = texts
        return nil
      }
      return news
    }
  }

  /// Notes types whose declarations are known.
  func remember(_ types: [Any.Type]) {
    known.withLock { known in
      for type in types { known.types.insert(ObjectIdentifier(type)) }
    }
  }

  /// Puts a text where it is not there yet.
  ///
  /// - Throws: ``GraphCodingError/digestCollision(what:)`` where another text has the same digest.
  static func put(
    _ text: [UInt8], _ name: TextName, in transaction: any WriteTransaction, isSealed: Bool
  ) throws {
    let key = KeyLayout.text(name)
    let present: [UInt8]? = try transaction.withReplaceableValue(
      for: key.bytes.span.bytes, isSealed: isSealed
    ) { text in
      guard let text else { return nil }
      return [UInt8](copying: text)
    }
    if let present {
      if present == text { return }
      // A text that does not have its own digest is damaged, and the right one is at hand.
      if name.isDigest(of: present) {
        throw GraphCodingError.digestCollision(
          what: "\(readable(present)) and \(readable(text))")
      }
    }
    try transaction.put(text, for: key)
  }

  /// Notes texts that a transaction which has committed found or put.
  func remember(_ names: Set<TextName>) {
    if names.isEmpty { return }
    known.withLock { known in
      if known.inStore.count > StoreTexts.limit { (known.inStore, known.last) = ([], nil) }
      known.inStore.formUnion(names)
    }
  }

  // MARK: - Reading

  /// The text of this name, or nil where the transaction sees none.
  ///
  /// - Throws: ``GarageError/damagedText(digest:)`` where it is not the text that had this digest.
  func text(_ name: TextName, in transaction: any ReadTransaction) throws -> [UInt8]? {
    if let text = known.withLock({ $0.texts[name] }) { return text }
    guard let text = try transaction.value(for: KeyLayout.text(name)) else { return nil }
    guard name.isDigest(of: text) else { throw GarageError.damagedText(digest: hexadecimal(name.digest)) }
    known.withLock { known in
      if known.texts.count > StoreTexts.limit { known.texts = [:] }
      known.texts[name] = text
    }
    return text
  }

  /// What a report calls the type with that tag: its name, or that the store has lost it, and by which digits it is listed.
  func reportedName(ofTag tag: UInt64, in transaction: any ReadTransaction) -> String {
    if let name = try? text(TextName(kind: .tag, digest: tag), in: transaction) {
      return String(decoding: name, as: UTF8.self)
    }
    return "a type whose name the store has lost (listed as \(hexadecimal(tag)))"
  }
}

extension TextName {
  /// Whether the text is the one that this digest was taken of.
  func isDigest(of text: [UInt8]) -> Bool {
    text.withUnsafeBytes { ContentDigest.digest8(of: $0) } == digest
  }
}

private func readable(_ text: [UInt8]) -> String { String(decoding: text.prefix(200), as: UTF8.self) }

func hexadecimal(_ number: UInt64) -> String {
  let digits = String(number, radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}
