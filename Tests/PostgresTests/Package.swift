// swift-tools-version: 6.2

import PackageDescription

/// The tests of GaragePostgres, as an app that enables the trait. They are a package of their own, because nobody who
/// works on the rest should need libpq and a server. `make test-postgres` starts a server and runs them on it.
let package = Package(
  name: "PostgresTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Garage", path: "../..", traits: ["PostgreSQL"])
  ],
  targets: [
    .target(
      name: "InsecureSealer",
      dependencies: [
        .product(name: "GarageSealing", package: "Garage"), .product(name: "GarageDriver", package: "Garage"),
      ]),
    .target(
      name: "PostgresStacks",
      dependencies: [
        "InsecureSealer",
        .product(name: "GarageDriver", package: "Garage"),
        .product(name: "GaragePostgres", package: "Garage"),
        .product(name: "GarageSealing", package: "Garage"),
        .product(name: "GarageConformance", package: "Garage"),
      ]),
    .executableTarget(
      name: "PostgresChild",
      dependencies: [
        "PostgresStacks", .product(name: "GarageConformance", package: "Garage"),
        .product(name: "GaragePostgres", package: "Garage"),
      ]),
    .testTarget(
      name: "GaragePostgresTests",
      dependencies: [
        "PostgresStacks", "PostgresChild",
        .product(name: "GarageDriver", package: "Garage"),
        .product(name: "GaragePostgres", package: "Garage"),
        .product(name: "GarageConformance", package: "Garage"),
        .product(name: "GarageStorage", package: "Garage"),
      ]),
  ]
)
