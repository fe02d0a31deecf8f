// swift-tools-version: 6.2

import PackageDescription

/// Settings that every Swift target of the package shares.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Whether the tests of PostgreSQL are built, too: `Scripts/test-postgres.sh` asks for it. They need libpq and a server, which nobody
/// who works on the rest should have to install.
let testsPostgres = Context.environment["GARAGE_TEST_POSTGRES"] == "1"

/// What is optimized for the tests where continuous integration asks for it: tests spend half of their time there, and the rest takes
/// longer to compile than it saves. All assertions stay.
let optimized: Set =
  Context.environment["GARAGE_TEST_OPTIMIZED"] == "1"
  ? ["CGarage", "GarageDriver", "GarageCoding", "GarageSQLite", "GarageSealing", "InsecureSealer"] : []

let package = Package(
  name: "Garage",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "GarageStorage", targets: ["GarageStorage"]),
    .library(name: "GarageDriver", targets: ["GarageDriver"]),
    .library(name: "GarageCoding", targets: ["GarageCoding"]),
    .library(name: "GarageMemory", targets: ["GarageMemory"]),
    .library(name: "GarageSQLite", targets: ["GarageSQLite"]),
    .library(name: "GarageLMDB", targets: ["GarageLMDB"]),
    .library(name: "GaragePostgres", targets: ["GaragePostgres"]),
    .library(name: "GarageSealing", targets: ["GarageSealing"]),
    .library(name: "GarageCrypto", targets: ["GarageCrypto"]),
    .library(name: "GarageConformance", targets: ["GarageConformance"]),
    .library(name: "GarageLegacy", targets: ["GarageLegacy"]),
    .executable(name: "garage-demo", targets: ["GarageDemo"]),
    .executable(name: "garage", targets: ["GarageCommand"]),
    // Not for apps, and free to change: what the demo parks, for the package in Benchmarks, which parks the same.
    .library(name: "_DebianPackages", targets: ["DebianPackages"]),
  ],
  traits: [
    .default(enabledTraits: testsPostgres ? ["PostgreSQL"] : []),
    .trait(
      name: "Crypto",
      description: "GarageCrypto: sealing with AES-GCM and ChaCha20-Poly1305. Brings swift-crypto along."),
    .trait(
      name: "Command",
      description: "The command garage, which looks into stores. Brings swift-argument-parser along."),
    .trait(
      name: "Inspector",
      description: "The command's inspector, a page in the browser. Brings Hummingbird along.",
      enabledTraits: ["Command"]),
    .trait(
      name: "PostgreSQL",
      description:
        "GaragePostgres: stores in a PostgreSQL database. Needs libpq with its headers on the system."),
  ],
  dependencies: [
    // Behind traits that are off by default: neither downloaded nor built unless somebody enables them.
    // See Docs/Decisions/0001.
    .package(url: "https://github.com/apple/swift-crypto.git", from: "4.0.0"),
    .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.6.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
  ],
  targets: [
    // Engines and C: no products of their own.
    .target(name: "CGarage"),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),

    // The narrow waist and the drivers behind it.
    .target(name: "GarageDriver", dependencies: ["CGarage"], swiftSettings: settings),
    .target(name: "GarageMemory", dependencies: ["GarageDriver"], swiftSettings: settings),
    .target(name: "GarageSQLite", dependencies: ["GarageDriver", "CSQLite"], swiftSettings: settings),
    .target(name: "GarageLMDB", dependencies: ["GarageDriver", "CLMDB"], swiftSettings: settings),
    // Empty where its trait is off.
    .target(
      name: "GaragePostgres",
      dependencies: ["GarageDriver", .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"]))],
      swiftSettings: settings),
    .target(name: "GarageSealing", dependencies: ["GarageDriver"], swiftSettings: settings),
    .target(
      name: "GarageCrypto",
      dependencies: [
        "GarageSealing", "GarageDriver",
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Crypto"])),
      ],
      swiftSettings: settings),
    .target(name: "GarageConformance", dependencies: ["GarageDriver"], swiftSettings: settings),

    // The graph coder and the front door.
    .target(name: "GarageCoding", dependencies: ["CGarage"], swiftSettings: settings),
    .target(
      name: "GarageStorage", dependencies: ["CGarage", "GarageCoding", "GarageDriver"],
      swiftSettings: settings),

    // For people who come from elsewhere.
    .target(
      name: "GarageLegacy", dependencies: ["GarageStorage", "GarageCoding", "GarageSQLite", "CSQLite"],
      swiftSettings: settings),

    // The demo, and the packages that it parks.
    .target(name: "DebianPackages", dependencies: ["GarageStorage"], swiftSettings: settings),
    .executableTarget(
      name: "GarageDemo",
      dependencies: [
        "DebianPackages", "GarageStorage", "GarageDriver", "GarageMemory", "GarageSQLite", "GarageLMDB",
        .target(name: "GaragePostgres", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: settings),

    // The command that looks into stores: empty but for a message where its trait is off.
    .executableTarget(
      name: "GarageCommand",
      dependencies: [
        "GarageStorage", "GarageDriver", "GarageSQLite", "GarageLMDB", "GarageSealing", "GarageCrypto",
        .target(name: "GaragePostgres", condition: .when(traits: ["PostgreSQL"])),
        .product(
          name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Crypto"])),
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inspector"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Inspector"])),
      ],
      swiftSettings: settings),

    // Tests.
    .target(
      name: "InsecureSealer", dependencies: ["GarageSealing", "GarageDriver"], path: "Tests/InsecureSealer",
      swiftSettings: settings),
    .executableTarget(
      name: "ConformanceChild",
      dependencies: [
        "GarageConformance", "GarageMemory", "GarageSQLite", "GarageLMDB", "GarageSealing", "InsecureSealer",
      ],
      path: "Tests/ConformanceChild", swiftSettings: settings),
    .executableTarget(
      name: "GarageChild",
      dependencies: [
        "GarageStorage", "GarageDriver", "GarageMemory", "GarageSQLite", "GarageLMDB", "GarageSealing",
        "InsecureSealer", "DebianPackages",
        .target(name: "GaragePostgres", condition: .when(traits: ["PostgreSQL"])),
      ],
      path: "Tests/GarageChild", swiftSettings: settings),
    .target(name: "CPowerLoss", path: "Tests/CPowerLoss"),
    .executableTarget(
      name: "PowerChild",
      dependencies: ["CPowerLoss", "GarageStorage", "GarageDriver", "GarageSQLite", "GarageLMDB"],
      path: "Tests/PowerChild", swiftSettings: settings),
    .executableTarget(
      name: "GarageFuzz",
      dependencies: ["GarageStorage", "GarageCoding", "GarageDriver", "GarageMemory", "CGarage"],
      path: "Tests/GarageFuzz", swiftSettings: settings),
    // Makes the stores on which the inspector is tried.
    .executableTarget(
      name: "InspectorFixture", dependencies: ["GarageStorage", "GarageSQLite", "GarageLMDB"],
      path: "Tests/InspectorFixture", swiftSettings: settings),
    .testTarget(
      name: "GarageDriverTests", dependencies: ["GarageDriver", "CGarage"], swiftSettings: settings),
    .testTarget(name: "GarageMemoryTests", dependencies: ["GarageMemory"], swiftSettings: settings),
    .testTarget(
      name: "GarageSQLiteTests", dependencies: ["GarageSQLite", "GarageStorage", "CSQLite"],
      swiftSettings: settings),
    .testTarget(name: "GarageLMDBTests", dependencies: ["GarageLMDB", "CLMDB"], swiftSettings: settings),
    .testTarget(
      name: "GarageSealingTests",
      dependencies: [
        "GarageSealing", "InsecureSealer", "GarageStorage", "GarageMemory", "GarageSQLite", "GarageLMDB",
        "GarageConformance",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "GarageConformanceTests",
      dependencies: [
        "GarageConformance", "GarageMemory", "GarageSQLite", "GarageLMDB", "GarageSealing", "InsecureSealer",
        "ConformanceChild", "MyStorage",
      ],
      swiftSettings: settings),
    // What Docs/WritingADriver.md shows, with the settings that a package has by default.
    .target(name: "MyStorage", dependencies: ["GarageDriver"], path: "Tests/Guide/MyStorage"),
    .executableTarget(
      name: "MyStorageChild", dependencies: ["MyStorage", "GarageConformance"],
      path: "Tests/Guide/MyStorageChild"),
    .testTarget(
      name: "MyStorageTests", dependencies: ["MyStorage", "MyStorageChild", "GarageConformance"],
      path: "Tests/Guide/MyStorageTests"),
    .testTarget(
      name: "GarageCodingTests",
      dependencies: [
        "GarageCoding", "GarageStorage", "GarageDriver", "GarageMemory", "GarageSQLite", "GarageLMDB",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "GarageStorageTests",
      dependencies: [
        "GarageStorage", "GarageCoding", "GarageMemory", "GarageSQLite", "GarageLMDB", "GarageConformance",
        "GarageChild", "GarageSealing", "InsecureSealer", "GarageFuzz",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "GarageLegacyTests",
      dependencies: [
        "GarageLegacy", "GarageStorage", "GarageDriver", "GarageMemory", "GarageSQLite", "GarageLMDB",
        "GarageSealing", "InsecureSealer", "CSQLite",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "GarageDemoTests",
      dependencies: ["GarageDemo", "DebianPackages", "GarageStorage", "GarageSQLite"],
      swiftSettings: settings),
  ]
)

if testsPostgres {
  package.targets += [
    .target(
      name: "PostgresStacks",
      dependencies: [
        "GarageDriver", "GaragePostgres", "GarageSealing", "GarageConformance", "InsecureSealer",
      ],
      path: "Tests/PostgresStacks"),
    .executableTarget(
      name: "PostgresChild", dependencies: ["PostgresStacks", "GarageConformance", "GaragePostgres"],
      path: "Tests/PostgresChild"),
    .testTarget(
      name: "GaragePostgresTests",
      dependencies: [
        "PostgresStacks", "PostgresChild", "InsecureSealer", "GarageDriver", "GaragePostgres",
        "GarageSealing", "GarageConformance", "GarageStorage", "GarageDemo", "DebianPackages",
      ]),
  ]
}

for target in package.targets where optimized.contains(target.name) {
  if target.name == "CGarage" {
    target.cSettings = [.unsafeFlags(["-O2"])]
  } else {
    target.swiftSettings =
      settings + [.unsafeFlags(["-O", "-wmo", "-num-threads", "2", "-assert-config", "Debug"])]
  }
}
