import Foundation
import Synchronization
import Testing

@_spi(Measuring) @testable import GarageCoding

/// Errors of attempts that fail, as where one type is tried after the other, say where they were made, each of them.
@Suite struct MismatchTests {
  /// What was tried and failed, in the order of the attempts.
  private final class Attempts: Sendable {
    private let noted = Mutex<[String]>([])
    /// The errors themselves, where they are to be kept.
    private let kept: Mutex<[any Error]?>
    init(keepsErrors: Bool = false) { kept = Mutex(keepsErrors ? [] : nil) }

    var failures: [String] { noted.withLock { $0 } }
    var keptErrors: [any Error] { kept.withLock { $0 ?? [] } }
    func attempt<T>(_ name: String, _ body: () throws -> T) -> T? {
      do { return try body() } catch {
        noted.withLock { $0.append("\(name): \(summary(error))") }
        kept.withLock { $0?.append(error) }
        return nil
      }
    }
  }
  @TaskLocal private static var attempts = Attempts()

  /// Any JSON value, as one is written where the type is not known.
  private indirect enum AnyValue: Codable, Equatable {
    case null, bool(Bool), number(Double), text(String), list([AnyValue]), object([String: AnyValue])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let attempts = MismatchTests.attempts
      if container.decodeNil() {
        self = .null
      } else if let value = attempts.attempt("bool", { try container.decode(Bool.self) }) {
        self = .bool(value)
      } else if let value = attempts.attempt("double", { try container.decode(Double.self) }) {
        self = .number(value)
      } else if let value = attempts.attempt("list", { try container.decode([AnyValue].self) }) {
        self = .list(value)
      } else if let value = attempts.attempt("object", { try container.decode([String: AnyValue].self) }) {
        self = .object(value)
      } else {
        self = .text(try container.decode(String.self))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .null: try container.encodeNil()
      case .bool(let value): try container.encode(value)
      case .number(let value): try container.encode(value)
      case .text(let value): try container.encode(value)
      case .list(let value): try container.encode(value)
      case .object(let value): try container.encode(value)
      }
    }
  }

  private struct Holder: Codable, Equatable, Identifiable {
    var id = 1
    var first: AnyValue
    var second: [AnyValue]
    var third: [String: AnyValue]
  }

  @Test func attemptsNameTheirPlaces() throws {
    let value = Holder(
      first: .list([
        .text("a"), .text("b"), .object(["x": .text("c"), "y": .list([.text("d"), .null])]), .number(1),
      ]),
      second: [.text("e"), .bool(true), .list([.list([.text("f")]), .text("g")]), .text("h")],
      third: ["p": .text("i"), "q": .object(["r": .text("j")]), "s": .number(2)])
    let ours = Attempts(), json = Attempts()
    #expect(try Self.$attempts.withValue(ours) { try roundTrip(value) } == value)
    #expect(try Self.$attempts.withValue(json) { try JSON.copy(value) } == value)
    #expect(ours.failures.count > 30)
    // JSON's dictionaries come in another order.
    #expect(ours.failures.sorted() == json.failures.sorted())
  }

  /// What is kept of an error does not change with the errors that follow.
  @Test func keptErrorsStayAsTheyWere() throws {
    let value = Holder(
      first: .list([.text("a"), .list([.text("b"), .text("c")]), .text("d"), .object(["x": .text("e")])]),
      second: [.list([.text("f")]), .text("g")], third: ["p": .text("h"), "q": .list([.text("i")])])
    let attempts = Attempts(keepsErrors: true)
    #expect(try Self.$attempts.withValue(attempts) { try roundTrip(value) } == value)
    #expect(attempts.keptErrors.count > 30)
    for (failure, error) in zip(attempts.failures, attempts.keptErrors) {
      #expect(failure.hasSuffix(": " + summary(error)))
    }
  }

  /// Deeper than what is noted of the values around one.
  @Test(arguments: [15, 16, 17, 40]) func deepAttemptsNameTheirPlaces(depth: Int) throws {
    func value(_ depth: Int) -> AnyValue {
      if depth == 0 { return .text("innermost") }
      let inner = value(depth - 1)
      return depth % 3 == 0
        ? .object(["only": inner]) : .list([.text("before"), inner, .text("after"), .number(1)])
    }
    let holder = Holder(first: value(depth), second: [], third: [:])
    let ours = Attempts(), json = Attempts()
    #expect(try Self.$attempts.withValue(ours) { try roundTrip(holder) } == holder)
    #expect(try Self.$attempts.withValue(json) { try JSON.copy(holder) } == holder)
    #expect(ours.failures == json.failures)
  }

  private enum Keys: String, CodingKey { case a, b, c }
  private enum OtherKeys: String, CodingKey { case a, b, c }

  /// Asks for texts as numbers, in turn in two containers of one value, in nested ones, and again in the first.
  private struct Turns: Codable {
    init() {}
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode("text", forKey: .a)
      var list = container.nestedUnkeyedContainer(forKey: .b)
      for _ in 0..<3 { try list.encode("element") }
      var inner = container.nestedContainer(keyedBy: Keys.self, forKey: .c)
      try inner.encode("inner", forKey: .a)
      try inner.encode(["x", "y"], forKey: .b)
    }

    init(from decoder: any Decoder) throws {
      let attempts = MismatchTests.attempts
      let first = try decoder.container(keyedBy: Keys.self)
      let second = try decoder.container(keyedBy: OtherKeys.self)
      var list = try first.nestedUnkeyedContainer(forKey: .b)
      let inner = try first.nestedContainer(keyedBy: Keys.self, forKey: .c)
      for round in 0..<3 {
        _ = attempts.attempt("first \(round)") { try first.decode(Int.self, forKey: .a) }
        _ = attempts.attempt("second \(round)") { try second.decode(Int.self, forKey: .a) }
        _ = attempts.attempt("list \(round)") { try list.decode(Int.self) }
        _ = attempts.attempt("inner \(round)") { try inner.decode(Int.self, forKey: .a) }
        _ = attempts.attempt("inner as list \(round)") { try inner.decode([String: Int].self, forKey: .b) }
        _ = attempts.attempt("elements \(round)") { try inner.decode([Int].self, forKey: .b) }
        _ = attempts.attempt("whole \(round)") { try decoder.unkeyedContainer() }
        _ = try list.decode(String.self)
      }
    }
  }

  @Test func containersInTurn() throws {
    struct Outer: Codable, Identifiable { var id = 1, turns = [Turns(), Turns()] }
    let ours = Attempts(), json = Attempts()
    _ = try Self.$attempts.withValue(ours) { try roundTrip(Outer()) }
    _ = try Self.$attempts.withValue(json) { try JSON.copy(Outer()) }
    #expect(ours.failures.count == 42)
    #expect(ours.failures == json.failures)
  }

  /// The keys in a path are those of the container that was asked.
  @Test func keysAreTheContainers() throws {
    struct Asking: Codable, Identifiable {
      var id: Int { 1 }
      init() {}
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode("text", forKey: .a)
      }
      init(from decoder: any Decoder) throws {
        let first = try decoder.container(keyedBy: Keys.self)
        let second = try decoder.container(keyedBy: OtherKeys.self)
        for _ in 0..<2 {
          #expect(throws: DecodingError.self) { try first.decode(Int.self, forKey: .a) }
          do { _ = try first.decode(Int.self, forKey: .a) } catch DecodingError.typeMismatch(_, let context) {
            #expect(context.codingPath.last is Keys)
            #expect(context.debugDescription == "A Int was expected, but a string was found.")
          }
          do { _ = try second.decode(Double.self, forKey: .a) } catch DecodingError.typeMismatch(
            _, let context)
          {
            #expect(context.codingPath.last is OtherKeys)
            #expect(context.debugDescription == "A Double was expected, but a string was found.")
          }
        }
      }
    }
    _ = try roundTrip(Asking())
  }
}
