#if Command
  import ArgumentParser
  import GarageStorage

  /// Damage that a command has skipped. It is reported on standard error, and the command ends with status 1.
  struct DamageNotes {
    private var count = 0
    private static let maximumCount = 10

    mutating func note(_ error: GarageError) {
      count += 1
      if count <= Self.maximumCount { Output.complain("\(error)") }
    }

    /// - Throws: the exit status, if there was any damage.
    func end() throws {
      if count == 0 { return }
      let rest = count - Self.maximumCount
      if rest > 0 { Output.complain("and \(rest) more that cannot be read: garage verify") }
      throw ExitCode(CommandFailure.findingStatus)
    }
  }
#endif
