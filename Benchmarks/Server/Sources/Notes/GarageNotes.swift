public import GarageStorage

/// Notes in a garage, whose verbs for tasks wait for the disk together, and on no thread of the server's.
public struct GarageNotes: NoteStore {
  private let garage: Garage

  public init(_ garage: Garage) { self.garage = garage }

  public func note(_ id: Int) async throws -> Note? { try await garage.retrieve(Note.self, identifier: id) }
  public func keep(_ note: Note) async throws { try await garage.park(note) }
  public func notes() async throws -> [Note] { try await garage.retrieveAll(Note.self) }

  public func remove(_ id: Int) async throws -> Bool {
    do {
      try await garage.delete(Note.self, identifier: id)
      return true
    } catch GarageError.failedToRetrieveObject {
      return false
    }
  }
}
