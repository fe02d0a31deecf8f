import GarageDriver
import Testing

/// Expects that `body` throws a `StorageError` of one kind, and returns it.
@discardableResult
func expectError(
  _ kind: StorageError.Kind, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws -> StorageError {
  var caught: StorageError?
  do { try body() } catch let error as StorageError { caught = error }
  let error = try #require(caught, "nothing was thrown", sourceLocation: location)
  #expect(error.kind == kind, "\(error)", sourceLocation: location)
  return error
}
