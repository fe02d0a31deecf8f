import Foundation
import GarageStorage
import Synchronization
import Testing

/// A query ends between two objects when the task is cancelled that waits for it.
@Suite struct CancelledQueryTests {
  @Test(arguments: Backend.engines, 0..<4)
  func endsBetweenTwoObjects(_ backend: Backend, _ end: Int) async throws {
    let trace = DecodingTrace()
    let garage = try Place(backend).garage(userInfo: [DecodingTrace.key: trace])
    try await garage.parkAll((0..<2000).map { Traced(id: $0, name: "\($0)") })
    let task = trace.start {
      let query = garage.query(Traced.self)
      switch end {
      case 0: _ = try await query.retrieveAll()
      case 1: _ = try await query.where(\.name != "x").retrieveAll()
      case 2: _ = try await query.sorted(by: \.name).retrieveAll()
      default: try await query.forEach { _ in }
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    let count = trace.count.load(ordering: .relaxed)
    #expect(count < 1000)
  }
}

/// Counts decoded objects, and cancels its task at the hundredth.
private final class DecodingTrace: Sendable {
  static let key = CodingUserInfoKey(rawValue: "decoding trace")!
  let count = Atomic<Int>(0)
  private let task = Mutex<Task<Void, any Error>?>(nil)

  func start(_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
    task.withLock { task in
      let new = Task { try await body() }
      task = new
      return new
    }
  }

  func note() {
    if count.add(1, ordering: .relaxed).newValue == 100 { task.withLock { $0 }?.cancel() }
  }
}

private struct Traced: Codable, Identifiable {
  var id: Int
  var name: String

  init(id: Int, name: String) { (self.id, self.name) = (id, name) }

  init(from decoder: any Decoder) throws {
    (decoder.userInfo[DecodingTrace.key] as? DecodingTrace)?.note()
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    name = try container.decode(String.self, forKey: .name)
  }
}
