#if Command
  import GarageStorage

  extension GarageReading {
    /// What the type of an object is listed by: its name, and where that is lost digits, which every command takes for it.
    func listedName(of identity: RecordIdentity) -> String {
      (try? listedTypeName(of: identity)) ?? "a type whose name cannot be read"
    }
  }

  extension Garage {
    /// The whole name of a type of which a part was given: the name itself, or what stands behind its last dots.
    ///
    /// - Throws: ``CommandFailure`` where it is none or several.
    func typeName(matching part: String) throws -> String {
      let names = try storedTypeNames()
      if names.contains(part) { return part }
      let matches = names.filter { $0.hasSuffix("." + part) }
      if matches.count == 1 { return matches[0] }
      if matches.isEmpty {
        throw CommandFailure.missing(
          "There are no objects of a type '\(part)'. There are: \(names.isEmpty ? "none" : names.joined(separator: ", "))."
        )
      }
      throw CommandFailure.missing(
        "'\(part)' may be \(matches.joined(separator: " or ")). Give more of the name.")
    }
  }
#endif
