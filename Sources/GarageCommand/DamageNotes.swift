#if Command
  import ArgumentParser
  import GarageStorage

  /// What a command could not read and passed over: it is said on standard error, and the command ends with 1.
  struct DamageNotes {
    private var count = 0
    private static let maximumCount = 10

    mutating func note(_ error: GarageError) {
      count += 1
      if count <= Self.maximumCount { Output.complain("\(error)") }
    }

    /// - Throws: the exit status, where there was anything.
    func end() throws {
      if count == 0 { return }
      let rest = count - Self.maximumCount
      if rest > 0 { Output.complain("and \(rest) more that cannot be read: garage verify") }
      throw ExitCode(CommandFailure.findingStatus)
    }
  }
#endif
