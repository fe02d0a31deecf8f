import Foundation
import GarageCoding
import Testing

/// Dates as GarageStorage's formatter writes them are read as the dates that they are.
@Suite struct ForeignDateTests {
  /// As it is set up there: of zones and calendars it says nothing.
  private func formatter(_ zone: String) throws -> DateFormatter {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ssZZZZZ"
    let zone = try #require(TimeZone(identifier: zone))
    formatter.timeZone = zone
    return formatter
  }

  @Test(arguments: ["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Africa/Monrovia"])
  func aDateIsWhatWasWritten(_ zone: String) throws {
    let formatter = try formatter(zone)
    // From the year 2 to 3999, at many times of the day.
    for day in stride(from: -730_000, to: 730_000, by: 397) {
      let date = Date(timeIntervalSinceReferenceDate: Double(day * 86_400 + day & 0xFFFF))
      let text = formatter.string(from: date)
      let found = ForeignDate.date(text)
      if found != date {
        Issue.record("\(zone): \(text) was read as \(String(describing: found)), not \(date)")
      }
    }
    for date in [Date.distantPast, .distantFuture] {
      #expect(ForeignDate.date(formatter.string(from: date)) == date, "\(zone)")
    }
  }

  @Test func calendarsChangeOnTheirDay() throws {
    let last = try #require(ForeignDate.date("1582-10-04T00:00:00Z"))
    let first = try #require(ForeignDate.date("1582-10-15T00:00:00Z"))
    #expect(first == last + 86_400)
    #expect(ForeignDate.date("0001-01-01T00:00:00Z") == .distantPast)
    // A leap year in the Julian calendar alone.
    let leap = try #require(ForeignDate.date("1500-02-29T00:00:00Z"))
    #expect(ForeignDate.date("1500-03-01T00:00:00Z") == leap + 86_400)
  }

  @Test func offsetsMayHaveSeconds() throws {
    let date = try #require(ForeignDate.date("2015-07-01T10:00:00Z"))
    for text in [
      "2015-07-01T12:00:00+02:00", "2015-07-01T12:00:00+0200", "2015-07-01T10:53:28+00:53:28",
      "2015-07-01T10:53:28+005328", "2015-07-01T05:03:58-04:56:02", "2015-07-01T10:00:00.000Z",
    ] { #expect(ForeignDate.date(text) == date, "\(text)") }
    for text in [
      "2015-07-01T10:00:00", "2015-07-01T10:00:00+02", "2015-07-01T10:00:00+02:00:0",
      "2015-07-01T10:00:00+02:00:00:00", "2015-07-01T10:00:00.Z", "2015-13-01T10:00:00Z", "",
    ] { #expect(ForeignDate.date(text) == nil, "\(text)") }
  }
}
