internal import Synchronization

/// The facts asked for last, each at the place that its type's address gives it; a later type takes an earlier one's
/// place. Most calls are about the types of the calls before: these are found here without lock and dictionary.
///
/// Invariant: each address that stands here is that of facts which ``RecordTypeFacts`` keeps for the life of the process. So
/// it may be read at any time, by any thread. Unchecked: the memory, which is never given back, holds atomics.
struct RecentFacts: @unchecked Sendable {
  /// 0 where there is none.
  private let places: UnsafeMutablePointer<Atomic<UInt>>
  private static let count = 64

  init() {
    places = .allocate(capacity: RecentFacts.count)
    for place in 0..<RecentFacts.count { (places + place).initialize(to: Atomic(0)) }
  }

  @inline(__always)
  private func place(_ type: ObjectIdentifier) -> UnsafeMutablePointer<Atomic<UInt>> {
    // Metadata is aligned to 16 bytes or more.
    let address = UInt(bitPattern: type)
    return places + Int((address >> 4 ^ address >> 10) % UInt(RecentFacts.count))
  }

  @inline(__always)
  func facts(of type: ObjectIdentifier) -> RecordTypeFacts? {
    let address = place(type).pointee.load(ordering: .acquiring)
    guard let address = UnsafeRawPointer(bitPattern: address) else { return nil }
    let facts = Unmanaged<RecordTypeFacts>.fromOpaque(address).takeUnretainedValue()
    return facts.type == type ? facts : nil
  }

  /// Notes facts that are kept for the life of the process.
  func note(_ facts: RecordTypeFacts) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(facts).toOpaque())
    place(facts.type).pointee.store(address, ordering: .releasing)
  }
}
