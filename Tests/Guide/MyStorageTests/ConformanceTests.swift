// example: test
import Foundation
import GarageConformance
import MyStorage
import Testing

let child = Bundle.main.executableURL!.deletingLastPathComponent().appendingPathComponent("MyStorageChild")

@Test(arguments: Conformance.checks)
func conforms(to check: ConformanceCheck) throws {
  try check.run(ConformanceOptions(childExecutable: child)) { place in ArrayStorage(named: place.name) }
}
// end
