import Foundation

/// A disk that keeps what was synced, and any part of the rest.
///
/// Of what was not synced, each write, truncation, new name and removal is there or not, whatever came after it, and of a long
/// write any of its sectors: less than any file system promises, and what POSIX allows.
struct Disk {
  enum Change {
    case write(Int, Data)
    case zero(Int, Int)
    /// To that size, shorter or longer.
    case truncate(Int)
  }

  private struct File {
    var synced = Data()
    var pending: [(change: Change, waits: Bool)] = []
  }

  private enum Naming {
    case link(String, UInt64)
    case unlink(String)
    case rename(String, String)
  }

  private static let sector = 512
  private var files: [UInt64: File] = [:]
  private var names: [String: UInt64] = [:]
  private var namings: [Naming] = []

  /// Whether a loss of power would leave anything out.
  var isWaiting: Bool { !namings.isEmpty || files.values.contains { $0.pending.contains { !$0.waits } } }

  mutating func apply(_ event: Trace.Event) {
    switch event {
    case .open(let path, let file, let made):
      if made { namings.append(.link(path, file)) }
      if files[file] == nil { files[file] = File() }
    case .change(let file, let change, let waits):
      files[file, default: File()].pending.append((change, waits))
    case .sync(let file):
      for (change, _) in files[file]?.pending ?? [] {
        Disk.apply(change, to: &files[file, default: File()].synced)
      }
      files[file]?.pending = []
    case .syncFolder:
      for naming in namings { Disk.apply(naming, to: &names) }
      namings = []
    case .remove(let path): namings.append(.unlink(path))
    case .rename(let path, let other): namings.append(.rename(path, other))
    case .note: break
    }
  }

  /// Writes to `folder` what is left when the power goes now.
  func write(to folder: URL, _ random: inout PowerRandom) throws {
    // All, none, or some.
    let likelihood: Double = [0, 0.3, 0.7, 0.95, 1].randomElement(using: &random) ?? 1
    func isKept() -> Bool { Double.random(in: 0..<1, using: &random) < likelihood }
    var names = names
    for naming in namings where isKept() { Disk.apply(naming, to: &names) }
    for (path, number) in names.sorted(by: { $0.key < $1.key }) {
      guard let file = files[number] else { continue }
      var content = file.synced
      for (change, waits) in file.pending {
        if waits {
          Disk.apply(change, to: &content)
        } else if case .write(let offset, let bytes) = change, bytes.count > Disk.sector, likelihood < 1,
          Int.random(in: 0..<4, using: &random) == 0
        {
          for (start, part) in Disk.sectors(offset, bytes) where isKept() {
            Disk.apply(.write(start, part), to: &content)
          }
        } else if isKept() {
          Disk.apply(change, to: &content)
        }
      }
      let url = folder.appending(path: path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try content.write(to: url)
    }
  }

  private static func sectors(_ offset: Int, _ bytes: Data) -> [(Int, Data)] {
    var parts: [(Int, Data)] = []
    var position = offset
    while position < offset + bytes.count {
      let end = min((position / sector + 1) * sector, offset + bytes.count)
      let start = bytes.startIndex + position - offset
      parts.append((position, bytes[start..<start + end - position]))
      position = end
    }
    return parts
  }

  private static func apply(_ change: Change, to content: inout Data) {
    switch change {
    case .write(let offset, let bytes):
      if content.count < offset + bytes.count {
        content.append(Data(count: offset + bytes.count - content.count))
      }
      content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    case .zero(let offset, let length):
      let end = min(offset + length, content.count)
      if offset < end { content.replaceSubrange(offset..<end, with: Data(count: end - offset)) }
    case .truncate(let size):
      if size < content.count {
        content.removeSubrange(size...)
      } else {
        content.append(Data(count: size - content.count))
      }
    }
  }

  private static func apply(_ naming: Naming, to names: inout [String: UInt64]) {
    switch naming {
    case .link(let path, let file): names[path] = file
    case .unlink(let path): names[path] = nil
    case .rename(let path, let other):
      if let file = names.removeValue(forKey: path) { names[other] = file }
    }
  }
}
