import Foundation

/// What the project asks of itself, each with the figure that this run measured.
struct Must {
  var title: String
  var subject: String
  var name: String
  var peer: String
  /// The least ratio that will do: the peer's figure over ours.
  var least: Double
  /// Whether people speak of it the other way round: ours over the peer's, at most.
  var isLimit = false

  /// The goal as people say it.
  private var goal: String { isLimit ? "≤ " + Self.number(1 / least) : "≥ " + Self.number(least) }

  static let all =
    [
      times("encode", "garage", "encode", ["JSONEncoder": 16]),
      times("decode", "garage", "decode", ["JSONDecoder": 9]),
      limits("encode", "garage", "encode", ["hand-written": 3.8]),
      limits("decode", "garage", "decode", ["hand-written": 2.5]),
      limits("bytes, body", "garage", CodecComparison.bodyBytesName, ["JSON": 0.72]),
      limits("bytes, record with header", "garage", CodecComparison.bytesName, ["JSON": 0.8]),
      times("encode a person with three references", "garage", "encode graph", ["JSONEncoder": 12]),
      times("decode a person with three references", "garage", "decode graph", ["JSONDecoder": 6]),
      times("park 100 k", "sqlite", Name.parkAll, ["GRDB columns": 5]),
      times("park 100 k", "lmdb", Name.parkAll, ["GRDB columns": 12]),
      times("retrieve by id", "sqlite", Name.retrieve, ["GRDB fetchOne": 12, "GRDB cached statement": 4]),
      times("retrieve by id", "lmdb", Name.retrieve, ["GRDB fetchOne": 25, "GRDB cached statement": 8]),
      times("park the archive graph", "memory", ArchiveComparison.parkName, ["GRDB columns": 9]),
      times("park the archive graph", "lmdb", ArchiveComparison.parkName, ["GRDB columns": 6]),
      times("park the archive graph", "sqlite", ArchiveComparison.parkName, ["GRDB columns": 5]),
      times(
        "retrieveAll of the archive graph", "memory", ArchiveComparison.retrieveName, ["GRDB columns": 3]),
      times("retrieveAll of the archive graph", "lmdb", ArchiveComparison.retrieveName, ["GRDB columns": 3]),
      times(
        "retrieveAll of the archive graph", "sqlite", ArchiveComparison.retrieveName, ["GRDB columns": 2.5]),
      times(
        "retrieve a package with all it reaches", "memory", ArchiveComparison.oneName, ["GRDB columns": 4]),
      times("retrieve a package with all it reaches", "lmdb", ArchiveComparison.oneName, ["GRDB columns": 4]),
      times(
        "retrieve a package with all it reaches", "sqlite", ArchiveComparison.oneName, ["GRDB columns": 3]),
      times("retrieveAll", "sqlite", Name.retrieveAll, ["GRDB fetchAll": 8]),
      times("retrieveAll", "lmdb", Name.retrieveAll, ["GRDB fetchAll": 10]),
      limits("park 100 k, in key order", "sqlite", Name.parkAll, [RawStore.who: 1.3]),
      limits("park 100 k, in key order", "lmdb", Name.parkAll, [RawStore.who: 1.9]),
      limits("park 100 k, in random order", "sqlite", Name.parkShuffled, [RawStore.who: 1.3]),
      limits("park 100 k, in random order", "lmdb", Name.parkShuffled, [RawStore.who: 1.9]),
      limits("retrieve by id", "sqlite", Name.retrieve, [RawStore.who: 1.6]),
      limits("retrieve by id", "lmdb", Name.retrieve, [RawStore.who: 3.5]),
      limits("delete 10 k of 100 k", "memory", Name.delete, [RawStore.who: 1.5]),
      limits("delete 10 k of 100 k", "sqlite", Name.delete, [RawStore.who: 1.5]),
      limits("delete 10 k of 100 k", "lmdb", Name.delete, [RawStore.who: 1.5]),
      limits("get a key's Int", "memory", KeyComparison.getName, [KeyComparison.dictionary: 6]),
      limits("set a key's Int", "memory", KeyComparison.setName, [KeyComparison.dictionary: 6]),
      limits("get a key's Int", "sqlite", KeyComparison.getName, [RawStore.who: 2]),
      limits("set a key's Int", "sqlite", KeyComparison.setName, [RawStore.who: 2]),
      limits("get a key's Int", "lmdb", KeyComparison.getName, [RawStore.who: 2]),
      limits("set a key's Int", "lmdb", KeyComparison.setName, [RawStore.who: 2]),
    ].flatMap { $0 } + links + flat + queries + indexes + concurrency
    + ShapeComparison.Way.allCases.flatMap(shapes)
    + LargeValueComparison.measuredNames.flatMap {
      limits($0, "sqlite", $0, [LargeValueComparison.blobTable: 1.3])
    } + server

