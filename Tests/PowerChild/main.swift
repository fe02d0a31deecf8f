import Foundation

// What a loss of power leaves of a store.
//
//     PowerChild record STORE FOLDER TRACE COMMITS SEED
//     PowerChild replay STORE FOLDER TRACE COMMITS SEED CUTS [full]
//
// `record` commits to a new store in FOLDER, and writes to TRACE what reached its files, in order. `replay` ends that history at
// CUTS random places, leaves out a random part of what was not synced then, and looks at the store that remains. STORE is
// sqlite, sqlite-normal, lmdb or lmdb-normal; with `full` at the end, what was acknowledged is demanded of those as well.

do {
  let arguments = Array(CommandLine.arguments.dropFirst())
  guard arguments.count >= 6, let store = PowerStore(rawValue: arguments[1]), let commits = Int(arguments[4]),
    let seed = UInt64(arguments[5])
  else { throw Failure("usage: PowerChild record|replay STORE FOLDER TRACE COMMITS SEED [CUTS [full]]") }
  let folder = URL(filePath: arguments[2], directoryHint: .isDirectory)
  let history = History(count: commits, seed: seed)
  switch arguments[0] {
  case "record":
    try history.record(store, in: folder, to: arguments[3])
  case "replay":
    guard arguments.count >= 7, let cuts = Int(arguments[6]) else { throw Failure("how many cuts?") }
    let mustKeepAll = store.isFull || arguments.last == "full"
    var trial = Trial(store: store, folder: folder, history: history, mustKeepAll: mustKeepAll)
    try trial.run(Trace(at: URL(filePath: arguments[3])), cuts: cuts)
    print(trial.report)
  case let other: throw Failure("\(other) is neither record nor replay")
  }
} catch {
  FileHandle.standardError.write(Data("PowerChild: \(error)\n".utf8))
  exit(1)
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
