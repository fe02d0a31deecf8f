// swift-tools-version: 6.2

import PackageDescription

/// What measures Garage beside its peers. A package of its own, so that nobody who uses the library resolves
/// what only this needs.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "GarageBenchmarks",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "compare", targets: ["Compare"])],
  traits: [
    .trait(name: "PostgreSQL", description: "compare --server: the garage on a PostgreSQL server. Needs libpq.")
  ],
  dependencies: [
    .package(
      name: "Garage", path: "..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
    // Without its interposers, which count allocations: they are packages of their own.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .systemLibrary(
      name: "RawSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "RawLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "RawPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // SQLite and LMDB as a C program would use them: the loops are in C, too.
    .target(name: "CRawStores", dependencies: ["RawSQLite", "RawLMDB"]),
    .executableTarget(
      name: "Compare",
      dependencies: [
        "CRawStores",
        .target(name: "RawPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "GaragePostgres", package: "Garage", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "GarageStorage", package: "Garage"),
        .product(name: "GarageCoding", package: "Garage"),
        .product(name: "GarageDriver", package: "Garage"),
        .product(name: "GarageMemory", package: "Garage"),
        .product(name: "GarageSQLite", package: "Garage"),
        .product(name: "GarageLMDB", package: "Garage"),
        .product(name: "_DebianPackages", package: "Garage"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    // Single operations: `swift package --package-path Benchmarks benchmark`.
    .executableTarget(
      name: "Operations",
      dependencies: [
        .product(name: "Benchmark", package: "benchmark"),
        .product(name: "GarageStorage", package: "Garage"),
        .product(name: "GarageCoding", package: "Garage"),
        .product(name: "GarageDriver", package: "Garage"),
        .product(name: "GarageMemory", package: "Garage"),
        .product(name: "GarageSQLite", package: "Garage"),
        .product(name: "GarageLMDB", package: "Garage"),
      ],
      path: "Benchmarks/Operations",
      swiftSettings: settings,
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
  ]
)
