import Foundation
import GarageDriver
import GarageStorage

/// Works on a store in a process that was started without standard streams, and says something all the same.
enum Speaking {
  static func run(opening open: () throws -> any StorageDriver) throws {
    let streams = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    for stream in streams { _ = close(stream) }
    let garage = try Garage(open())
    let key = Key<GlobalNamespace, Int>(id: "count", defaultValue: 0)
    let words = Array(String(repeating: "words that belong into no store\n", count: 300).utf8)
    for count in 1...3 {
      try garage.set(key, value: count)
      // Nobody hears it.
      for stream in streams { _ = write(stream, words, words.count) }
    }
    try garage.close()
  }
}