  /// Beside plain SQL that moves the same bytes, and how much many at a time gain: by the clock, for it is the server that
  /// works.
  private static let server: [Must] = {
    #if PostgreSQL
      typealias Server = PostgresComparison
      return times(Server.parkAll, "postgresql", Server.parkAll, [Server.sql: 0.7])
        + [(16, true, 12.0), (64, true, 16), (16, false, 1.6), (64, false, 1.6)].flatMap {
          count, slow, least in
          let name = Server.tasks(count, slow: slow)
          return times(name, "postgresql", name, [Server.oneTask: least])
        }
    #else
      return []
    #endif
  }()

  /// What links and references may cost.
  private static let links = LinkComparison.goals.flatMap { kind, peer, most in
    [LinkComparison.inName(kind), LinkComparison.outName(kind)].flatMap {
      limits($0, "memory", $0, [peer: most])
    }
  }

  /// Where a table has the least to do, code by hand for it is not faster.
  private static let flat = FlatComparison.titles.map { FlatComparison.retrieveAllName($0) }.flatMap {
    times($0, "sqlite", $0, [FlatComparison.byHand: 1])
  }

  /// A filter over all objects decodes only what it finds.
  private static let queries = ["memory": 5.0, "sqlite": 4, "lmdb": 5].sorted { $0.key < $1.key }.flatMap {
    let name = QueryComparison.Question.onePercent
    return times(name, $0.key, name, [QueryComparison.decoding: $0.value, QueryComparison.records: 1])
  }

  /// What stands in the place of a peer where a must is a time.
  static let limit = "the most it may take"

  /// What indexes cost, and what they are worth: for memory, SQLite and LMDB.
  private static let indexes: [Must] = {
    typealias Question = IndexComparison.Question
    let subjects = ["memory", "sqlite", "lmdb"]
    func each(_ name: String, _ peer: String, most: [Double]) -> [Must] {
      zip(subjects, most).flatMap { limits(name, $0, name, [peer: $1]) }
    }
    func each(_ question: Question, _ peers: [String: Double]) -> [Must] {
      subjects.flatMap { times(question.name, $0, question.name, peers) }
    }
    func absolute(_ name: String) -> [Must] { subjects.flatMap { times(name, $0, name, [limit: 1]) } }
    return each(IndexComparison.parkOne, IndexComparison.none, most: [1.6, 1.6, 1.5])
      + each(IndexComparison.parkThree, IndexComparison.none, most: [2.6, 2.6, 2.2])
      + each(IndexComparison.replaceThree, IndexComparison.none, most: [3, 3, 3])
      + each(IndexComparison.parkReferrers, IndexComparison.none, most: [2, 2.5, 1.6])
      + absolute(IndexComparison.referrersName) + absolute(IndexComparison.fillName)
      + each(Question.onePercent, [IndexComparison.records: 5])
      + each(Question.onePercent.name, IndexComparison.byIdentifier, most: [1.2, 1.2, 1.2])
      + each(Question.oneObject, [IndexComparison.records: 10, IndexComparison.cached: 4])
      + each(Question.oneObject.name, IndexComparison.byIdentifier, most: [1.4, 1.4, 1.4])
      + each(Question.tenPercent, [IndexComparison.records: 1]) + absolute(Question.tenPercent.name)
      + each(Question.firstSorted, [IndexComparison.records: 4]) + absolute(Question.firstSorted.name)
  }()

