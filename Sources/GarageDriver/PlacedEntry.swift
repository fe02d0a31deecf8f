/// The places of a key and of its value in bytes that hold several entries.
public struct PlacedEntry: Hashable, Sendable {
  /// The place of the key.
  public var key: Range<Int>
  /// The place of the value.
  public var value: Range<Int>

  /// An entry whose key and value have these places.
  @inlinable
  public init(key: Range<Int>, value: Range<Int>) {
    self.key = key
    self.value = value
  }
}
