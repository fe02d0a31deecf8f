import Foundation
import GarageConformance

@testable import ConformanceChild

/// The executable that was built beside the test bundle.
let childExecutable: URL = {
  #if canImport(Darwin)
    let folder = Bundle(for: BundleToken.self).bundleURL.deletingLastPathComponent()
  #else
    let folder = (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
      .deletingLastPathComponent()
  #endif
  return folder.appendingPathComponent("ConformanceChild")
}()

private final class BundleToken {}

extension Stack {
  /// The options for this stack's checks; its child opens the same stack.
  func options() -> ConformanceOptions {
    ConformanceOptions(
      childExecutable: childExecutable, childArguments: [name], openReadOnly: openReadOnly)
  }
}
