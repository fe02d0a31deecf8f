import Foundation
import GarageDriver
import GarageStorage

/// Many threads and tasks on one garage, beside one, and the verbs of tasks beside those of threads. By the clock: what is
/// shared is the wait for the disk.
struct ConcurrencyComparison {
  let folder: URL
  /// The stores to open; all where it is empty.
  let only: [String]
  /// How often each of many parks, and so on: the figures' steadiness.
  let scale: Int
  let isWanted: (String) -> Bool

  /// Says all of them, as the name of a row for `--only`.
  static let allName = "concurrency"
  static let oneThread = "one thread"
  static let oneTask = "one task"
  /// In a task, too: allocating is slower on its threads than on the first of a process.
  static let notAsync = "the verb of threads"
  static let eachAlone = "each in a transaction"
  static let unheard = "nobody listens"

  enum Question: String, CaseIterable {
    case getInTask = "get in a task"
    case getsOfTasks = "get, 1000 tasks"
    case parkInTask = "park one durable in a task"
    case eightThreads = "park one durable, 8 threads"
    case manyThreads = "park one durable, 64 threads"
    case manyTasks = "park one durable, 64 tasks"
    case failing = "park one durable, 64 threads, 1 % fail"
    case ownKeys = "update, 64 tasks, own keys"
    case oneKey = "update, 64 tasks, one key"
    case otherListeners = "park, 1000 listeners to other types"
    case typeListeners = "park, 1000 listeners to its type"
    case parkAllHeard = "parkAll 1000, one listener"
    case hearing = "hear of a park"
    case polling = "look for others' commits"

