internal import Synchronization

/// The facts that were asked for last. Each stands at the place that its type's address gives; a later type may overwrite an
/// earlier one. Most calls are about the types of the calls before, and are answered here without a lock and a dictionary.
///
/// Invariant: each address here is that of facts that ``RecordTypeFacts`` keeps for the life of the process. So any thread may
/// read it at any time. Unchecked: the memory is never freed, and holds atomics.
struct RecentFacts: @unchecked Sendable {
  /// 0 if a place has no facts.
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
