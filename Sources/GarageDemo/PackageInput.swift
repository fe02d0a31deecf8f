import Foundation

/// The source of the packages.
struct PackageInput {
  /// The package database of a Debian machine.
  static let systemPath = "/var/lib/dpkg/status"

  /// Its name in messages.
  let name: String
  let bytes: [UInt8]

  /// Throws ``DemoError``, naming the file and the reason, if it cannot be read.
  init(_ input: Options.Input) throws {
    switch input {
    case .file(let path):
      name = path
      bytes = try PackageInput.contents(ofFile: path)
    case .standardInput:
      name = "standard input"
      bytes = try PackageInput.contents(of: STDIN_FILENO, name: name)
    case .automatic:
      if access(PackageInput.systemPath, R_OK) == 0 {
        name = PackageInput.systemPath
        bytes = try PackageInput.contents(ofFile: name)
      } else {
        name = "the sample that the demo brings"
        bytes = Array(SamplePackages.text.utf8)
      }
    }
  }

  private static func contents(ofFile path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw unreadable(path, errno) }
    defer { close(file) }
    return try contents(of: file, name: path)
  }

  private static func contents(of file: Int32, name: String) throws -> [UInt8] {
    let blockSize = 1 << 20
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: blockSize)
    while true {
      let count = read(file, &block, blockSize)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw unreadable(name, errno) }
      if count == 0 { return bytes }
      bytes += block[..<count]
    }
  }

  private static func unreadable(_ name: String, _ code: Int32) -> DemoError {
    .failed("Cannot read \(name): \(String(cString: strerror(code))).")
  }
}
