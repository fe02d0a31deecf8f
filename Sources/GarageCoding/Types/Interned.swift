/// A value that is stored once, however many objects hold it. It becomes a record of its own, is identified by the digest of
/// its content, and is referenced from every place.
///
/// It is for values that repeat and are larger than a reference (about 25 bytes): an address, a currency, a font.
public protocol Interned: Codable, Hashable {}
