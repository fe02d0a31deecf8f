internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Memory of graphs that are gone, for the next ones. The system's allocator gives what is large back to the system, and a page
/// that comes from there anew costs more than encoding the objects that fit in it: without this, a megabyte of objects takes
/// twice as long.
///
/// A process keeps at most ``limit`` bytes of it, and none that it never needed.
enum SpareMemory {
  /// Memory from `malloc`, which belongs to whoever has it.
  // Sendable, since one has it at a time.
  struct Piece: @unchecked Sendable {
    var start: UnsafeMutableRawPointer
    var byteCount: Int
  }

  /// Smaller memory is found by the system's allocator as quickly.
  static let smallest = 1 << 16
  /// How many bytes are kept in all, half of them at most in one piece.
  static let limit = 32 << 20

  /// Smaller ones first.
  private static let pieces = Mutex<[Piece]>([])

  /// How many bytes are kept.
  static var byteCount: Int { pieces.withLock { $0.reduce(0) { $0 + $1.byteCount } } }

  /// The smallest piece with so many bytes; nil where there is none, and where less than the smallest would do: a large piece
  /// is for those who need it.
  static func take(_ sizes: ClosedRange<Int>) -> Piece? {
    if sizes.lowerBound < smallest { return nil }
    return pieces.withLock { pieces in
      guard let index = pieces.firstIndex(where: { $0.byteCount >= sizes.lowerBound }),
        pieces[index].byteCount <= sizes.upperBound
      else { return nil }
      return pieces.remove(at: index)
    }
  }

  /// Keeps a piece, or frees it where there would be too much. Of the sizes that are kept the larger ones stay: they cost
  /// most to get.
  static func giveBack(_ piece: Piece) {
    if piece.byteCount < smallest || piece.byteCount > limit / 2 { return free(piece.start) }
    let surplus = pieces.withLock { pieces in
      let place = pieces.firstIndex { $0.byteCount >= piece.byteCount } ?? pieces.count
      pieces.insert(piece, at: place)
      var total = pieces.reduce(0) { $0 + $1.byteCount }
      var count = 0
      while total > limit {
        total -= pieces[count].byteCount
        count += 1
      }
      defer { pieces.removeFirst(count) }
      return Array(pieces.prefix(count))
    }
    for piece in surplus { free(piece.start) }
  }
}
