#if Command
  import GarageStorage

  extension GarageReading {
    /// The name under which an object's type is listed. If the name is lost, it is a text of digits, which every command
    /// accepts in its place.
    func listedName(of identity: RecordIdentity) -> String {
      (try? listedTypeName(of: identity)) ?? "a type whose name cannot be read"
    }
  }

  extension Garage {
    /// The full name of a type of which a part was given: the name itself, or what follows its last dots.
    ///
    /// - Throws: ``CommandFailure`` if no type has such a name, or several have.
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