  /// Those who wait for the disk at the same time share the wait. By the clock.
  private static let concurrency = ["sqlite", "lmdb"].flatMap { subject in
    [
      (ConcurrencyComparison.Question.eightThreads, ConcurrencyComparison.oneThread, 2.5),
      (.manyThreads, ConcurrencyComparison.eachAlone, 6), (.manyTasks, ConcurrencyComparison.oneTask, 6),
      (.failing, ConcurrencyComparison.noneFails, 0.8),
    ].flatMap { question, peer, least in
      times(question.rawValue, subject, question.rawValue, [peer: least])
    }
  }
    + ["memory", "sqlite", "lmdb"].flatMap {
      let name = ConcurrencyComparison.Question.parkAllHeard.rawValue
      return limits(name, $0, name, [ConcurrencyComparison.unheard: 1.05])
    } + ConcurrencyComparison.Limit.all.flatMap { times($0.name, $0.subject, $0.name, [limit: 1]) }

  /// No ordinary type may be slow, and all of them together must be fast.
  private static func shapes(_ way: ShapeComparison.Way) -> [Must] {
    let mean: Double = way == .into ? 7 : 8
    return times("shapes \(way.rawValue), geometric mean", "memory", way.meanName, [way.json: mean])
      + times("shapes \(way.rawValue), the slowest", "memory", way.slowestName, [way.json: 3])
      + [ShapeComparison.handWritten, ShapeComparison.handWrittenStored].flatMap {
        limits("shapes \(way.rawValue), the slowest", "memory", way.slowestName, [$0: 5])
      }
  }

  private static func times(_ title: String, _ subject: String, _ name: String, _ peers: [String: Double])
    -> [Must]
  {
    peers.sorted { $0.value > $1.value }.map {
      Must(title: title, subject: subject, name: name, peer: $0.key, least: $0.value)
    }
  }

  private static func limits(_ title: String, _ subject: String, _ name: String, _ peers: [String: Double])
    -> [Must]
  {
    peers.map {
      Must(title: title, subject: subject, name: name, peer: $0.key, least: 1 / $0.value, isLimit: true)
    }
  }

  /// A table of those that were measured: by the clock, and by processor time, which other programs disturb less.
  static func text(_ rows: [ResultRow], markdown: Bool) -> String {
    let head = ["must", "subject", "peer", "goal", "measured", "", "by CPU time", ""]
    let cells =
      all.compactMap { must -> [String]? in
        let row = rows.first { $0.name == must.name && $0.subject == must.subject && $0.peer == must.peer }
        guard let row else { return nil }
        return [must.title, must.subject, must.peer, must.goal] + must.verdict(row.ratio)
          + (row.processorRatio.map(must.verdict) ?? ["", ""])
      } + growth(rows)
    if cells.isEmpty { return "" }
    if markdown {
      let rule = ["---", "---", "---", "---:", "---:", "---", "---:", "---"]
      return ([head, rule] + cells).map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }
    return "Musts\n" + Table.lines(head, cells, left: [0, 1, 2, 5, 7])
  }

  /// What we add to the engine must not grow with the number of objects; a tenth is for noise.
  private static func growth(_ rows: [ResultRow]) -> [[String]] {
    [GrowthComparison.getNames, CommunityGrowthComparison.names].flatMap { names in
      ["sqlite", "lmdb"].compactMap { subject -> [String]? in
        let rows = rows.filter { $0.subject == subject && names.contains($0.name) }
        guard let first = rows.first, let last = rows.last, rows.count > 1 else { return nil }
        func cells(_ growth: Double) -> [String] { [number(growth), growth <= 1.1 ? "pass" : "MISS"] }
        let added = { (row: ResultRow) in row.subjectValue / row.peerValue }
        return [
          "from \(first.name) to \(last.name): ours ÷ raw, later ÷ earlier", subject, RawStore.who, "≤ 1.10",
        ]
          + cells(added(last) / added(first))
          + cells((first.processorRatio ?? 1) / (last.processorRatio ?? 1))
      }
    }
  }

  private func verdict(_ ratio: Double) -> [String] {
    [Self.number(isLimit ? 1 / ratio : ratio), ratio >= least ? "pass" : "MISS"]
  }

  private static func number(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : "%.1f", value)
  }
}
