internal import CGarage
internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The file of an export: lines that are written or read one after another, with a checksum of all of them.
final class ExchangeFile {
  /// The name that errors give instead of a storage's.
  static let name = "JSON Lines"
  private static let blockByteCount = 1 << 20

  private let path: String
  private let file: Int32
  /// The CRC-32C of the lines so far, including line feeds.
  private(set) var checksum: UInt32 = 0
  /// The size of the lines so far, in bytes.
  private(set) var byteCount = 0
  private var buffer: [UInt8] = []
  private var place = 0

  /// Begins a new file. Only its owner may read it, because its content is neither sealed nor hidden.
  init(writing path: String) throws {
    self.path = path
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    if file < 0 { throw ExchangeFile.error(errno, path, .write) }
  }

  /// Opens a file; refuses that of a database.
  init(reading path: String) throws {
    self.path = path
    file = try DatabaseFiles.openUnlessDatabase(path)
    if file < 0 { throw ExchangeFile.error(errno, path, .read) }
  }

  deinit { _ = close(file) }

  private static func error(_ code: Int32, _ path: String, _ operation: StorageError.Operation)
    -> StorageError
  {
    var error = StoreFolder(atPath: path, driver: name).error(code, during: operation)
    if error.kind == .notFound {
      error.message = "There is no file \(path) (\(String(cString: strerror(code))))."
    }
    return error
  }

  /// Whether a file can be read more than once, as no pipe can.
  static func isRegular(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The size of the file, in bytes.
  var size: Int {
    var status = stat()
    return fstat(file, &status) == 0 ? Int(status.st_size) : 0
  }

  // MARK: - Writing

  /// Appends a line, without its line feed.
  func write(_ line: [UInt8]) throws {
    let start = buffer.count
    buffer += line
    buffer.append(0x0A)
    note(buffer[start...])
    if buffer.count >= ExchangeFile.blockByteCount { try flush() }
  }

  /// Passes all lines to the system.
  func flush() throws {
    var done = 0
    while done < buffer.count {
      let count = buffer.withUnsafeBytes { writeBytes(file, $0.baseAddress! + done, buffer.count - done) }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { throw ExchangeFile.error(count == 0 ? ENOSPC : errno, path, .write) }
      done += count
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private func note(_ line: ArraySlice<UInt8>) {
    line.withUnsafeBytes { checksum = garage_crc32c(checksum, $0.baseAddress, $0.count) }
    byteCount += line.count
  }

  // MARK: - Reading

  /// The next line, without its line feed; nil at the end. The last line need not have one.
  ///
  /// - Parameter body: gets the line, and returns whether it is part of the checksum.
  func readLine(_ body: (ArraySlice<UInt8>) throws -> Bool) throws -> Bool {
    var searched = place
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0A) {
        let line = buffer[place..<end]
        let whole = buffer[place...end]
        if try body(line) { note(whole) }
        place = end + 1
        return true
      }
      searched = buffer.count
      if try !fill(&searched) {
        if place == buffer.count { return false }
        let line = buffer[place...]
        if try body(line) { note(line) }
        place = buffer.count
        return true
      }
    }
  }

  /// Reads more bytes. Returns false at the end of the file.
  private func fill(_ searched: inout Int) throws -> Bool {
    if place > 0 {
      buffer.removeFirst(place)
      searched -= place
      place = 0
    }
    let before = buffer.count
    let wanted = max(ExchangeFile.blockByteCount, before)
    buffer += [UInt8](repeating: 0, count: wanted)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress! + before, wanted) }
      if count < 0 && errno == EINTR { continue }
      buffer.removeLast(wanted - max(0, count))
      if count < 0 { throw ExchangeFile.error(errno, path, .read) }
      return count > 0
    }
  }
}

/// `write(2)` under a name that no method shadows.
private func writeBytes(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  write(file, bytes, count)
}
