/// A type whose values are always stored inside their owner, even when they are `Identifiable`.
///
/// Parked by itself, such an object still has a record of its own.
public protocol Inlined: Codable {}
