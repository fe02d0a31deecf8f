public import Hummingbird

/// What the server keeps.
public struct Note: ResponseCodable, Identifiable, Sendable, Equatable {
  public var id: Int
  public var text: String

  public init(id: Int, text: String) { (self.id, self.text) = (id, text) }
}

/// Where notes are kept. A note that was kept is on disk.
public protocol NoteStore: Sendable {
  func note(_ id: Int) async throws -> Note?
  func keep(_ note: Note) async throws
  func notes() async throws -> [Note]
  /// Whether there was one.
  func remove(_ id: Int) async throws -> Bool
}
