internal import CGarage

/// How much of the stack of the current thread is left.
enum StackLimit {
  /// What is kept free for what user code's `encode(to:)` or `init(from:)` does beside coding.
  /// Threads other than the main one have 512 KiB on Apple systems.
  private static var reserve: UInt { 96 << 10 }

  /// Whether there is room for another level of nesting.
  @inline(__always)
  static var hasRoom: Bool { garage_stack_remaining() > reserve }

  /// In bytes.
  static var remaining: Int { Int(clamping: garage_stack_remaining()) }
}
