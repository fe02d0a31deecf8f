import Foundation
import Testing

@testable import GarageCoding

/// One value that must come back as it was, through Foundation's JSON coders and through ours.
struct RoundTripCase: CustomTestStringConvertible, Sendable {
  let name: String
  let run: @Sendable () throws -> Void
  /// Gives a holder of the value, with this id, to a store to keep.
  let keep: @Sendable (_ id: Int, any HolderStore) throws -> Void
  /// Checks what the store kept.
  let check: @Sendable (_ id: Int, any HolderStore) throws -> Void
  var testDescription: String { name }
}

/// A place that keeps holders of values.
protocol HolderStore {
  func keep<T: Codable>(_ holder: Holder<T>) throws
  func holder<T: Codable>(of type: T.Type, id: Int) throws -> Holder<T>?
}

/// A case whose values compare by `==`.
///
/// - Parameter json: false for what JSON itself does not keep.
func same<T: Codable & Equatable & SendableMetatype>(
  _ name: String, json: Bool = true, _ value: @autoclosure @escaping @Sendable () throws -> T
) -> RoundTripCase {
  same(name, json: json, value, by: { $0 == $1 })
}

/// A case whose values compare by `isEqual`.
func same<T: Codable & SendableMetatype>(
  _ name: String, json: Bool = true, _ value: @escaping @Sendable () throws -> T,
  by isEqual: @escaping @Sendable (T, T) -> Bool
) -> RoundTripCase {
  let run: @Sendable () throws -> Void = {
    let value = try value()
    let holder = Holder(value)
    if json {
      let copy = try JSON.copy(holder)
      for element in copy.all { #expect(isEqual(element, value), "JSON: \(element)") }
    }
    let copy = try roundTrip(holder)
    #expect(copy.all.count == holder.all.count)
    for element in copy.all { #expect(isEqual(element, value), "\(element)") }
    // What was decoded is encoded to the same bytes.
    #expect(try body(copy) == body(holder))
  }
  return RoundTripCase(
    name: name, run: run,
    keep: { id, store in
      var holder = Holder(try value())
      holder.id = id
      try store.keep(holder)
    },
    check: { id, store in
      let value = try value()
      let copy = try #require(try store.holder(of: T.self, id: id), "\(name)")
      #expect(copy.all.count == Holder(value).all.count, "\(name)")
      for element in copy.all { #expect(isEqual(element, value), "\(name): \(element)") }
    })
}

/// Every kind of value comes back as it was, as through Foundation's JSON coders.
@Suite struct RoundTripTests {
  static let cases: [RoundTripCase] =
    numberCases + foundationCases + textCases + collectionCases + typeCases + keyCases + containerCases
    + handWrittenCases

  @Test func thereAreEnough() {
    #expect(RoundTripTests.cases.count >= 150)
    #expect(Set(RoundTripTests.cases.map(\.name)).count == RoundTripTests.cases.count)
  }

  @Test(arguments: cases) func roundTrips(_ testCase: RoundTripCase) throws { try testCase.run() }

  /// The same on a thread of its own with a small stack, many at once, in coders that served others before.
  @Test func roundTripOnManyThreads() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for start in 0..<4 {
        group.addTask {
          for testCase in RoundTripTests.cases.dropFirst(start)
          where !testCase.name.contains("MB") && !testCase.name.contains("70000") {
            try testCase.run()
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
