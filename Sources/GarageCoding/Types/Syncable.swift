/// How far an object is synchronized with a server, or with another copy.
///
/// A garage keeps the status beside the object, and finds objects by it. The meaning of the statuses is up to you.
///
/// Format: these numbers are stored and never change. They are those of GarageStorage.
public enum SyncStatus: Int, Codable, CaseIterable, Sendable {
  /// Nothing is known yet.
  case undetermined = 0
  /// The object has changes that were not sent yet.
  case notSynced = 1
  /// The object is being sent.
  case syncing = 2
  /// Both sides have the same.
  case synced = 3
}

/// An object with a sync status.
///
/// Parking stores the status beside the object, and retrieving sets it, whether or not `syncStatus` is among the coding keys.
/// `setSyncStatus(_:for:)` changes it in the store without parking the object again.
/// ```swift
/// struct Task: Codable, Identifiable, Syncable {
///   var id: UUID
///   var title: String
///   var syncStatus = SyncStatus.undetermined
/// }
/// let waiting = try garage.retrieveAll(Task.self, withStatus: .notSynced)
/// ```
/// The status is not part of the identity of a value that is identified by its content. If a class that is only `Hashable` has
/// the status among its coding keys, the text of that key must be `syncStatus`.
public protocol Syncable {
  /// How far the object is synchronized.
  var syncStatus: SyncStatus { get set }
}

/// Reads and sets the status of values of one type at an address.
struct SyncStatusAccess {
  let get: (UnsafeRawPointer) -> SyncStatus
  let set: (UnsafeMutableRawPointer, SyncStatus) -> Void

  /// Nil for a type that is not `Syncable`.
  init?(_ type: Any.Type) {
    guard let type = type as? any Syncable.Type else { return nil }
    self.init(of: type)
  }

  private init<T: Syncable>(of _: T.Type) {
    get = { $0[as: T.self].syncStatus }
    set = { $0[as: T.self].syncStatus = $1 }
  }
}

extension TypeFacts {
  /// The status of a value of this type.
  func syncStatus<T>(of value: T) -> SyncStatus? {
    guard let syncStatusAccess else { return nil }
    return withUnsafePointer(to: value) { syncStatusAccess.get(UnsafeRawPointer($0)) }
  }

  /// Sets the status of a value of this type.
  func setSyncStatus<T>(_ status: SyncStatus, of value: inout T) {
    withUnsafeMutablePointer(to: &value) { syncStatusAccess?.set(UnsafeMutableRawPointer($0), status) }
  }

  /// The value to make a digest of, with a status that is the same for all. An object is not changed.
  func withoutSyncStatus(_ value: any Encodable) -> any Encodable {
    func neutral<T: Encodable>(_ value: T) -> any Encodable {
      var copy = value
      setSyncStatus(.undetermined, of: &copy)
      return copy
    }
    return isSyncable && !isClass ? neutral(value) : value
  }
}
