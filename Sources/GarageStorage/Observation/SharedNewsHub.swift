internal import GarageDriver
internal import Synchronization

/// The hub that all garages of this process on one store share, as long as one of them exists.
///
/// It is an object of its own, because an object with weak references is more expensive to retain, and each write retains the
/// hub.
final class SharedNewsHub: Sendable {
  private final class Weak: Sendable {
    weak let shared: SharedNewsHub?
    init(_ shared: SharedNewsHub) { self.shared = shared }
  }

  private static let hubs = Mutex<[ObjectIdentifier: Weak]>([:])

  let hub = NewsHub()

  private init() {}

  /// The hub of a storage's store.
  static func of(_ driver: any StorageDriver) -> SharedNewsHub {
    guard let origin = NewsOrigin.of(driver) else { return SharedNewsHub() }
    return hubs.withLock { hubs in
      if let shared = hubs[origin]?.shared { return shared }
      hubs = hubs.filter { $0.value.shared != nil }
      let shared = SharedNewsHub()
      hubs[origin] = Weak(shared)
      return shared
    }
  }
}
