// swift-tools-version: 6.2

import PackageDescription

/// The tests of GarageCrypto, as an app that enables the trait. They are a package of their own, because nobody
/// who works on the rest should download and build swift-crypto. `make test-crypto` runs them. With the command's trait, because
/// continuous integration takes the command from here, too: BoringSSL and the library take minutes to build in release mode.
let package = Package(
  name: "CryptoTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Garage", path: "../..", traits: ["Crypto", "Command"]),
    .package(url: "https://github.com/apple/swift-crypto.git", from: "4.0.0"),
  ],
  targets: [
    .executableTarget(
      name: "SealingSpeed",
      dependencies: [
        .product(name: "GarageStorage", package: "Garage"),
        .product(name: "GarageSQLite", package: "Garage"),
        .product(name: "GarageLMDB", package: "Garage"),
        .product(name: "GarageMemory", package: "Garage"),
        .product(name: "GarageDriver", package: "Garage"),
        .product(name: "GarageSealing", package: "Garage"),
        .product(name: "GarageCrypto", package: "Garage"),
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .testTarget(
      name: "GarageCryptoTests",
      dependencies: [
        .product(name: "GarageStorage", package: "Garage"),
        .product(name: "GarageSQLite", package: "Garage"),
        .product(name: "GarageLMDB", package: "Garage"),
        .product(name: "GarageMemory", package: "Garage"),
        .product(name: "GarageDriver", package: "Garage"),
        .product(name: "GarageConformance", package: "Garage"),
        .product(name: "GarageSealing", package: "Garage"),
        .product(name: "GarageCrypto", package: "Garage"),
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
  ]
)
