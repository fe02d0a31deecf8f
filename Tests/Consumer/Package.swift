// swift-tools-version: 6.2

import PackageDescription

let garage: [Target.Dependency] = [
  .product(name: "GarageStorage", package: "Garage"),
  .product(name: "GarageSQLite", package: "Garage"),
]

/// Apps as their authors would write them: the front door and one driver, nothing else. Scripts/check-consumer.sh
/// builds them and looks at what was built.
let package = Package(
  name: "Consumer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Garage", path: "../..")],
  targets: [
    .executableTarget(name: "Consumer", dependencies: garage),
    // Where everything belongs to the main actor unless it says otherwise.
    .executableTarget(
      name: "MainActorConsumer", dependencies: garage,
      swiftSettings: [
        .swiftLanguageMode(.v6), .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
      ]),
  ]
)
