/// The error of a driver. It says what failed, in which operation, on which store, and what to do next.
public struct StorageError: Error, Sendable, Hashable {
  /// The class of the failure, which a program can act on.
  public var kind: Kind
  /// The operation that failed.
  public var operation: Operation
  /// The name of the driver, as in ``StorageInfo/name``.
  public var driver: String
  /// The engine's own number for the failure, if it has one: an SQLite extended result code, an LMDB return code or `errno`.
  /// The five characters of PostgreSQL's code are in the message.
  public var engineCode: Int?
  /// What failed, on what, and what to do next, in full sentences.
  public var message: String
  /// Whether the same call may succeed when it is made again, without anything else being changed.
  ///
  /// A garage then makes the whole write again, several times, hooks included. So it is false for failures that come again with
  /// every call: ``Kind/invalidKey``, ``Kind/valueTooLarge``, ``Kind/mutationWhileLent``, ``Kind/transactionClosed``,
  /// ``Kind/nestedWrite``, ``Kind/closed``, ``Kind/closeInsideTransaction``, ``Kind/usedAfterFork`` and ``Kind/readOnly``. It
  /// is false for ``Kind/outcomeUnknown``, too.
  public var isRetryable: Bool

  /// An error of this kind; see the properties.
  public init(
    _ kind: Kind, during operation: Operation, driver: String, engineCode: Int? = nil,
    isRetryable: Bool = false, message: String
  ) {
    self.kind = kind
    self.operation = operation
    self.driver = driver
    self.engineCode = engineCode
    self.isRetryable = isRetryable
    self.message = message
  }

  /// The class of a failure. New versions may add kinds: leave a `default` in a switch.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The kind's name.
    public let rawValue: String
    /// A kind with this name, for drivers that have kinds other than these.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A transaction was used after its closure returned.
    public static let transactionClosed = Kind(rawValue: "transactionClosed")
    /// A change was made while bytes of the same transaction were lent to a closure.
    public static let mutationWhileLent = Kind(rawValue: "mutationWhileLent")
    /// A write was begun inside a write on the same thread.
    public static let nestedWrite = Kind(rawValue: "nestedWrite")
    /// More read transactions were open at a time than the engine allows, or more than 64 nested ones.
    public static let readersFull = Kind(rawValue: "readersFull")
    /// There is no room: a disk, quota or memory map is full. The transaction was rolled back.
    public static let storageFull = Kind(rawValue: "storageFull")
    /// A value is larger than the driver's limit.
    public static let valueTooLarge = Kind(rawValue: "valueTooLarge")
    /// A key is empty, or longer than the driver's limit.
    public static let invalidKey = Kind(rawValue: "invalidKey")
    /// Another process holds the store longer than the driver waits.
    public static let busy = Kind(rawValue: "busy")
    /// The transaction lost against another one. The same call may succeed when it is made again.
    public static let conflict = Kind(rawValue: "conflict")
    /// The connection to the engine was lost, or none could be made. Nothing was committed. It is retryable: the same call may
    /// succeed when the engine can be reached again.
    public static let disconnected = Kind(rawValue: "disconnected")
    /// The answer to a commit was lost, and could not be asked for again: the transaction may or may not be committed. It is
    /// never retryable, because a second try might do everything twice. A write that throws any other error has not committed.
    public static let outcomeUnknown = Kind(rawValue: "outcomeUnknown")
    /// The driver was closed.
    public static let closed = Kind(rawValue: "closed")
    /// `close` was called on a thread that is inside a transaction of the same driver.
    public static let closeInsideTransaction = Kind(rawValue: "closeInsideTransaction")
    /// A driver that was opened before `fork()` was used in the child.
    public static let usedAfterFork = Kind(rawValue: "usedAfterFork")
    /// A write was made through a driver that was opened for reading.
    public static let readOnly = Kind(rawValue: "readOnly")
    /// The file or folder is not a store of this driver.
    public static let notAStorage = Kind(rawValue: "notAStorage")
    /// The store was written by a newer version of the driver.
    public static let newerFormat = Kind(rawValue: "newerFormat")
    /// The operating system refused access.
    public static let permissionDenied = Kind(rawValue: "permissionDenied")
    /// The store is missing, or the folder that it should be in.
    public static let notFound = Kind(rawValue: "notFound")
    /// The engine found its own files damaged.
    public static let corrupt = Kind(rawValue: "corrupt")
    /// A file or folder stands already where a new one was to be made.
    public static let alreadyThere = Kind(rawValue: "alreadyThere")
    /// The driver, or the storage below it, cannot do this at all.
    public static let notSupported = Kind(rawValue: "notSupported")
    /// Reading or writing failed below the engine.
    public static let io = Kind(rawValue: "io")
    /// Any other failure of the engine; `engineCode` and `message` say which.
    public static let engine = Kind(rawValue: "engine")
  }

  /// The operation that failed.
  public enum Operation: String, Sendable, Hashable, CaseIterable {
    case open, read, write, get, scan, put, remove, commit, rollBack, close
  }
}

extension StorageError: CustomStringConvertible {
  /// The whole error in one line.
  public var description: String {
    let code = engineCode.map { ", code \($0)" } ?? ""
    return "\(driver): \(operation.rawValue) failed (\(kind.rawValue)\(code)): \(message)"
  }
}
