/// Digests that stand in the keys of stored records. They never change.
enum GoldenIdentities {
  static let all = [
    "7044e892b14e16beca7bffd1695e52d9e9",
    "705e475225dd0cc5f1df350e7d752c646c",
    "703791976f2687c4cf04202fb1a8c64dad",
    "702aa090a36a98409bee4279f475da6695",
    "7060519d893a13081ba2f1e87aa4c2b0a4",
    "705d0b617468a6ac5a5f0d80e9607efd46",
    "7042af06c752fe696008b2eab12b5b1612",
    "70a9f51566bd6705f7ea6ad54bb9deb449",
    "70a993f48bf9f8dad2cc68fd0d3374d5c4",
  ]
}
