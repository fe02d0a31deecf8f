import GarageDriver
import Testing

/// The error that `body` throws, which must be one of a driver.
func storageError<R>(
  _ body: () throws -> R, sourceLocation: SourceLocation = #_sourceLocation
) -> StorageError? {
  do {
    _ = try body()
    Issue.record("Nothing was thrown", sourceLocation: sourceLocation)
  } catch let error as StorageError {
    return error
  } catch {
    Issue.record("\(error) was thrown", sourceLocation: sourceLocation)
  }
  return nil
}
