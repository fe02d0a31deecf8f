internal import CGarage

/// What is kept free on the stack for what user code's `encode(to:)` or `init(from:)` does beside coding.
/// Threads other than the main one have 512 KiB on Apple systems.
private let stackReserve = 96 << 10

/// Whether the stack of this thread has room for another level of nesting.
@inline(__always)
func hasStack() -> Bool { garage_stack_remaining() > stackReserve }

/// How much of the stack is left, in bytes.
func remainingStack() -> Int { Int(clamping: garage_stack_remaining()) }
