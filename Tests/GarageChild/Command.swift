import Foundation
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer

#if PostgreSQL
  import GaragePostgres
#endif

/// What the process can be told to do.
enum Command {
  static func run(_ arguments: [String]) throws {
    func argument(_ index: Int) throws -> String {
      guard index < arguments.count else { throw Failure("argument \(index) is missing") }
      return arguments[index]
    }
    func number(_ index: Int) throws -> Int {
      guard let number = Int(try argument(index)) else { throw Failure("argument \(index) is no number") }
      return number
    }
    func storage() throws -> any StorageDriver { try openStorage(try argument(1), at: try argument(2)) }

    switch try argument(0) {
    case "chain":
      guard let kind = ChainKind(rawValue: try argument(3)) else { throw Failure("no such kind of chain") }
      try Chain.run(kind, count: try number(4), steps: try argument(5), in: try storage())
    case "fill": try Filling.fill(Garage(try storage()), count: try number(3))
    case "measure-foreach": try Filling.measure(opening: storage, count: try number(3))
    case "measure-packages":
      try Filling.measurePackages(opening: storage, takingApart: try argument(3) == "apart")
    case "share": try Sharing.run(try storage(), side: try argument(3), rounds: try number(4))
    case "count-key": try Counting.run(try argument(1), at: try argument(2), rounds: try number(3))
    case "acknowledge": try Acknowledging.run(Garage(try storage()), from: try number(3))
    case "speak": try Speaking.run(opening: storage)
    case "hold": try Holding.run(try storage())
    case "stock": try Stocking.stock(try storage())
    case "claim": try Stocking.claim(try storage(), number: try number(3), count: try number(4))
    case "rush":
      try Stocking.rush(try storage(), number: try number(3), count: try number(4), threads: try number(5))
    case "digest": report(["identifier": try digest()])
    case "fail":
      guard let kind = Failing.Kind(rawValue: try argument(1)) else {
        throw Failure("no such kind of failure")
      }
      try Failing.run(kind, Garage(MemoryStorage()), count: try number(2))
    case "care": try Caring.run(try argument(3), try storage(), try argument(1), try argument(4))
    case "hidden": report(["found": try Hidden.run(Garage(try storage()))])
    case let other:
      throw Failure(
        """
        \(other) is none of chain, fill, measure-foreach, measure-packages, share, count-key, hold, stock, claim,
        digest, fail, hidden, acknowledge, care, rush, speak
        """
      )
    }
  }

  /// The identifier of a value whose sets and dictionaries have another order in every process.
  private static func digest() throws -> String {
    try Garage(MemoryStorage()).identifier(for: Basket.sample).description
  }

  /// Prints one line of names and values.
  static func report(_ values: KeyValuePairs<String, Any>) {
    let line = values.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// - Parameter readOnly: for the stores on a server alone.
func openStorage(_ driver: String, at path: String, readOnly: Bool = false) throws -> any StorageDriver {
  let url = URL(fileURLWithPath: path)
  switch driver {
  case "sqlite": return try SQLiteStorage(at: url)
  case "lmdb": return try LMDBStorage(at: url)
  case "memory": return MemoryStorage()
  case "sealedSQLite": return try SealedStorage(SQLiteStorage(at: url), sealer: InsecureTestSealer(key: 7))
  #if PostgreSQL
    case "postgres": return try openServerStorage(at: path, .several, readOnly)
    case "postgresOneWriter": return try openServerStorage(at: path, .one, readOnly)
    case "sealedPostgres":
      return try SealedStorage(
        openServerStorage(at: path, .several, readOnly), sealer: InsecureTestSealer(key: 7))
  #endif
  default:
    throw Failure("\(driver) is none of sqlite, lmdb, memory, sealedSQLite, nor, with the trait, postgres")
  }
}

#if PostgreSQL
  /// The store of a path on the server that `GARAGE_TEST_PG_URL` names. Its tables begin with `gt_`, by which they are
  /// found and dropped in the end.
  private func openServerStorage(
    at path: String, _ writers: PostgreSQLStorage.Options.Writers, _ readOnly: Bool
  ) throws -> PostgreSQLStorage {
    guard let url = ProcessInfo.processInfo.environment["GARAGE_TEST_PG_URL"] else {
      throw Failure("GARAGE_TEST_PG_URL is not set")
    }
    var options = PostgreSQLStorage.Options()
    options.name = "gt_" + path.split(separator: "/").suffix(2).joined(separator: "-").suffix(40)
    options.writers = writers
    options.isReadOnly = readOnly
    return try PostgreSQLStorage(url, options: options)
  }
#endif

/// Identified by its content, which hashes differently in every process.
struct Basket: Codable, Hashable {
  var fruits: Set<String>
  var prices: [String: Double]
  var counts: [Int: Int]

  static let sample = Basket(
    fruits: Set((0..<50).map { "fruit \($0)" }),
    prices: Dictionary(uniqueKeysWithValues: (0..<50).map { ("fruit \($0)", Double($0) / 8) }),
    counts: Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, $0 * 2) }))
}
