internal import GarageDriver

extension Fixture {
  func expect(
    _ condition: Bool, _ expected: @autoclosure () -> String,
    seen: @autoclosure () -> String = "the contrary",
    file: StaticString = #fileID, line: UInt = #line
  ) throws {
    if !condition { throw failure(expected(), seen(), file: file, line: line) }
    met(file: file, line: line)
  }

  func expectEqual<T: Equatable>(
    _ seen: T, _ expected: T, _ what: @autoclosure () -> String,
    file: StaticString = #fileID, line: UInt = #line
  ) throws {
    if seen == expected { return met(file: file, line: line) }
    throw failure(
      "\(what()) to be \(shortened(expected))", shortened(seen), file: file, line: line)
  }

  /// Expects `body` to throw a `StorageError` of one of these kinds, and returns it.
  @discardableResult
  func expectError(
    _ kinds: StorageError.Kind..., from what: String, file: StaticString = #fileID, line: UInt = #line,
    _ body: () throws -> Void
  ) throws -> StorageError {
    let names = kinds.map(\.rawValue).joined(separator: " or ")
    do {
      try body()
    } catch let failure as ConformanceFailure {
      throw failure
    } catch let error as StorageError where kinds.contains(error.kind) {
      if error.message.isEmpty || error.driver.isEmpty {
        throw failure("\(names) to name the driver and say what to do", "\(error)", file: file, line: line)
      }
      if error.isRetryable && mistakes.contains(error.kind) {
        throw failure(
          "\(error.kind.rawValue) not to be retryable, since another try throws the same",
          "\(error), isRetryable", file: file, line: line)
      }
      met(file: file, line: line)
      return error
    } catch let refusal where isRefusal(refusal) {
      throw refusal
    } catch {
      throw failure("\(what) to throw \(names)", "\(error)", file: file, line: line)
    }
    throw failure("\(what) to throw \(names)", "no error", file: file, line: line)
  }

  /// Expects `body` to throw `expected` itself.
  func expectUnchanged(
    _ expected: TestError, from what: String, file: StaticString = #fileID, line: UInt = #line,
    _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch let failure as ConformanceFailure {
      throw failure
    } catch let refusal where isRefusal(refusal) {
      throw refusal
    } catch {
      if let error = error as? TestError, error === expected { return met(file: file, line: line) }
      throw failure("\(what) to pass the error through unchanged", "\(error)", file: file, line: line)
    }
    throw failure("\(what) to pass the error through", "no error", file: file, line: line)
  }

  /// Runs a call that throws an error of its body, which is the check's own. Refusals of the engine are thrown on.
  func swallowing(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error where isRefusal(error) && (error as? StorageError)?.driver != "test" {
      throw error
    } catch {}
  }

  /// Expects the last commit of `storage` to hold exactly these entries.
  func expectContents(
    of storage: any StorageDriver, _ expected: KeyValuePairs<String, String>, _ what: String = "the store",
    file: StaticString = #fileID, line: UInt = #line
  ) throws {
    let seen = try located(file, line) { try storage.read { try $0.entries() } }
    try expectEqual(seen, expected.map { Entry($0.key, $0.value) }, what, file: file, line: line)
  }

  private func shortened(_ value: some Any) -> String {
    let mirror = Mirror(reflecting: value)
    let isOptional = mirror.displayStyle == .optional
    let text = isOptional ? mirror.children.first.map { "\($0.value)" } ?? "none" : "\(value)"
    return text.count > 600 ? "\(text.prefix(600))… (\(text.count) characters)" : text
  }
}

/// The kinds of errors that come again however often the call is made, or that must not be followed by another try.
private let mistakes: Set<StorageError.Kind> = [
  .invalidKey, .valueTooLarge, .mutationWhileLent, .transactionClosed, .nestedWrite, .closed,
  .closeInsideTransaction, .usedAfterFork, .readOnly, .outcomeUnknown,
]

/// An error of the body, recognised by its identity.
final class TestError: Error, Sendable {}
