/// A value that is stored once, however many objects hold it: it becomes a record of its own, identified by
/// the digest of its content, and is referenced from every place.
///
/// For values that repeat and are larger than a reference (about 25 bytes): an address, a currency, a font.
public protocol Interned: Codable, Hashable {}
