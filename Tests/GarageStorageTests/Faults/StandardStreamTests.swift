import Foundation
import GarageStorage
import Testing

/// A process without standard streams, as some are started.
@Suite struct StandardStreamTests {
  /// What is opened there gets no place of theirs, and so nothing that is printed.
  @Test(arguments: Backend.shared) func whatIsPrintedGoesIntoNoStore(_ backend: Backend) throws {
    let place = try Place(backend)
    try Child("speak", backend.rawValue, place.storePath.path).wait()
    let garage = try place.garage()
    #expect(try garage.get(Key<GlobalNamespace, Int>(id: "count", defaultValue: 0)) == 3)
    #expect(try garage.verify().findings.isEmpty)
  }
}
