import CPowerLoss
import Foundation

/// What reached the files of a store, in order, as `CPowerLoss` wrote it.
struct Trace {
  enum Event {
    /// - made: whether the file was not there before.
    case open(path: String, file: UInt64, made: Bool)
    /// - waits: whether it was on disk when it returned.
    case change(file: UInt64, Disk.Change, waits: Bool)
    case sync(file: UInt64)
    case syncFolder
    case remove(path: String)
    case rename(path: String, to: String)
    case note(Note)
  }

  private(set) var events: [Event] = []

  init(at url: URL) throws {
    let bytes = try Data(contentsOf: url, options: .alwaysMapped)
    var position = 0
    func take(_ count: Int) throws -> Data {
      guard position + count <= bytes.count else { throw Failure("the trace ends within an event") }
      defer { position += count }
      return bytes[position..<position + count]
    }
    while position < bytes.count {
      let head = try take(MemoryLayout<power_event>.size).withUnsafeBytes {
        $0.loadUnaligned(as: power_event.self)
      }
      let path = String(decoding: try take(Int(head.path_length)), as: UTF8.self)
      let payload = try take(Int(head.payload_length))
      events.append(try Trace.event(head, path, payload))
    }
  }

  private static func event(_ head: power_event, _ path: String, _ payload: Data) throws -> Event {
    func isKind(_ kind: some BinaryInteger) -> Bool { head.kind == UInt8(kind) }
    let (offset, length) = (Int(head.offset), Int(head.length))
    if isKind(POWER_OPEN) { return .open(path: path, file: head.file, made: head.flag != 0) }
    if isKind(POWER_WRITE) {
      return .change(file: head.file, .write(offset, payload), waits: head.flag != 0)
    }
    if isKind(POWER_ZERO) { return .change(file: head.file, .zero(offset, length), waits: false) }
    if isKind(POWER_TRUNCATE) { return .change(file: head.file, .truncate(length), waits: false) }
    if isKind(POWER_SYNC) { return .sync(file: head.file) }
    if isKind(POWER_SYNC_FOLDER) { return .syncFolder }
    if isKind(POWER_REMOVE) { return .remove(path: path) }
    if isKind(POWER_RENAME) { return .rename(path: path, to: String(decoding: payload, as: UTF8.self)) }
    if isKind(POWER_NOTE) { return .note(Note(code: head.length)) }
    throw Failure("the trace has an event of kind \(head.kind)")
  }
}
