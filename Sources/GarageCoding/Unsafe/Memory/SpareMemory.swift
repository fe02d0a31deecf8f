internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Memory of graphs that are gone, for later ones. The system's allocator gives large memory back to the system, and a new page
/// from the system costs more than encoding the objects that fit into it. Without spare memory, encoding a megabyte of objects
/// takes twice as long.
///
/// A process keeps at most ``limit`` bytes of it, and none that it never needed.
enum SpareMemory {
  /// Memory from `malloc`. It belongs to the one who holds it.
  // Sendable, because only one thread holds it at a time.
  struct Piece: @unchecked Sendable {
    var start: UnsafeMutableRawPointer
    var byteCount: Int
  }

  /// The smallest piece that is kept, in bytes. The system's allocator finds smaller memory as quickly.
  static let smallest = 1 << 16
  /// How many bytes are kept in all. One piece has at most half of that.
  static let limit = 32 << 20

  /// The pieces, the smaller ones first.
  private static let pieces = Mutex<[Piece]>([])

  /// How many bytes are kept.
  static var byteCount: Int { pieces.withLock { $0.reduce(0) { $0 + $1.byteCount } } }

  /// The smallest piece whose size is in the range. Nil if there is none, and if less than ``smallest`` would suffice: large
  /// pieces are for those who need them.
  static func take(_ sizes: ClosedRange<Int>) -> Piece? {
    if sizes.lowerBound < smallest { return nil }
    return pieces.withLock { pieces in
      guard let index = pieces.firstIndex(where: { $0.byteCount >= sizes.lowerBound }),
        pieces[index].byteCount <= sizes.upperBound
      else { return nil }
      return pieces.remove(at: index)
    }
  }

  /// Keeps a piece, or frees it if too much would be kept. Larger pieces are preferred, because they cost most to get.
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
