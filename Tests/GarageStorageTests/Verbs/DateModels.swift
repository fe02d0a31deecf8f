import Foundation
import GarageStorage

/// Dates in every position.
struct Diary: Codable, Identifiable, Equatable {
  enum Entry: Codable, Equatable { case at(Date) }
  var id = 1
  var date: Date
  var optional: Date?
  var packed: [Date]
  var optionals: [Date?]
  var table: [String: Date]
  var set: Set<Date>
  var nested: [[Date]]
  var entry: Entry
  var wrapping: Wrapping<Date>

  init(_ dates: [Date]) {
    date = dates[0]
    optional = dates[1]
    packed = dates
    optionals = [dates[2], nil]
    table = ["a": dates[0], "b": dates[1]]
    set = Set(dates)
    nested = [[dates[0]], dates]
    entry = .at(dates[1])
    wrapping = Wrapping(dates[2])
  }

  /// With all dates as `change` makes them.
  func mapped(_ change: (Date) -> Date) -> Diary {
    var copy = self
    copy.date = change(date)
    copy.optional = optional.map(change)
    copy.packed = packed.map(change)
    copy.optionals = optionals.map { $0.map(change) }
    copy.table = table.mapValues(change)
    copy.set = Set(set.map(change))
    copy.nested = nested.map { $0.map(change) }
    if case .at(let date) = entry { copy.entry = .at(change(date)) }
    copy.wrapping = Wrapping(change(wrapping.value))
    return copy
  }
}

/// What the records of ``Appointment`` hold, as another program sees it.
struct RawAppointment<Stored: Codable & Equatable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "appointment" }
  var id: Int
  var date: Stored
}
struct Appointment: Codable, Identifiable, TypeTagged, Equatable {
  static var typeTag: String { "appointment" }
  var id: Int
  var date: Date
}
struct Agenda: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "agenda" }
  var id = 1
  var days: [String: [Date]]
}
struct RawAgenda: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "agenda" }
  var id = 1
  var days: [String: [Double]]
}

/// Identified by a date, or by something that holds dates.
struct DatedEntry: Codable, Identifiable, Equatable {
  var id: Date
  var other: Date
}
struct SpanEntry: Codable, Identifiable, Equatable {
  struct Span: Codable, Hashable {
    var name: String
    var start: Date
    var more: [Date]
  }
  var id: Span
  var other: Date
}
struct DateTable: Codable, Identifiable, Equatable {
  struct Key: Codable, Hashable { var date: Date }
  var id = 1
  var byDate: [Date: Int]
  var byKey: [Key: Date]
}
struct DatedRemark: Codable, Hashable {
  var date: Date
}
struct DatedCoin: Interned {
  var date: Date
}
struct Purse: Codable, Identifiable {
  var id = 1
  var coins: [DatedCoin]
  var first: DatedCoin
}
/// Mapped, with references behind dates.
final class Timetable: MappableObject {
  var name = ""
  var byDate: [Date: Timetable] = [:]
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Timetable.self)
    mapping.add("name", \Timetable.name)
    mapping.add("byDate", \Timetable.byDate)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}
