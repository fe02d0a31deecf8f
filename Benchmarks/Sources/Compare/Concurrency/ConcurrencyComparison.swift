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
    case parkAllHeard = "parkAll 1000, one listener"
    case hearing = "hear of a park"

    /// Who does the same, and how.
    var peers: [String] {
      switch self {
      case .getInTask, .getsOfTasks, .parkInTask, .eightThreads, .hearing: [ConcurrencyComparison.oneThread]
      case .manyThreads: [ConcurrencyComparison.oneThread, ConcurrencyComparison.eachAlone]
      case .manyTasks: [ConcurrencyComparison.oneTask]
      case .failing: [ConcurrencyComparison.noneFails]
      case .ownKeys, .oneKey: [ConcurrencyComparison.oneTask, ConcurrencyComparison.manyThreads]
      case .otherListeners, .parkAllHeard: [ConcurrencyComparison.unheard]
      }
    }
    /// Whether there is anything to wait for.
    var isDurable: Bool {
      switch self {
      case .getInTask, .getsOfTasks, .otherListeners, .parkAllHeard, .hearing: false
      default: true
      }
    }
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
        for question in wanted.rotated(by: round) where subject != "memory" || !question.isDurable {
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
  }

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
    let trial = ConcurrentTrial(garage, scale: scale)
    try trial.prepare(hasToWait: question.isDurable)
    let runs =
      [(subject, trial.count(question), { try trial.run(question) })]
      + question.peers.map { peer in
        ("\(subject), \(peer)", trial.count(question, peer), { try trial.run(question, peer) })
      }
    // A store that grows is not the same for who comes first: all take turns.
    for (who, count, run) in runs.rotated(by: round) {
      try trial.isHeard(question, who == subject) {
        try samples.measure(
          Operation(name: question.rawValue, who: who, count: count, run: run, verify: { try trial.verify() }))
      }
    }
  }
}
