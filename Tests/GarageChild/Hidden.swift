import GarageStorage

/// Types whose names the runtime gives with an address in them that changes with every launch.
enum Hidden {
  private struct Secret: Codable, Identifiable {
    var id: Int
    var text = "private"
  }

  /// How many objects of earlier processes are found; parks as many again.
  static func run(_ garage: Garage) throws -> Int {
    struct Local: Codable, Identifiable {
      var id: Int
      var secret: Secret
    }
    let found = try garage.retrieveAll(Local.self)
    let count = try garage.count(Secret.self)
    if found.map(\.secret.id) != Array(0..<count) { throw Failure("\(found) for \(count) objects") }
    try garage.park(Local(id: count, secret: Secret(id: count)))
    try garage.close()
    return count
  }
}
