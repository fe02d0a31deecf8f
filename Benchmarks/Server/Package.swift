// swift-tools-version: 6.2

import PackageDescription

/// An example server: a small REST interface to a garage, and to GRDB beside it. A package of its own, so that nobody who
/// uses the library resolves what only this needs.
let package = Package(
  name: "NotesServer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Garage", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
  ],
  targets: [
    .target(
      name: "Notes",
      dependencies: [
        .product(name: "GarageStorage", package: "Garage"),
        .product(name: "GarageSQLite", package: "Garage"),
        .product(name: "GarageLMDB", package: "Garage"),
        .product(name: "GarageMemory", package: "Garage"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ]),
    .executableTarget(
      name: "NotesServer",
      dependencies: [
        "Notes", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "NotesServerTests",
      dependencies: ["Notes", .product(name: "HummingbirdTesting", package: "hummingbird")]),
  ],
  swiftLanguageModes: [.v6]
)
