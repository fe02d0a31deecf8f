/// The reason why a command ends: a message for people, and the exit status.
struct CommandFailure: Error {
  static let findingStatus: Int32 = 1
  static let usageStatus: Int32 = 2
  static let openingStatus: Int32 = 3

  var message: String
  var status: Int32

  /// Something that was named does not exist.
  static func missing(_ message: String) -> CommandFailure {
    CommandFailure(message: message, status: findingStatus)
  }

  /// The engine would end the process if it read this store.
  static func damagedPages(_ path: String) -> CommandFailure {
    .opening(
      "\(path): pages of the store are damaged. 'garage verify' tells which, 'garage salvage' rescues.")
  }

  /// The store cannot be opened.
  static func opening(_ message: String) -> CommandFailure {
    CommandFailure(message: message, status: openingStatus)
  }
}
