import Foundation

/// One store of one round: what it can be asked to do, and by whose code.
protocol StoreUnderTest: AnyObject {
  /// Both bulk parks count on an empty store, everything else on `park 100k`.
  var operations: [Operation] { get }
  /// What it was set to, as it says itself.
  var settings: String { get throws }
  /// Closes it: nothing may be left in a log.
  func close() throws
}

/// The names of what is measured, as rows have them.
enum Name {
  static let parkAll = "park 100k"
  static let parkShuffled = "park 100k shuffled"
  static let parkAgain = "park 100k again"
  static let parkOne = "park one durable"
  static let parkOneInMemory = "park one"
  static let retrieve = "retrieve"
  static let retrieveTogether = "retrieve in one transaction"
  static let retrieveAll = "retrieveAll"
  static let delete = "delete"
  static let bytes = "bytes per object on disk"
  static let parkMemory = "peak memory of park 100k"
  static let retrieveAllMemory = "peak memory of retrieveAll"
}

/// What SQLite is set to, everywhere: what `SQLiteStorage` does unless told otherwise.
enum SQLiteSettings {
  static let writerCacheByteCount = 64 << 20
  static let readerCacheByteCount = 16 << 20
  static let memoryMapByteCount = 256 << 20
  /// From which size on the log is emptied; SQLite's own connections cut it back to that (`journal_size_limit`).
  static let checkpointByteCount = 16 << 20
  /// From how many pages in the log on a commit copies them into the file: SQLite's own default, and the driver's.
  static let checkpointPageCount = 1000
}

/// Collects what was retrieved, so that it can be compared afterwards.
final class Retrieved {
  var people: [Person] = []

  func prepare(_ count: Int) {
    people = []
    people.reserveCapacity(count)
  }

  func verify(_ expected: [Person]) throws {
    try WrongResult.unless(
      people == expected, "\(people.count) people, not the \(expected.count) that were parked")
    people = []
  }
}
