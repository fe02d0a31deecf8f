package import GarageCoding

// For importers, which bring objects together with their attributes in another store.

extension Garage {
  /// A session that decodes records made of another library's JSON, with this garage's `userInfo`.
  package func makeImportSession(
    source: any RecordSource, types: RegisteredTypes, foreign: any ForeignReading
  ) -> GraphDecodingSession {
    GraphDecodingSession(source: source, types: types, userInfo: userInfo, foreign: foreign)
  }

  /// Encodes one object, and those of the objects that it refers to for which `isIncluded` returns true.
  ///
  /// - Parameter time: when the object was changed, in milliseconds since 1970-01-01 UTC. Nil asks the clock.
  package func encode(
    alone object: any Encodable, time: UInt64?, including isIncluded: (RecordIdentity) -> Bool
  ) throws -> EncodedGraph {
    try encoding { try $0.encode(object, time: time, dates: dateEncodingStrategy, including: isIncluded) }
  }
}

extension GarageWriting {
  /// Writes the records of a graph.
  package func put(_ graph: EncodedGraph) throws {
    try withWriteAccess { try $0.put(graph) }
  }
}

/// The text of an error of the layers below, in the words in which a verb would report it.
package func describedAsGarageError(_ error: any Error) -> String {
  do { return try translatingErrors { throw error } } catch { return "\(error)" }
}
