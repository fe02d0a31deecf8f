// swift-tools-version: 6.2

import PackageDescription

/// As in the package itself, and what its trait would define.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .define("PostgreSQL"),
]

func garage(_ names: String...) -> [Target.Dependency] {
  names.map { .product(name: $0, package: "Garage") }
}

/// Of the garage's tests, in quick runs: what goes another way where each call is a trip and writes run beside each other.
/// The others are not compiled then, which takes longer than the tests.
let quickSources = [
  "Support",
  "Async/AcknowledgedTests.swift", "Async/AsyncVerbTests.swift", "Async/GroupCommitTests.swift",
  "Async/ObjectPageTests.swift", "Async/WaitingWriteTests.swift",
  "Care/CareModels.swift", "Care/VerifyTests.swift",
  "Evolution/MigrationTests.swift",
  "Indexes/IndexModels.swift", "Indexes/IndexTests.swift", "Indexes/UniqueIndexTests.swift",
  "Mapping/MappedNilTests.swift",
  "Observation/LibraryModel.swift", "Observation/ListenerTests.swift", "Observation/NewsTests.swift",
  "Queries/QueryModels.swift", "Queries/QueryTests.swift", "Queries/Reading/PageReadingTests.swift",
  "Queries/Reading/PagingTests.swift",
  "Relations/DeleteRuleTests.swift", "Relations/RelationModels.swift",
  "Sync/SyncFindingTests.swift", "Sync/SyncIndexTests.swift", "Sync/SyncModels.swift",
  "Sync/SyncStatusTests.swift",
  "Transactions/DeferredReadTests.swift", "Transactions/SavingTests.swift",
  "Transactions/SavingTogetherTests.swift", "Transactions/SeveralProcessesTests.swift",
  "Transactions/TransactionTests.swift", "Transactions/UnsavedChangesTests.swift",
  "TypedKeys/HookLog.swift", "TypedKeys/KeyHookTests.swift", "TypedKeys/KeyRaceTests.swift",
  "TypedKeys/KeyTests.swift",
  "Verbs/ClosingTests.swift", "Verbs/DeletingTests.swift", "Verbs/OpeningTests.swift",
  "Verbs/ParkingTests.swift",
  "Verbs/RetrievingTests.swift",
]
let isQuick = Context.environment["GARAGE_TEST_PG_QUICK"] == "1"

/// The tests of GaragePostgres, as an app that enables the trait, and the garage's own tests, which run on the same server
/// here. They are a package of their own, because nobody who works on the rest should need libpq and a server.
/// `make test-postgres` starts a server and runs them on it.
let package = Package(
  name: "PostgresTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Garage", path: "../..", traits: ["PostgreSQL"])
  ],
  targets: [
    .target(name: "InsecureSealer", dependencies: garage("GarageSealing", "GarageDriver")),
    .target(
      name: "PostgresStacks",
      dependencies: ["InsecureSealer"]
        + garage("GarageDriver", "GaragePostgres", "GarageSealing", "GarageConformance")),
    .executableTarget(
      name: "PostgresChild", dependencies: ["PostgresStacks"] + garage("GarageConformance", "GaragePostgres")),
    .testTarget(
      name: "GaragePostgresTests",
      dependencies: ["PostgresStacks", "PostgresChild", "InsecureSealer"]
        + garage(
          "GarageDriver", "GaragePostgres", "GarageSealing", "GarageConformance", "GarageStorage",
          "garage-demo", "_DebianPackages")),

    // By links, from the folders where they are the package's own.
    .executableTarget(
      name: "GarageChild",
      dependencies: ["InsecureSealer"]
        + garage(
          "GarageStorage", "GarageDriver", "GarageMemory", "GarageSQLite", "GarageLMDB", "GarageSealing",
          "GaragePostgres", "_DebianPackages"),
      swiftSettings: settings),
    .testTarget(
      name: "GarageStorageTests",
      dependencies: ["GarageChild", "InsecureSealer"]
        + garage(
          "GarageStorage", "GarageCoding", "GarageDriver", "GarageMemory", "GarageSQLite", "GarageLMDB",
          "GarageConformance", "GarageSealing"),
      // What has to do with files alone, or with no driver, or uses what only this package's neighbours see.
      exclude: [
        "Care/CareKillTests.swift", "Care/ForeignEntryTests.swift", "Care/SalvageTests.swift",
        "Care/StoreMarkTests.swift", "Care/VerifyTests+Body.swift", "Faults/FailureLeakTests.swift",
        "Faults/FuzzCorpusTests.swift", "Faults/OutOfRoomTests.swift", "Format/FormatPageTests.swift",
        "Graphs/LongChainTests.swift", "Indexes/IndexBatchTests.swift", "Indexes/OrderedBytesTests.swift",
        "Queries/Reading/AnnouncedChangeTests.swift", "Queries/Planning/StateNameTests.swift",
        "Transactions/PowerLossTests.swift", "Verbs/ErrorTextTests.swift", "Verbs/RecordBatchTests.swift",
      ],
      sources: isQuick ? quickSources : nil,
      swiftSettings: settings),
  ]
)
