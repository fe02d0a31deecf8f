/// Where the serial stands that a kept container is bound to: the container is handed out for one frame after another,
/// and each time the serial of the new one is put here. Never freed, as the container may be kept by user code.
struct SerialBinding {
  private let place: UnsafeMutablePointer<UInt64>

  init(_ serial: UInt64) { place = .keeping(serial) }

  @inline(__always)
  var serial: UInt64 { place.pointee }

  @inline(__always)
  func bind(to serial: UInt64) { place.pointee = serial }
}
