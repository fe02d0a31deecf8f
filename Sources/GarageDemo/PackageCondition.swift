import DebianPackages
import GarageStorage

/// The condition of `--where`: a field, a comparison and a value, such as `section=libs` or `installedSize>=1000`.
struct PackageCondition: Equatable {
  /// The comparisons. One that begins with another stands before it.
  private enum Comparison: String, CaseIterable {
    case notEqual = "!="
    case atMost = "<="
    case atLeast = ">="
    case hasPrefix = "^="
    case contains = "*="
    case equal = "="
    case less = "<"
    case more = ">"
  }

  private static var texts: [(name: String, property: KeyPath<Package, String?>)] {
    [
      ("version", \.version), ("architecture", \.architecture), ("section", \.section),
      ("maintainer", \.maintainer), ("description", \.description),
    ]
  }
  private static var fields: [String] { ["name"] + texts.map(\.name) + ["installedSize"] }

  let text: String
  private let field: String
  private let comparison: Comparison
  private let value: String

  /// Throws ``DemoError`` if the text is no condition.
  init(_ text: String) throws {
    self.text = text
    guard let start = text.firstIndex(where: { "!<>^*=".contains($0) }),
      let comparison = Comparison.allCases.first(where: { text[start...].hasPrefix($0.rawValue) })
    else {
      throw DemoError.usage(
        "--where needs a field, one of \(Comparison.allCases.map(\.rawValue).joined(separator: " ")), and a value: \(text)"
      )
    }
    self.comparison = comparison
    field = text[..<start].trimmingSpaces
    value = text[text.index(start, offsetBy: comparison.rawValue.count)...].trimmingSpaces
    guard PackageCondition.fields.contains(field) else {
      throw DemoError.usage(
        "Packages have no field '\(field)'. The fields are: \(PackageCondition.fields.joined(separator: ", "))."
      )
    }
    if field == "installedSize" {
      guard Int(value) != nil else {
        throw DemoError.usage("installedSize is a number of KiB, and '\(value)' is none.")
      }
      if comparison == .hasPrefix || comparison == .contains {
        throw DemoError.usage("\(comparison.rawValue) is for text, and installedSize is a number.")
      }
    }
  }

  /// The condition for a query.
  var condition: Condition<Package> {
    if let size = Int(value), field == "installedSize" {
      let property: KeyPath<Package, Int?> = \.installedSize
      switch comparison {
      case .notEqual: return property != size
      case .atMost: return property <= size
      case .atLeast: return property >= size
      case .less: return property < size
      case .more: return property > size
      case .equal, .hasPrefix, .contains: return property == size
      }
    }
    if let (_, property) = PackageCondition.texts.first(where: { $0.name == field }) {
      switch comparison {
      case .notEqual: return property != value
      case .atMost: return property <= value
      case .atLeast: return property >= value
      case .hasPrefix: return property == .hasPrefix(value)
      case .contains: return property == .contains(value)
      case .equal: return property == value
      case .less: return property < value
      case .more: return property > value
      }
    }
    let name: KeyPath<Package, String> = \.name
    switch comparison {
    case .notEqual: return name != value
    case .atMost: return name <= value
    case .atLeast: return name >= value
    case .hasPrefix: return name == .hasPrefix(value)
    case .contains: return name == .contains(value)
    case .equal: return name == value
    case .less: return name < value
    case .more: return name > value
    }
  }
}

extension Substring {
  fileprivate var trimmingSpaces: String {
    var rest = self
    while rest.first == " " { rest.removeFirst() }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }
}
