#if os(Linux)
  import Foundation
  import Testing

  /// The power goes at any moment, and of what was not synced any part is on the disk: what was acknowledged is there, the
  /// rest is whole, and the store opens.
  ///
  /// A process whose writes are recorded commits; the history is ended at random places afterwards.
  @Suite struct PowerLossTests {
    private static let commits = runsLongTests ? 400 : 70
    private static let cuts = runsLongTests ? 2_000 : 40

    /// The trial's figures by name.
    private func figures(
      _ store: String, commits: Int = Self.commits, cuts: Int = Self.cuts, mustKeepAll: Bool = false
    ) throws -> [String: Int] {
      let seed = UInt64.random(in: 0...UInt64(UInt32.max))
      let place = try Place(.memory)
      let recorded = place.folder.appending(path: "recorded", directoryHint: .isDirectory)
      try FileManager.default.createDirectory(at: recorded, withIntermediateDirectories: true)
      let trace = place.folder.appending(path: "trace").path
      let arguments = (commits: "\(commits)", seed: "\(seed)")
      try Child(
        "record", store, recorded.path, trace, arguments.commits, arguments.seed, program: "PowerChild"
      )
      .wait()
      let child = try Child(
        "replay", store, place.folder.path, trace, arguments.commits, arguments.seed, "\(cuts)",
        mustKeepAll ? "full" : "", program: "PowerChild")
      let text = try child.lines()
      if !mustKeepAll { #expect(text.contains("findings=0\n"), "\(store), seed \(seed): \(text)") }
      let pairs = text.split(whereSeparator: \.isWhitespace).compactMap { word -> (String, Int)? in
        let parts = word.split(separator: "=", maxSplits: 1)
        return parts.count == 2 ? Int(parts[1]).map { (String(parts[0]), $0) } : nil
      }
      try FileManager.default.removeItem(at: place.folder)
      return Dictionary(pairs) { first, _ in first }
    }

    @Test(arguments: ["sqlite", "lmdb"]) func nothingAcknowledgedIsLost(_ store: String) throws {
      let figures = try figures(store)
      #expect(figures["cuts"] == Self.cuts && figures["lost"] == 0)
      // The trial is one: there was something to lose.
      #expect(figures["waiting"] ?? 0 > Self.cuts / 10)
    }

    /// A store of which nothing but the making was begun is made anew, or is there.
    @Test(arguments: ["sqlite", "sqlite-normal", "lmdb", "lmdb-normal"])
    func whatIsBeingMadeOpens(_ store: String) throws {
      let cuts = runsLongTests ? 4_000 : 200
      #expect(try figures(store, commits: 1, cuts: cuts)["cuts"] == cuts)
    }

    /// Where commits do not wait for the disk, the last ones may be missing: none of them in part, and none before others.
    @Test(arguments: ["sqlite-normal", "lmdb-normal"]) func onlyTheTailIsLost(_ store: String) throws {
      #expect(try figures(store)["cuts"] == Self.cuts)
    }

    /// The same trial finds what is lost, where something is.
    @Test func theTrialSeesLosses() throws {
      let figures = try figures("sqlite-normal", mustKeepAll: true)
      #expect(figures["findings"] ?? 0 > 0 && figures["lost"] ?? 0 > 0)
    }
  }
#endif
