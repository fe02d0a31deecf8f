internal import GarageCoding
internal import GarageDriver
internal import Synchronization

/// Names the text of a type tag or shape by the digest of its content.
struct TextName: Hashable, Sendable {
  enum Kind: Sendable { case tag, shape }
  var kind: Kind
  var digest: UInt64
}

/// The texts of type tags and shapes: what a garage knows of those in its store.
///
/// Texts are named by their content, so one that was read once is right for good, in every snapshot. That it
/// is *in the store* is only known once the transaction that found or put it there has committed.
final class StoreTexts: Sendable {
  private struct Known: Sendable {
    var inStore: Set<TextName> = []
    var texts: [TextName: [UInt8]] = [:]
  }
  private let known = Mutex(Known())
  /// Beyond that many texts what is known is forgotten and read again as it is needed.
  private static let limit = 65_536

  // MARK: - Writing

  /// Which of a graph's texts are not known to be in the store.
  func unknownTexts(of graph: EncodedGraph) -> [(TextName, [UInt8])] {
    known.withLock { known in
      var unknown: [(TextName, [UInt8])] = []
      for tag in graph.tags {
        let name = TextName(kind: .tag, digest: tag.digest)
        if !known.inStore.contains(name) { unknown.append((name, Array(tag.name.utf8))) }
      }
      for shape in graph.shapes {
        let name = TextName(kind: .shape, digest: shape.digest)
        if !known.inStore.contains(name) { unknown.append((name, shape.text)) }
      }
      return unknown
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
      if known.inStore.count > StoreTexts.limit { known.inStore = [] }
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
