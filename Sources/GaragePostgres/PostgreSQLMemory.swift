#if PostgreSQL
  internal import GarageDriver
  internal import Synchronization

  /// The values that transactions of one storage found under keys whose values hardly ever change. They may be out of date: a
  /// transaction that uses them has the server check them.
  final class PostgreSQLMemory: Sendable {
    private let values = Mutex<[StorageKey: [UInt8]?]>([:])

    /// The value that was found last; nil where none was looked up, `.some(nil)` where there was no value.
    func value(of key: StorageKey) -> [UInt8]?? { values.withLock { $0[key] } }

    func note(_ value: [UInt8]?, of key: StorageKey) {
      values.withLock { _ = $0.updateValue(value, forKey: key) }
    }

    func forget(_ keys: some Sequence<StorageKey>) {
      values.withLock { for key in keys { $0.removeValue(forKey: key) } }
    }
  }
#endif
