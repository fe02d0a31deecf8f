/// The findings of reading all of a store.
public struct VerificationReport: Sendable, Hashable {
  /// How bad something is that was found.
  public enum Severity: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Nothing is lost and nothing fails: something refers to an object that is gone, or is left over.
    case notice
    /// Something cannot be read, or will not be found.
    case damage

    /// A notice is less than damage.
    public static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
  }

  /// What part of the store something was found in.
  public enum Place: String, Sendable, Hashable, CaseIterable {
    /// The files or pages below the driver.
    case engine
    /// What makes the store a garage.
    case metadata
    /// The name of a type, or the coding keys of one, which records name by a digest.
    case text
    /// The record of an object.
    case record
    /// The value of a typed key.
    case value
    /// A reference from an object, or from the value of a typed key.
    case reference
    /// The entry by which an object is found by its sync status.
    case syncStatus
    /// An index: the catalog, or the entries by which objects are found by what they hold.
    case index
    /// An entry that no version of the format knows.
    case unknown
  }

  /// One thing that was found.
  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// How bad it is.
    public var severity: Severity
    /// Where it is.
    public var place: Place
    /// The object's type, by the name that the store has for it; nil where it belongs to none.
    public var type: String?
    /// The object's identifier, or the typed key, in words; nil where there is none.
    public var identifier: String?
    /// The coding path of the property that it is about, such as `owner` or `parts[3].maker`; nil where it is about all.
    public var path: String?
    /// What is wrong, and what to do about it.
    public var message: String

    /// All of it in one line.
    public var description: String {
      let subject = [type, identifier.map { "\"\($0)\"" }, path.map { "at \($0)" }].compactMap(\.self)
      let prefix = subject.isEmpty ? place.rawValue : subject.joined(separator: " ")
      return "\(severity): \(prefix): \(message)"
    }
  }

  /// What was found, in the order in which it was: of very many the first ``maximumFindingCount``.
  public internal(set) var findings: [Finding] = []
  /// How many findings of each severity there are in all.
  public internal(set) var findingCounts: [Severity: Int] = [:]
  /// How many objects' records were read.
  public internal(set) var objectCount = 0
  /// How many values of typed keys were read.
  public internal(set) var keyCount = 0
  /// How many bytes of keys and values were read.
  public internal(set) var byteCount = 0

  /// How many findings are listed at most.
  public static let maximumFindingCount = 10_000

  /// Whether everything can be read and found. There may be notices.
  public var isSound: Bool { findingCounts[.damage, default: 0] == 0 }

  mutating func add(_ severity: Severity, _ place: Place, _ message: String) {
    add(severity, place, type: nil, nil, message)
  }

  mutating func add(
    _ severity: Severity, _ place: Place, type: String? = nil, _ identifier: String?, path: String? = nil,
    _ message: String
  ) {
    findingCounts[severity, default: 0] += 1
    if findings.count == VerificationReport.maximumFindingCount { return }
    findings.append(
      Finding(
        severity: severity, place: place, type: type, identifier: identifier, path: path, message: message))
  }
}

extension VerificationReport: CustomStringConvertible {
  /// A line for each finding, behind one that counts them.
  public var description: String {
    func count(_ count: Int, _ name: String) -> String { "\(count) \(name)\(count == 1 ? "" : "s")" }
    let total = findingCounts.values.reduce(0, +)
    let lines =
      findings.map { "\($0)" } + (total > findings.count ? ["and \(total - findings.count) more"] : [])
    let summary =
      "\(count(objectCount, "object")) and \(count(keyCount, "key")), \(count(byteCount, "byte")): "
      + (total == 0 ? "no findings" : count(total, "finding"))
    return ([summary] + lines).joined(separator: "\n")
  }
}
