#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The place of a store: a name that nothing else has, and a path where nothing stands yet.
///
/// The folder of the path exists, and is deleted after the check. A driver may make a file or a folder at the path, and files
/// beside it whose names begin with the same name. A driver that needs no files uses the name.
public struct ConformancePlace: Sendable, Hashable {
  /// A name unique among all places of all processes.
  public let name: String
  /// An absolute path.
  public let path: String
  /// The same path as a file URL.
  public var url: URL { URL(fileURLWithPath: path) }

  /// A place of your own. Nothing should stand at the path, and its folder should exist.
  public init(name: String, path: String) {
    self.name = name
    self.path = path
  }
}