    /// Who does the same, and how.
    var peers: [String] {
      switch self {
      case .getInTask: [ConcurrencyComparison.notAsync]
      case .getsOfTasks, .parkInTask, .eightThreads, .hearing: [ConcurrencyComparison.oneThread]
      case .manyThreads: [ConcurrencyComparison.oneThread, ConcurrencyComparison.eachAlone]
      case .manyTasks: [ConcurrencyComparison.oneTask]
      case .failing: [ConcurrencyComparison.noneFails]
      case .ownKeys, .oneKey: [ConcurrencyComparison.oneTask, ConcurrencyComparison.manyThreads]
      case .otherListeners, .typeListeners, .parkAllHeard: [ConcurrencyComparison.unheard]
      case .polling: []
      }
    }
    /// How often all take turns in a round. What is told apart by a few of a hundred needs many: a store that grew, or a
    /// disk that was busy for a moment, changes as much.
    var turnCount: Int {
      switch self {
      case .getInTask, .parkInTask, .otherListeners, .typeListeners, .parkAllHeard: 10
      default: 1
      }
    }
    /// Whether there is anything to wait for.
    var isDurable: Bool {
      switch self {
      case .getInTask, .getsOfTasks, .otherListeners, .typeListeners, .parkAllHeard, .hearing, .polling: false
      default: true
      }
    }
    /// Whether it says anything of a store in memory.
    var isOfMemory: Bool { !isDurable && self != .polling }
  }
  static let noneFails = "none fails"
  static let manyThreads = "64 threads"
  static let names = [allName] + Question.allCases.map(\.rawValue)

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    var samples = Samples()
    let wanted = Question.allCases.filter { isWanted(Self.allName) || isWanted($0.rawValue) }
    try rounds.run("concurrency") { round in
      samples.beginRound()
      for subject in ["memory", "sqlite", "lmdb"].rotated(by: round) where only.isEmpty || only.contains(subject) {
        for question in wanted.rotated(by: round) where subject != "memory" || question.isOfMemory {
          try measure(question, subject, round, &samples)
        }
      }
    }
    return wanted.flatMap { question in
      ["memory", "sqlite", "lmdb"].flatMap { subject in
        question.peers.compactMap { peer in
          ResultRow(question.rawValue, subject, peer, who: "\(subject), \(peer)", samples)
        }
      }
    }
      + Limit.all.compactMap { limit in
        limit.peer.map {
          ResultRow(
            limit.name, limit.subject, over: "\(limit.subject), \($0)", per: limit.parts, of: limit.sampleName,
            atMost: limit.most, samples)
        } ?? ResultRow(limit.name, limit.subject, atMost: limit.most, samples)
      }
  }

  /// What something may take at most, or add to what a peer takes, in nanoseconds.
  struct Limit {
    let name: String
    let subject: String
    let most: Double
    /// Whose time is taken off.
    var peer: String?
    /// Among how many the rest is divided.
    var parts = 1.0
    var sampleName: String

    private static func total(_ name: String, _ limits: [(String, Double)]) -> [Limit] {
      limits.map { Limit(name: name, subject: $0, most: $1, sampleName: name) }
    }

    private static func added(
      _ question: Question, _ peer: String, per parts: Double = 1, _ limits: [(String, Double)]
    ) -> [Limit] {
      limits.map {
        Limit(
          name: "\(question.rawValue): added", subject: $0, most: $1, peer: peer, parts: parts,
          sampleName: question.rawValue)
      }
    }

    /// Listeners to other types and to the same add nanoseconds, which only beside a park in memory can be seen.
    static let all =
      added(.getInTask, notAsync, [("memory", 300), ("sqlite", 300), ("lmdb", 300)])
      + total(Question.getsOfTasks.rawValue, [("memory", 3_333), ("sqlite", 3_333), ("lmdb", 3_333)])
      + added(.parkInTask, oneThread, [("sqlite", 50_000), ("lmdb", 50_000)])
      + total(Question.ownKeys.rawValue, [("sqlite", 50_000), ("lmdb", 50_000)])
      + total(Question.oneKey.rawValue, [("sqlite", 500_000), ("lmdb", 500_000)])
      + added(.otherListeners, unheard, [("memory", 50)])
      + added(.typeListeners, unheard, per: Double(ConcurrentTrial.listenerCount), [("memory", 30)])
      + total(ConcurrencyComparison.heardMedian, [("memory", 100_000)])
      + total(ConcurrencyComparison.heardLate, [("memory", 1_000_000)])
      + total(Question.polling.rawValue, [("sqlite", 5_000), ("lmdb", 50)])
  }

  /// From before a park until who listens is awake: the median, and what one of a hundred takes.
  static let heardMedian = "hear of a park: median"
  static let heardLate = "hear of a park: 99th percentile"

  private func measure(
    _ question: Question, _ subject: String, _ round: Int, _ samples: inout Samples
  ) throws {
    let place = folder.appending(path: "garage-concurrency-\(getpid())")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    let driver: any StorageDriver =
      switch subject {
      case "memory": GarageStore.memoryDriver()
      case "sqlite": try GarageStore.sqliteDriver(at: place)
      default: try GarageStore.lmdbDriver(at: place)
      }
    let garage = try Garage(driver)
    defer { try? garage.close() }
    let trial = ConcurrentTrial(garage, driver, scale: scale)
    try trial.prepare(hasToWait: question.isDurable)
    // Who comes first pays for pages and threads that all use.
    if !question.isDurable { try trial.isHeard(question, true) { try trial.run(question) } }
    trial.forgetWaits()
    let runs =
      [(subject, trial.count(question), { try trial.run(question) })]
      + question.peers.map { peer in
        ("\(subject), \(peer)", trial.count(question, peer), { try trial.run(question, peer) })
      }
    // A store that grows is not the same for who comes first: all take turns.
    for turn in 0..<question.turnCount {
      for (who, count, run) in runs.rotated(by: round + turn) {
        try trial.isHeard(question, who == subject) {
          try samples.measure(
            Operation(name: question.rawValue, who: who, count: count, run: run, verify: { try trial.verify() }))
        }
      }
    }
    let waits = trial.waits
    if !waits.isEmpty {
      samples.note(waits[waits.count / 2], Self.heardMedian, subject, objects: waits.count)
      samples.note(waits[waits.count * 99 / 100], Self.heardLate, subject, objects: waits.count)
    }
  }
}
