/// The shapes that were met last, by digest. Each coder has one, and asks it before ``ShapeRegistry``, which takes a lock.
struct ShapeCache {
  private static let lineCount = 64
  private let lines: UnsafeMutablePointer<(digest: UInt64, shape: Permanent<Shape>?)>

  init() {
    lines = .allocate(capacity: ShapeCache.lineCount)
    lines.initialize(repeating: (0, nil), count: ShapeCache.lineCount)
  }

  @inline(__always)
  subscript(digest: UInt64) -> Permanent<Shape>? {
    get {
      let line = lines[Int(truncatingIfNeeded: digest) & (ShapeCache.lineCount &- 1)]
      return line.digest == digest ? line.shape : nil
    }
    nonmutating set {
      lines[Int(truncatingIfNeeded: digest) & (ShapeCache.lineCount &- 1)] = (digest, newValue)
    }
  }
}
