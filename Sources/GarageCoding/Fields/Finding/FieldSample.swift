#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import Synchronization

/// The stored values of two objects, or of two values in them. A type accepts what it has written, whatever else it refuses.
package struct FieldSample: Sendable {
  var first: RecordValue?
  var second: RecordValue?

  init() {}

  /// - Parameters:
  ///   - first: an object, with the objects that it refers to in place of the references.
  ///   - second: another one, where there is one.
  package init(_ first: RecordValue, _ second: RecordValue?) { (self.first, self.second) = (first, second) }

  /// The samples under a key.
  func value(_ key: String) -> FieldSample { map { $0[key] } }

  /// The samples in an array, whose last element stands for all behind it.
  func element(_ index: Int) -> FieldSample {
    map { value in value.behindMarks.arrayValue.flatMap { $0.isEmpty ? nil : $0[min(index, $0.count - 1)] } }
  }

  private func map(_ part: (RecordValue) -> RecordValue?) -> FieldSample {
    var found = FieldSample()
    (found.first, found.second) = (first.flatMap(part), second.flatMap(part))
    return found
  }
}

extension FieldSample {
  /// Whether objects of the type could not be made up when a property was asked for, and there is no sample yet.
  package static func isWanted(for type: any Decodable.Type) -> Bool {
    isWanted(ProbeExperience.Key(type, fillsDictionaries: false))
      || isWanted(ProbeExperience.Key(type, fillsDictionaries: true))
  }

  private static func isWanted(_ key: ProbeExperience.Key) -> Bool {
    let experience = ProbeExperience.of(key)
    return experience.refusal != nil && experience.sample.first == nil
  }

  /// Makes objects up from a sample from now on. Properties without a field are looked for again.
  package static func note(_ sample: FieldSample, of type: any Decodable.Type) {
    var experience = ProbeExperience()
    experience.sample = sample
    for fillsDictionaries in [false, true] {
      ProbeExperience.note(experience, of: ProbeExperience.Key(type, fillsDictionaries: fillsDictionaries))
    }
    ProbeExperience.sampleCount.add(1, ordering: .sequentiallyConsistent)
    StoredField.forgetMissing(in: type)
    ReferringField.forgetMissing()
  }
}

extension RecordValue {
  /// Without the version and the sync status that stand before a value.
  var behindMarks: RecordValue {
    switch self {
    case .versioned(_, let value), .withSyncStatus(_, let value): value.behindMarks
    default: self
    }
  }

  /// As a value of a type that is no container; nil where it is none, or not of that type.
  func scalar(as type: Any.Type) -> Any? {
    switch (behindMarks, type) {
    case (.bool(let value), is Bool.Type): return value
    case (.string(let text), is String.Type): return text
    case (.string(let text), is URL.Type): return URL(string: text)
    case (.double(let value), is Double.Type): return value
    case (.float(let value), is Float.Type): return value
    case (.date(let value), is Date.Type): return value
    case (.uuid(let value), is UUID.Type): return value
    case (.data(let value), is Data.Type): return value
    case (.decimal(let value), is Decimal.Type): return value
    case (.integer(let value), let type as any FixedWidthInteger.Type): return integer(value, as: type)
    case (.wideInteger(let value), let type as any FixedWidthInteger.Type): return integer(value, as: type)
    case (.unsignedInteger(let value), let type as any FixedWidthInteger.Type):
      return integer(value, as: type)
    case (.double, _), (.float, _), (.decimal, _), (.wideInteger, _), (.unsignedInteger, _):
      return behindMarks.otherNumber(as: type)
    case (.integer, _): return behindMarks.otherNumber(as: type) ?? plainCase(of: type)
    case (.string, _): return plainCase(of: type)
    default: return nil
    }
  }

  /// A number in another form than its own, in which decoders read it, too; nil where the type has no such number.
  private func otherNumber(as type: Any.Type) -> Any? {
    switch (self, type) {
    case (_, is Double.Type): return doubleValue
    case (_, is Float.Type):
      guard let number = doubleValue else { return nil }
      let float = Float(number)
      return float.isInfinite && number.isFinite ? nil : float
    case (.integer(let value), is Decimal.Type): return Decimal(value)
    case (.double, is Decimal.Type), (.float, is Decimal.Type):
      // Foundation ends the process where it is infinite.
      guard let number = doubleValue, !number.isInfinite else { return nil }
      let decimal = Decimal(number)
      return decimal.isNaN && !number.isNaN ? nil : decimal
    case (.double(let value), let type as any FixedWidthInteger.Type): return exactly(value, as: type)
    case (.float(let value), let type as any FixedWidthInteger.Type): return exactly(Double(value), as: type)
    default: return nil
    }
  }

  private func exactly<N: FixedWidthInteger>(_ value: Double, as type: N.Type) -> Any? { N(exactly: value) }

  private func integer<N: FixedWidthInteger>(_ value: some FixedWidthInteger, as type: N.Type) -> Any? {
    N(exactly: value)
  }

  /// The case of an enum that has this raw value.
  private func plainCase(of type: Any.Type) -> Any? {
    guard FieldComparability.isPlainEnum(type), let count = TypeAddress(type).plainCaseCount else {
      return nil
    }
    for number in 0..<count {
      guard let found = TypeAddress(type).plainCase(number, of: type) as? any Encodable else { continue }
      switch (try? GraphEncoder.fieldValue(of: found), self) {
      case (.text(let raw)?, .string(let text)) where raw == text: return found
      case (.number(.integer(let raw))?, .integer(let number)) where raw == number: return found
      default: continue
      }
    }
    return nil
  }
}
