public import GarageDriver

private let profiles = [
  HistoryProfile(
    name: "few-keys", stepCount: 300, keyCount: 12, keyByteCount: 6, valueByteCount: 30, changeCount: 6),
  HistoryProfile(
    name: "many-keys", stepCount: 120, keyCount: 600, keyByteCount: 20, valueByteCount: 200, changeCount: 120),
  HistoryProfile(
    name: "long-keys", stepCount: 100, keyCount: 80, keyByteCount: 511, valueByteCount: 100, changeCount: 20),
  HistoryProfile(
    name: "long-values", stepCount: 80, keyCount: 40, keyByteCount: 10, valueByteCount: 20_000,
    changeCount: 10),
]

/// Checks that compare random histories with a model.
enum HistoryChecks {
  static func add(to topic: inout CheckTopic) {
    for profile in profiles {
      for number in 1...3 {
        topic.add("\(profile.name)-\(number)", "Every operation does what it does to an ordinary dictionary.")
        {
          fixture in
          let place = fixture.newPlace()
          var history = History(
            profile, random: fixture.random(UInt64(number) << 32), storage: try fixture.open(place),
            reopen: { try reopen($0, at: place) { try fixture.open($0) } },
            compare: { seen, expected, step in
              fixture.atStep(step)
              try fixture.expectEqual(seen, expected, "what the store shows")
            })
          try history.run()
        }
      }
    }
  }
}

extension Conformance {
  /// Runs one random history on a new store at `place`. Returns what the store showed, line by line.
  ///
  /// The same seed gives the same lines on every driver that conforms.
  public static func transcript(
    seed: UInt64, at place: ConformancePlace, _ open: (ConformancePlace) throws -> any StorageDriver
  ) throws -> [String] {
    try withoutActuallyEscaping(open) { open in
      var history = History(
        profiles[0], random: SeededRandom(seed: seed), storage: try open(place),
        reopen: { try reopen($0, at: place, open) }, compare: { _, _, _ in })
      try history.run()
      return history.transcript
    }
  }
}

/// Closes `storage` and opens it again. A store that exists only while it is open is held open meanwhile.
private func reopen(
  _ storage: any StorageDriver, at place: ConformancePlace,
  _ open: (ConformancePlace) throws -> any StorageDriver
) throws -> any StorageDriver {
  if storage.info.isDurable {
    try storage.close()
    return try open(place)
  }
  let next = try open(place)
  try storage.close()
  return next
}
