// swift-tools-version: 6.2

import PackageDescription

/// An app as its author would write it: the front door and one driver, nothing else. Scripts/check-consumer.sh
/// builds it and looks at what was built.
let package = Package(
  name: "Consumer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Garage", path: "../..")],
  targets: [
    .executableTarget(
      name: "Consumer",
      dependencies: [
        .product(name: "GarageStorage", package: "Garage"),
        .product(name: "GarageSQLite", package: "Garage"),
      ])
  ]
)
