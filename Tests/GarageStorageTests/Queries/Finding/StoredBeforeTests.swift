import Foundation
import GarageMemory
import GarageStorage
import Testing

/// What a type makes of the fields of stored objects is asked of those that the store has, also if others are parked,
/// the query is explained, or another store is asked before the first query. Each test has types of its own, because a
/// process remembers what it found.
@Suite struct StoredBeforeTests {
  private struct OldAccount: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "account stored before" }
    var id: Int
    var sum: Double
    var name: String
  }
  private struct Account: Codable, Identifiable, TypeTagged, Indexed {
    static var typeTag: String { "account stored before" }
    static var indexes: [Index<Account>] { [Index(\.name)] }
    var id: Int
    var sum: Decimal
    var name: String
  }
  private struct OldBalance: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "balance stored before" }
    var id: Int
    var sum: Double
  }
  private struct Balance: Codable, Identifiable, TypeTagged, Indexed {
    static var typeTag: String { "balance stored before" }
    static var indexes: [Index<Balance>] { [Index(\.sum)] }
    var id: Int
    var sum: Decimal
  }
  private struct OldBill: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "bill stored before" }
    var id: Int
    var sum: Double
  }
  private struct Bill: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "bill stored before" }
    var id: Int
    var sum: Decimal
  }
  private struct OldInvoice: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "invoice stored before" }
    var id: Int
    var sum: Double
  }
  private struct Invoice: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "invoice stored before" }
    var id: Int
    var sum: Decimal
  }
  private struct OldVoucher: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "voucher stored before" }
    var id: Int
    var sum: Double
    var name: String
  }
  private struct Voucher: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "voucher stored before" }
    var id: Int
    var sum: Decimal
    var name: String
  }
  private struct OldLedger: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "ledger stored before" }
    var id: Int
    var sum: Double
  }
  private struct Ledger: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "ledger stored before" }
    var id: Int
    var sum: Decimal
  }
  private struct OldTown: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "town stored before" }
    var id: Int
    var city: String
  }
  private struct Town: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "town stored before" }
    var id: Int
    var city: String
    init(id: Int, city: String) { (self.id, self.city) = (id, city) }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      let stored = try container.decode(String.self, forKey: .city)
      city = stored == "Bombay" ? "Mumbai" : stored
    }
  }
  private struct OldReceipt: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "receipt stored before" }
    var id: Int
    var sum: Double
  }
  private struct Receipt: Codable, Identifiable, TypeTagged, Indexed {
    static var typeTag: String { "receipt stored before" }
    static var indexes: [Index<Receipt>] { [Index(\.sum)] }
    var id: Int
    var sum: Decimal
  }
  private struct OldAddress: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "address stored before" }
    var id: Int
    var city: String
    var name: String
  }
  private struct Address: Codable, Identifiable, TypeTagged, Indexed {
    static var typeTag: String { "address stored before" }
    static var indexes: [Index<Address>] { [Index(\.name)] }
    var id: Int
    var city: String
    var name: String

    enum CodingKeys: String, CodingKey { case id, city, name }

    init(id: Int, city: String, name: String) { (self.id, self.city, self.name) = (id, city, name) }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      let city = try container.decode(String.self, forKey: .city)
      self.city = city == "Bombay" ? "Mumbai" : city
      name = try container.decode(String.self, forKey: .name)
    }
  }

  private func sum(_ number: Int) -> Double { Double(number % 10) / 10 }
  private let wanted = Decimal(string: "0.3")!

  @Test func aParkedObjectIsNotTakenForThoseBefore() throws {
    let garage = try Garage(MemoryStorage())
    try garage.parkAll((0..<40).map { OldAccount(id: $0, sum: sum($0), name: "old") })
    try garage.park(Account(id: 99, sum: 1, name: "new"))
    let query = garage.query(Account.self).where(\.sum == wanted)
    #expect(try query.count() == 4)
    #expect(try query.values(\.id) == [3, 13, 23, 33])
    #expect(try garage.query(Account.self).where(\.name == "new").values(\.id) == [99])
  }

  @Test func anIndexMadeForAParkedObjectIsNotUsedForThoseBefore() throws {
    let garage = try Garage(MemoryStorage())
    try garage.parkAll((0..<40).map { OldBalance(id: $0, sum: sum($0)) })
    try garage.park(Balance(id: 99, sum: wanted))
    #expect(try garage.query(Balance.self).where(\.sum == wanted).values(\.id) == [3, 13, 23, 33, 99])
    #expect(try garage.query(Balance.self).where(\.sum > wanted).count() == 24)
    #expect(try garage.verifyIndexes().isSound)
  }

  @Test func anExplanationChangesNoAnswer() throws {
    let garage = try Garage(MemoryStorage())
    try garage.parkAll((0..<40).map { OldBill(id: $0, sum: sum($0)) })
    let query = garage.query(Bill.self).where(\.sum == wanted)
    #expect(try query.explain().description.contains("decodes objects to decide"))
    #expect(try query.values(\.id) == [3, 13, 23, 33])
  }

  @Test func whatOneStoreHasIsNotTakenForWhatAnotherHas() throws {
    let newer = try Garage(MemoryStorage())
    try newer.parkAll((0..<40).map { Invoice(id: $0, sum: Decimal($0)) })
    #expect(try newer.query(Invoice.self).where(\.sum == Decimal(1)).values(\.id) == [1])
    let older = try Garage(MemoryStorage())
    try older.parkAll((0..<40).map { OldInvoice(id: $0, sum: sum($0)) })
    #expect(try older.query(Invoice.self).where(\.sum == wanted).values(\.id) == [3, 13, 23, 33])
    #expect(try older.query(Invoice.self).where(\.sum < wanted).count() == 12)
    #expect(try newer.query(Invoice.self).where(\.sum == Decimal(1)).values(\.id) == [1])
  }

  @Test func anIndexIsNotUsedBecauseItIsRightInAnotherStore() throws {
    let newer = try Garage(MemoryStorage())
    try newer.parkAll((0..<40).map { Receipt(id: $0, sum: Decimal($0)) })
    #expect(try newer.query(Receipt.self).where(\.sum == Decimal(1)).values(\.id) == [1])
    let older = try Garage(MemoryStorage())
    try older.parkAll((0..<40).map { OldReceipt(id: $0, sum: sum($0)) })
    #expect(try older.query(Receipt.self).where(\.sum == wanted).values(\.id) == [3, 13, 23, 33])
    #expect(try older.query(Receipt.self).where(\.sum > wanted).count() == 24)
    let largest = try older.retrieveAll(Receipt.self).map(\.sum).max()
    #expect(try older.query(Receipt.self).max(\.sum) == largest)
    #expect(try newer.query(Receipt.self).where(\.sum > Decimal(30)).count() == 9)
    #expect(try older.verifyIndexes().isSound && newer.verifyIndexes().isSound)
  }

  /// Not only in what form they stand, but what the type makes of them.
  @Test func aSpellingOfAnotherStoreIsFound() throws {
    let newer = try Garage(MemoryStorage())
    try newer.parkAll((0..<40).map { Town(id: $0, city: "Delhi") })
    #expect(try newer.query(Town.self).where(\.city == "Delhi").count() == 40)
    let older = try Garage(MemoryStorage())
    try older.parkAll((0..<40).map { OldTown(id: $0, city: $0 % 2 == 0 ? "Bombay" : "Delhi") })
    #expect(try older.query(Town.self).where(\.city == "Mumbai").count() == 20)
  }

  /// However many threads ask for the first time.
  @Test func manyThreadsAreOneStore() async throws {
    let newer = try Garage(MemoryStorage())
    try await newer.parkAll((0..<40).map { Ledger(id: $0, sum: Decimal($0)) })
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<64 {
        group.addTask {
          do { #expect(try await newer.query(Ledger.self).where(\.sum == Decimal(1)).count() == 1) } catch {
            Issue.record(error)
          }
        }
      }
    }
    let older = try Garage(MemoryStorage())
    try await older.parkAll((0..<40).map { OldLedger(id: $0, sum: sum($0)) })
    #expect(try await older.query(Ledger.self).where(\.sum == wanted).values(\.id) == [3, 13, 23, 33])
  }

  /// Objects of a store count also for properties that another store is asked for first.
  @Test func whatAStoreHasCountsForPropertiesThatAreAskedForLater() throws {
    func expect(_ count: Int, of name: String, in garage: Garage) throws {
      #expect(try garage.query(Voucher.self).where(\.name == name).count() == count)
    }
    let first = try Garage(MemoryStorage())
    try first.parkAll((0..<40).map { Voucher(id: $0, sum: Decimal($0), name: "first") })
    try expect(40, of: "first", in: first)
    let older = try Garage(MemoryStorage())
    try older.parkAll((0..<40).map { OldVoucher(id: $0, sum: sum($0), name: "older") })
    try expect(40, of: "older", in: older)
    let last = try Garage(MemoryStorage())
    try last.parkAll((0..<40).map { Voucher(id: $0, sum: Decimal($0 + 1), name: "last") })
    #expect(try last.query(Voucher.self).where(\.sum == Decimal(40)).values(\.id) == [39])
    #expect(try older.query(Voucher.self).where(\.sum == wanted).values(\.id) == [3, 13, 23, 33])
  }

  @Test func aSpellingOfThoseBeforeIsFound() throws {
    let garage = try Garage(MemoryStorage())
    try garage.parkAll(
      (0..<40).map { OldAddress(id: $0, city: $0 % 2 == 0 ? "Bombay" : "Delhi", name: "old") })
    try garage.park(Address(id: 99, city: "Delhi", name: "new"))
    #expect(try garage.query(Address.self).where(\.city == "Mumbai").count() == 20)
  }
}
