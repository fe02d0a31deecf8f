import Foundation
import GarageStorage
import Testing

/// What was acknowledged is on disk, also where many commits were one.
@Suite struct AcknowledgedTests {
  private struct Receipt: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "receipt" }
    var id: Int
  }

  @Test(arguments: Backend.sharedAndSealed)
  func itSurvivesTheProcess(_ backend: Backend) throws {
    let place = try Place(backend)
    var acknowledged: [Int] = []
    let rounds = runsLongTests ? 200 : 6
    for round in 0..<rounds {
      let child = try Child("acknowledge", backend.rawValue, place.storePath.path, "\(round * 1_000_000)")
      // The last line may be cut.
      let lines = try child.kill(after: Int.random(in: 100..<20_000)).split(
        separator: "\n", omittingEmptySubsequences: false
      ).dropLast()
      acknowledged += lines.compactMap { Int($0) }
      let garage = try place.garage()
      defer { try? garage.close() }
      let there = try Set(garage.query(Receipt.self).values(\.id))
      let lost = acknowledged.filter { !there.contains($0) }
      #expect(lost.isEmpty, "\(lost.count) of \(acknowledged.count) lost after kill \(round)")
    }
    #expect(acknowledged.count > rounds * 10)
  }
}
