import GarageSealing
import GarageStorage
import Testing

/// A garage that hides its identifiers does what one does that shows them, whatever is done with it.
@Suite struct HidingHistoryTests {
  /// Random changes, saved at once and later, kept and dropped, agree with a dictionary: by identifier, all together
  /// and by status.
  @Test(arguments: SealedBase.allCases, [1, 2, 3] as [UInt64])
  func historiesAgreeWithAModel(_ base: SealedBase, seed: UInt64) throws {
    var random = HistoryRandom(state: seed)
    let place = try SealedPlace(base)
    var garage = try Garage(place.sealed(), hidesIdentifiers: true)
    var model: [String: HiddenPerson] = [:]
    var saved = model
    for step in 0..<150 {
      // Some identifiers are cut in keys before they are hidden.
      let number = random.below(30)
      let id = "person \(number)" + String(repeating: "-", count: number % 4 * 90)
      let status = SyncStatus(rawValue: random.below(4)) ?? .synced
      switch random.below(8) {
      case 0..<4:
        let person = HiddenPerson(id: id, age: step, syncStatus: status)
        try garage.park(person)
        model[id] = person
      case 4:
        if let person = model[id] {
          try garage.setSyncStatus(status, for: person)
          model[id]?.syncStatus = status
        }
      case 5:
        if model.removeValue(forKey: id) != nil { try garage.delete(HiddenPerson.self, identifier: id) }
      case 6:
        garage.isAutosaveEnabled.toggle()
        if garage.isAutosaveEnabled { try garage.save() }
      default:
        let isAutosaving = garage.isAutosaveEnabled
        // What was not saved is dropped.
        if !isAutosaving { model = saved }
        try garage.close()
        garage = try Garage(place.sealed())
      }
      if garage.isAutosaveEnabled { saved = model }
      let all = try garage.retrieveAll(HiddenPerson.self).sorted { $0.id < $1.id }
      #expect(all == model.values.sorted { $0.id < $1.id }, "seed \(seed), step \(step)")
      #expect(
        try garage.retrieve(HiddenPerson.self, identifier: id) == model[id], "seed \(seed), step \(step)")
      for status in SyncStatus.allCases {
        let found = try Set(garage.retrieveAll(HiddenPerson.self, withStatus: status).map(\.id))
        let expected = Set(model.values.filter { $0.syncStatus == status }.map(\.id))
        #expect(found == expected, "seed \(seed), step \(step), \(status)")
      }
    }
    try garage.close()
  }
}

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
private struct HistoryRandom {
  var state: UInt64

  mutating func below(_ count: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((z ^ (z >> 31)) % UInt64(count))
  }
}
