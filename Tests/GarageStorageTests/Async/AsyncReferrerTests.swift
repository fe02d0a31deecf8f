import GarageDriver
import GarageStorage
import Testing

/// Who refers to an object, asked by tasks that are cancelled.
@Suite struct AsyncReferrerTests {
  /// How those who refer to an object are found.
  enum Way: CaseIterable {
    case indexed, scanning
    /// With an index whose entries do not answer for what is not saved.
    case unsaved
  }

  private enum Verb: CaseIterable {
    case referrers, objects, objectsByProperty

    /// How many it finds.
    func count(in garage: Garage) async throws -> Int {
      switch self {
      case .referrers:
        return try await garage.referrers(of: Pearl.self, identifier: 0).count
      case .objects:
        return try await garage.retrieveReferrers(Pearl.self, of: Pearl.self, identifier: 0).count
      case .objectsByProperty:
        return try await garage.retrieveReferrers(Pearl.self, of: Pearl.self, identifier: 0, by: \.next).count
      }
    }
  }

  @Test(arguments: Backend.engines, Way.allCases)
  func cancellingEndsTheSearch(_ backend: Backend, _ way: Way) async throws {
    let storage = HoldingStorage(try Place(backend).open())
    let indexed: ReferrerOption = backend.isSealed ? .hashed : .indexed
    let garage = try Garage(storage, referrers: way == .scanning ? .asStored : indexed)
    try await garage.parkAll((0..<1000).map { Pearl(id: $0, next: Reference(Pearl.self, identifier: 0)) })
    // The first to ask makes the index ready.
    #expect(try await garage.referrers(of: Pearl.self, identifier: 0).count == 1000)
    #expect(try await garage.explainReferrers().readsAllRecords == (way == .scanning))
    if way == .unsaved {
      try await garage.withAutosaveDisabled { try await garage.park(Pearl(id: 1000, next: nil)) }
    }
    for verb in Verb.allCases {
      storage.hold()
      #expect(try await verb.count(in: garage) == 1000)
      let wholeCount = storage.stepCount
      #expect(wholeCount >= 1000)
      // While it searches, and where it decodes what was found while it does that.
      for quarter in [1, 3] {
        storage.hold(atStep: wholeCount * quarter / 4)
        let task = Task { try await verb.count(in: garage) }
        let isHeld = try await comesTrue { storage.isHeld }
        task.cancel()
        storage.letGo()
        #expect(isHeld, "\(verb)")
        await #expect(throws: CancellationError.self, "\(verb)") { try await task.value }
        #expect(storage.stepCount < wholeCount, "\(verb)")
      }
    }
    #expect(try await Verb.objects.count(in: garage) == 1000)
  }
}
