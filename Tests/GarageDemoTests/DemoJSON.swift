import Foundation
import Testing

@testable import GarageDemo

/// The demo's JSON object, decoded strictly: no key more, none less.
struct DemoJSON: Decodable {
  let packages, references: Int
  let package: String
  let reaches, cycles: Int
  let driver: String
  let bytes: Int
  let seconds: [String: Double]
  /// There where somebody asked.
  let neededBy: [String]?

  init(_ data: Data) throws {
    self = try JSONDecoder().decode(DemoJSON.self, from: data)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(
      object.keys.sorted()
        == ["bytes", "cycles", "driver"] + (neededBy == nil ? [] : ["neededBy"])
        + ["package", "packages", "reaches", "references", "seconds"])
  }

  /// What must not depend on the driver, the store or the moment.
  var counts: [String] { ["\(packages)", "\(references)", package, "\(reaches)", "\(cycles)"] }

  /// Compares every count with an independent one. The package must be the one that reaches most.
  func expect(_ expected: IndependentCount, _ driver: Options.Driver) throws {
    let farthest = expected.farthest()
    #expect(packages == expected.packages)
    #expect(references == expected.references)
    #expect(farthest.names.contains(package))
    #expect(reaches == farthest.reach)
    #expect(cycles == expected.cycles().count)
    #expect(self.driver == driver.rawValue)
    #expect(bytes > 0)
    #expect(seconds.values.allSatisfy { $0 >= 0 })
  }
}
