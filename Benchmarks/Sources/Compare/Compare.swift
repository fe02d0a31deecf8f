import ArgumentParser
import CRawStores
import Foundation

/// `compare`: Garage beside its peers, in one process, under equal terms.
@main
struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Measures Garage beside its peers, in one process and under equal terms.",
    discussion: """
      A ratio is the peer's figure over Garage's: above 1 Garage is faster, or smaller. Figures are medians of \
      all rounds. Every result is compared with what was parked; a wrong one ends the program. Progress and \
      settings go to standard error.
      """)

  @Flag(help: "Write the rows as a JSON array instead of a table.")
  var json = false

  @Flag(help: "Write the table for a Markdown page: a line for each name and subject.")
  var markdown = false

  @Flag(help: "Fewer rounds, and no round that would end later than two minutes after the start.")
  var quick = false

  @Option(
    parsing: .singleValue,
    help: ArgumentHelp(
      "Measure only what has this name, such as encode or 'park 100k'. Can be repeated.", valueName: "name"))
  var only: [String] = []

  @Option(
    parsing: .singleValue,
    help: ArgumentHelp(
      "Open only this store, such as lmdb or 'GRDB columns'; for profiling. Can be repeated.",
      valueName: "name"))
  var store: [String] = []

  @Option(help: ArgumentHelp("How many rounds; 5 unless told, 3 with --quick.", valueName: "count"))
  var rounds: Int?

  @Option(
    help: ArgumentHelp("Where the stores are made, on the disk to be measured.", valueName: "folder"),
    completion: .directory)
  var folder = FileManager.default.temporaryDirectory.path

  @Option(
    help: ArgumentHelp(
      "How many objects the stores grow to, 10000000 unless told.", valueName: "count"))
  var growth = 10_000_000

  @Option(
    help: ArgumentHelp("Also draw charts, as SVG files in this folder.", valueName: "folder"),
    completion: .directory)
  var charts: String?

  @Option(
    help: ArgumentHelp(
      "A Debian package database, as 'apt-cache dumpavail' writes it; this machine's own unless told.",
      valueName: "file"),
    completion: .file())
  var archive: String?

  static let names =
    CodecComparison.names + CodecComparison.sizeNames + StoreComparison.names + StoreComparison.sizeNames
    + ArchiveComparison.names + LinkComparison.names + KeyComparison.names + ShapeComparison.names
    + FlatComparison.names + QueryComparison.names + IndexComparison.names + CorpusComparison.names
    + LargeValueComparison.names + GrowthComparison.names + CommunityGrowthComparison.names
    + SeveralCoresComparison.names + ConcurrencyComparison.names + serverNames

  /// What needs a server.
  private static let serverNames: [String] = {
    #if PostgreSQL
      PostgresComparison.names
    #else
      []
    #endif
  }()

  @Option(
    help: ArgumentHelp(
      "Also measure on this PostgreSQL server, where this was built with --traits PostgreSQL. Tables garage_compare_… are made there and dropped.",
      valueName: "url"))
  var server: String?

  func validate() throws {
    if server != nil && Self.serverNames.isEmpty {
      throw ValidationError("This was built without PostgreSQL: build it with --traits PostgreSQL.")
    }
    for name in only where !Self.names.contains(name) {
      throw ValidationError("Nothing is called '\(name)'. There are: \(Self.names.joined(separator: ", ")).")
    }
    if let rounds, rounds < 1 { throw ValidationError("At least one round is needed.") }
  }

  func run() throws {
    let start = Date()
    say(Machine.description)
    #if DEBUG
      say("This is a debug build: its figures mean nothing. Build with --configuration release.")
    #endif
    let rows = try measure(start)
    if let charts { try Charts.write(rows, to: URL(filePath: charts, directoryHint: .isDirectory)) }
    if json {
      print(try Self.json(rows))
    } else {
      print(markdown ? Table.markdown(rows) : Table.text(rows))
      print("\n" + Must.text(rows, markdown: markdown))
    }
    say(String(format: "%.0f seconds", Date().timeIntervalSince(start)))
  }

  private func measure(_ start: Date) throws -> [ResultRow] {
    let folder = URL(filePath: folder, directoryHint: .isDirectory)
    var rows: [ResultRow] = []
    if wantsAny(CodecComparison.names + CodecComparison.sizeNames) {
      let codec = CodecComparison(
        people: Person.make(100, seed: 4), passes: quick ? 20 : 100, isWanted: isWanted)
      rows += try codec.rows(Rounds(count: rounds ?? 5, deadline: nil))
    }
    if wantsAny(ShapeComparison.names) {
      rows += try ShapeComparison(passes: quick ? 3 : 10, isWanted: isWanted)
        .rows(Rounds(count: rounds ?? (quick ? 3 : 5), deadline: nil))
    }
    if wantsAny(ArchiveComparison.names) {
      rows += try ArchiveComparison(file: archive, folder: folder, only: store, isWanted: isWanted)
        .rows(Rounds(count: rounds ?? 5, deadline: quick ? start.addingTimeInterval(20) : nil))
    }
    if wantsAny(LinkComparison.names) {
      rows += try LinkComparison(isWanted: isWanted, count: 10_000, chainCount: quick ? 100_000 : 1_000_000)
        .rows(Rounds(count: rounds ?? (quick ? 3 : 5), deadline: nil))
    }
    if wantsAny(FlatComparison.names) {
      rows += try FlatComparison(folder: folder, only: store, isWanted: isWanted)
        .rows(Rounds(count: rounds ?? (quick ? 3 : 5), deadline: nil))
    }
    if wantsAny(SeveralCoresComparison.names) {
      rows += try SeveralCoresComparison(folder: folder, only: store, isWanted: isWanted)
        .rows(Rounds(count: rounds ?? (quick ? 3 : 5), deadline: nil))
    }
    if wantsAny(ConcurrencyComparison.names) {
      rows += try ConcurrencyComparison(folder: folder, only: store, scale: quick ? 20 : 100, isWanted: isWanted)
        .rows(Rounds(count: rounds ?? (quick ? 3 : 5), deadline: nil))
    }
    if wantsAny(QueryComparison.names) {
      rows += try QueryComparison(folder: folder, only: store, isWanted: isWanted, count: 100_000)
        .rows(Rounds(count: rounds ?? (quick ? 3 : 5), deadline: nil))
    }
    if wantsAny(IndexComparison.names) {
      rows += try IndexComparison(folder: folder, only: store, isWanted: isWanted, count: 100_000)
        .rows(Rounds(count: rounds ?? (quick ? 3 : 5), deadline: nil))
    }
    if wantsAny(CorpusComparison.names) {
      rows += try CorpusComparison(folder: folder, only: store, isWanted: isWanted, count: 100_000)
        .rows(Rounds(count: rounds ?? (quick ? 3 : 5), deadline: nil))
    }
    if wantsAny(StoreComparison.names + StoreComparison.sizeNames) {
      let workload = try Workload(
        count: 100_000, additional: quick ? 100 : 1000, wanted: quick ? 5_000 : 20_000,
        unwanted: quick ? 5_000 : 10_000)
      let stores = StoreComparison(workload: workload, folder: folder, only: store, isWanted: isWanted)
      rows += try stores.rows(
        Rounds(count: rounds ?? (quick ? 3 : 5), deadline: quick ? start.addingTimeInterval(105) : nil))
    }
    if wantsAny(KeyComparison.names) {
      rows += try KeyComparison(
        folder: folder, durableSets: quick ? 100 : 500, only: store, isWanted: isWanted
      )
      .rows(Rounds(count: rounds ?? 5, deadline: nil))
    }
    if wantsAny(LargeValueComparison.names) {
      rows += try LargeValueComparison(folder: folder, only: store)
        .rows(Rounds(count: rounds ?? 5, deadline: nil))
    }
    rows += try serverRows()
    rows += try GrowthComparison(largest: growth, folder: folder, rounds: rounds ?? 5, isWanted: isWanted)
      .rows()
    rows += try CommunityGrowthComparison(
      largest: growth, folder: folder, rounds: rounds ?? 5, isWanted: isWanted
    ).rows()
    return rows
  }

  private func serverRows() throws -> [ResultRow] {
    #if PostgreSQL
      if let server {
        return try PostgresComparison(url: server, isWanted: isWanted)
          .rows(Rounds(count: rounds ?? (quick ? 3 : 5), deadline: nil))
      }
    #endif
    return []
  }

  private func isWanted(_ name: String) -> Bool {
    if !only.isEmpty { return only.contains(name) }
    let long =
      [Name.parkShuffled, Name.parkMemory, Name.retrieveAllMemory] + ShapeComparison.names
      + FlatComparison.names + QueryComparison.names + IndexComparison.names + CorpusComparison.names
      + LargeValueComparison.names + GrowthComparison.names + CommunityGrowthComparison.names
      + SeveralCoresComparison.names + ConcurrencyComparison.names
    return !quick || !long.contains(name)
  }
  private func wantsAny(_ names: [String]) -> Bool { names.contains(where: isWanted) }

  private static func json(_ rows: [ResultRow]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(rows), as: UTF8.self)
  }
}

/// Where the figures come from.
private enum Machine {
  static var description: String {
    let information = ProcessInfo.processInfo
    var text = "\(information.activeProcessorCount) processors, \(information.physicalMemory >> 30) GiB, "
    text += information.operatingSystemVersionString
    if let cpus = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8),
      let model = cpus.split(separator: "\n").first(where: { $0.hasPrefix("model name") })
    {
      text += "," + (model.split(separator: ":").last ?? "")
    }
    if let load = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8) {
      text += ", load \(load.split(separator: " ").prefix(3).joined(separator: " "))"
    }
    let sqlite = String(cString: raw_sqlite_version())
    return "\(text)\nSQLite \(sqlite), \(String(cString: raw_lmdb_version())), GRDB 7"
  }
}
