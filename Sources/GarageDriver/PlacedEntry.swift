/// Where a key and its value stand in bytes that hold several.
public struct PlacedEntry: Hashable, Sendable {
  /// Where the key stands.
  public var key: Range<Int>
  /// Where the value stands.
  public var value: Range<Int>

  /// An entry whose key and value stand there.
  @inlinable
  public init(key: Range<Int>, value: Range<Int>) {
    self.key = key
    self.value = value
  }
}
