#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where a store is to be: a name that nothing else has, and a path at which there is nothing yet.
///
/// The folder of the path exists and is deleted when the check is over. A driver may make a file or a folder
/// at the path, and files beside it whose names begin with it. One that needs no files uses the name.
public struct ConformancePlace: Sendable, Hashable {
  /// A name unique among all places of all processes.
  public let name: String
  /// An absolute path.
  public let path: String
  /// The same path as a file URL.
  public var url: URL { URL(fileURLWithPath: path) }

  /// A place of one's own. The path should hold nothing, in a folder that exists.
  public init(name: String, path: String) {
    self.name = name
    self.path = path
  }
}
