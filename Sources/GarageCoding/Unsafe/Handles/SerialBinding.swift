/// The place of the serial that a kept container is bound to. The container is given out for one frame after another, and each
/// time the serial of the new frame is put here. It is never freed, because user code may keep the container.
struct SerialBinding {
  private let place: UnsafeMutablePointer<UInt64>

  init(_ serial: UInt64) { place = .keeping(serial) }

  @inline(__always)
  var serial: UInt64 { place.pointee }

  @inline(__always)
  func bind(to serial: UInt64) { place.pointee = serial }
}
