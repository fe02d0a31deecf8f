#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import GarageCoding

/// A constant as conditions and plans write it: as Swift prints it, but for dates, whose own description ends the process where
/// they are no number. So what holds others is taken apart here, unless its type has a description.
func constantText(_ value: some Any) -> String {
  switch value {
  case let text as String: return String(reflecting: text)
  case let date as Date: return dateText(date.timeIntervalSinceReferenceDate)
  case let interval as DateInterval:
    return "\(dateText(interval.start.timeIntervalSinceReferenceDate)) + \(interval.duration) s"
  case let optional as any OptionalObject: return optional.object.map { constantText($0) } ?? "nil"
  default: break
  }
  let mirror = Mirror(reflecting: value)
  switch mirror.displayStyle {
  case .collection, .set: return "[\(mirror.partsText)]"
  case .dictionary: return "[\(mirror.entriesText)]"
  case .tuple: return "(\(mirror.partsText))"
  default: break
  }
  let isDescribed =
    value is any CustomStringConvertible || value is any CustomDebugStringConvertible
    || value is any TextOutputStreamable
  if isDescribed { return "\(value)" }
  switch mirror.displayStyle {
  case .struct: return "\(type(of: value))(\(mirror.partsText))"
  case .enum:
    // Without a payload there is nothing but the name of the case.
    guard let payload = mirror.children.first else { return "\(value)" }
    let text = constantText(payload.value)
    return
      "\(payload.label ?? "")\(Mirror(reflecting: payload.value).displayStyle == .tuple ? text : "(\(text))")"
  default: return "\(value)"
  }
}

extension Mirror {
  /// What a value is made of, each part behind its name where it has one.
  fileprivate var partsText: String {
    children.map { child in
      // Nameless elements of tuples are called `.0`.
      guard let label = child.label, !label.hasPrefix(".") else { return constantText(child.value) }
      return "\(label): \(constantText(child.value))"
    }.joined(separator: ", ")
  }

  /// The keys of a dictionary with their values.
  fileprivate var entriesText: String {
    let entries = children.map { entry in
      Mirror(reflecting: entry.value).children.map { constantText($0.value) }.joined(separator: ": ")
    }
    return entries.isEmpty ? ":" : entries.joined(separator: ", ")
  }
}
