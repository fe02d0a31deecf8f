import Foundation
import GarageStorage
import Synchronization

/// Parks from threads and tasks at once, and prints the number of each object when its park has returned, until it is
/// killed.
enum Acknowledging {
  private struct Receipt: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "receipt" }
    var id: Int
  }

  private static let next = Atomic<Int>(0)

  /// One write of a short line is whole, whoever else writes.
  private static func acknowledge(_ id: Int) {
    FileHandle.standardOutput.write(Data("\(id)\n".utf8))
  }

  static func run(_ garage: Garage, from first: Int) throws -> Never {
    next.store(first, ordering: .relaxed)
    for _ in 0..<8 {
      Thread.detachNewThread {
        while true {
          let id = next.add(1, ordering: .relaxed).oldValue
          guard (try? garage.park(Receipt(id: id))) != nil else { exit(1) }
          acknowledge(id)
        }
      }
    }
    for _ in 0..<16 {
      Task {
        while true {
          let id = next.add(1, ordering: .relaxed).oldValue
          guard (try? await garage.park(Receipt(id: id))) != nil else { exit(1) }
          acknowledge(id)
        }
      }
    }
    while true { sleep(1000) }
  }
}
