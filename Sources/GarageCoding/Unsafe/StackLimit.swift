internal import CGarage

/// How much of the current thread's stack is left.
enum StackLimit {
  /// How many bytes are kept free for what user code does beside coding in `encode(to:)` or `init(from:)`. Threads other than
  /// the main one have 512 KiB on Apple systems.
  private static var reserve: UInt { 96 << 10 }

  /// Whether there is room for another level of nesting.
  @inline(__always)
  static var hasRoom: Bool { garage_stack_remaining() > reserve }

  /// How many bytes are left.
  static var remaining: Int { Int(clamping: garage_stack_remaining()) }
}
