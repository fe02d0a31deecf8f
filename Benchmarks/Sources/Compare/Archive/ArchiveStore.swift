import DebianPackages
import GarageDriver
import GarageStorage

/// Keeps the whole archive: parks it in one transaction, retrieves it in another.
protocol ArchiveStore {
  var who: String { get }
  func park(_ packages: [Package]) throws
  func retrieve() throws -> [Package]
  /// The package with that name and all that it reaches; or it alone, linked to them.
  func retrieve(_ name: String) throws -> [Package]
  func close() throws
}

struct GarageArchive: ArchiveStore {
  let who: String
  let garage: Garage

  init(_ who: String, _ driver: any StorageDriver) throws {
    self.who = who
    garage = try GarageStore.garage(driver)
  }

  func park(_ packages: [Package]) throws { try garage.parkAll(packages) }
  func retrieve() throws -> [Package] { try garage.retrieveAll(Package.self) }
  func retrieve(_ name: String) throws -> [Package] {
    try garage.retrieve(Package.self, identifier: name).map { [$0] } ?? []
  }
  func close() throws { try garage.close() }
}
