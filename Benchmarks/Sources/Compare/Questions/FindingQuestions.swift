import Foundation
import GRDB
import GarageStorage

extension CorpusComparison.Question {
  typealias Question = CorpusComparison.Question
  typealias Answer = CorpusComparison.Answer

  static let all = finding + ordered + counted + changing

  /// All columns, `rest` behind them.
  static func fetch(_ db: Database, _ rest: String, _ arguments: StatementArguments = []) throws -> Answer {
    .objects(try Consignment.fetchAll(db, sql: "SELECT * FROM consignment \(rest)", arguments: arguments))
  }

  /// Objects that satisfy a condition, in the order of their identifiers.
  private static func find(
    _ title: String, _ condition: @escaping @Sendable () -> Condition<Consignment>,
    filter: @escaping @Sendable (Consignment) -> Bool, sql: String,
    _ arguments: @escaping @Sendable () -> StatementArguments = { [] }
  ) -> Question {
    Question(
      title, { .objects(try $0.query(Consignment.self).where(condition()).retrieveAll()) },
      filter: { .objects($0.filter(filter)) },
      sql: { try fetch($0, "WHERE \(sql) ORDER BY id", arguments()) })
  }

  private static let codes = (0..<20).map { String(format: "S-%08d", $0 * 4001 * 7919 % 99_999_989) }
  private static let month = Consignment.start + 86_400 * 100...Consignment.start + 86_400 * 130
  private static var monthArguments: StatementArguments {
    [month.lowerBound.timeIntervalSinceReferenceDate, month.upperBound.timeIntervalSinceReferenceDate]
  }

  static let finding: [Question] = [
    find(
      "one code", { \.code == codes[3] }, filter: { $0.code == codes[3] }, sql: "code = ?", { [codes[3]] }),
    find(
      "twenty codes", { \.code == .oneOf(codes) }, filter: { codes.contains($0.code) },
      sql: "code IN (\(codes.map { "'\($0)'" }.joined(separator: ", ")))"),
    find(
      "a customer", { \.customer == "customer 77" }, filter: { $0.customer == "customer 77" },
      sql: "customer = ?", { ["customer 77"] }),
    find(
      "a city", { \.city == Consignment.city }, filter: { $0.city == Consignment.city }, sql: "city = ?",
      { [Consignment.city] }),
    find(
      "a city, and heavy", { \.city == Consignment.city && \.weight > 35 },
      filter: { $0.city == Consignment.city && $0.weight > 35 }, sql: "city = ? AND weight > 35",
      { [Consignment.city] }),
    find(
      "a city, a range of prices", { \.city == Consignment.city && \.price == 10_000...12_000 },
      filter: { $0.city == Consignment.city && 10_000...12_000 ~= $0.price },
      sql: "city = ? AND price BETWEEN 10000 AND 12000", { [Consignment.city] }),
    find(
      "a range of prices, urgent", { \.price == 20_000..<25_000 && \.isUrgent == true },
      filter: { 20_000..<25_000 ~= $0.price && $0.isUrgent },
      sql: "price >= 20000 AND price < 25000 AND isUrgent = 1"),
    find(
      "a code or a customer", { \.code == codes[5] || \.customer == "customer 1234" },
      filter: { $0.code == codes[5] || $0.customer == "customer 1234" }, sql: "code = ? OR customer = ?",
      { [codes[5], "customer 1234"] }),
    find(
      "customers that begin alike", { \.customer == .hasPrefix("customer 19") },
      filter: { $0.customer.hasPrefix("customer 19") },
      sql: "customer >= 'customer 19' AND customer < 'customer 1:'"),
    find(
      "a customer in any case", { \.customer == .caseInsensitive("CUSTOMER 42") },
      filter: { $0.customer.lowercased() == "customer 42" }, sql: "customer = 'CUSTOMER 42' COLLATE NOCASE"),
    find(
      "a state, and a month", { \.state == .underway && \.due == month },
      filter: { $0.state == .underway && month ~= $0.due }, sql: "state = 'underway' AND due BETWEEN ? AND ?",
      { monthArguments }),
    find(
      "two states, and a month", { \.state == .oneOf([.lost, .packed]) && \.due == month },
      filter: { [.lost, .packed].contains($0.state) && month ~= $0.due },
      sql: "state IN ('lost', 'packed') AND due BETWEEN ? AND ?", { monthArguments }),
    find(
      "not delivered", { \.state != .delivered }, filter: { $0.state != .delivered },
      sql: "state <> 'delivered'"),
    find(
      "a month, and not in a city", { \.due == month && !(\.city == Consignment.city) && \.price < 2000 },
      filter: { month ~= $0.due && $0.city != Consignment.city && $0.price < 2000 },
      sql: "due BETWEEN ? AND ? AND NOT city = '\(Consignment.city)' AND price < 2000", { monthArguments }),
    find(
      "heavy, no index", { \.weight > 39.5 }, filter: { $0.weight > 39.5 }, sql: "weight > 39.5"),
    find(
      "three conditions, no index", { \.weight > 20 && \.pieces == 3...4 && \.isUrgent == true },
      filter: { $0.weight > 20 && 3...4 ~= $0.pieces && $0.isUrgent },
      sql: "weight > 20 AND pieces BETWEEN 3 AND 4 AND isUrgent = 1"),
    find(
      "text within text, no index", { \.note == .contains("door, cold") },
      filter: { $0.note?.contains("door, cold") == true }, sql: "instr(note, 'door, cold') > 0"),
    find(
      "text at the end, or many pieces, no index", { \.note == .hasSuffix("persons") || \.pieces > 11 },
      filter: { $0.note?.hasSuffix("persons") == true || $0.pieces > 11 },
      sql: "note LIKE '%persons' OR pieces > 11"),
    Question(
      "the first that is heavy, no index",
      { .objects([try $0.query(Consignment.self).where(\.weight > 39.99).first()].compactMap { $0 }) },
      filter: { .objects($0.first { $0.weight > 39.99 }.map { [$0] } ?? []) },
      sql: { try fetch($0, "WHERE weight > 39.99 ORDER BY id LIMIT 1") }),
  ]
}
