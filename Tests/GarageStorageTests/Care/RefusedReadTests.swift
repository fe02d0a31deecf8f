import Foundation
import GarageDriver
import GarageMemory
import GarageStorage
import Synchronization
import Testing

/// What the storage tells of damage is a finding of `verify`, wherever it tells it. What only cuts the reading off is none: it is
/// done again, or thrown.
@Suite struct RefusedReadTests {
  @Test func whatIsNoDamageIsThrown() throws {
    let driver = RefusingStorage(try CareStore(.memory).driver)
    let garage = try Garage(driver)
    for kind in [StorageError.Kind.permissionDenied, .storageFull, .closed] {
      var place = 0
      while true {
        driver.plan.withLock { $0 = .init(error: error(kind), scansBefore: place) }
        do {
          let report = try garage.verify()
          #expect(report.findings.isEmpty, "\(kind), scan \(place): \(report)")
          break
        } catch GarageError.storage(let thrown) {
          #expect(thrown.kind == kind)
        } catch GarageError.closed {
          #expect(kind == .closed)
        }
        place += 1
      }
      #expect(place > 5)
    }
  }

  @Test(arguments: [StorageError.Kind.conflict, .disconnected, .io])
  func whatMaySucceedIsDoneAgain(_ kind: StorageError.Kind) throws {
    let driver = RefusingStorage(try CareStore(.memory).driver)
    let garage = try Garage(driver)
    let expected = try garage.verify()
    for place in 0..<6 {
      driver.plan.withLock { $0 = .init(error: error(kind, isRetryable: true), scansBefore: place, count: 2) }
      let report = try garage.verify()
      #expect(
        report.findings.isEmpty && report.objectCount == expected.objectCount, "scan \(place): \(report)")
      #expect(driver.plan.withLock { $0?.count } == 0)
    }
  }

  /// What else goes through the whole store is done again, too, from its beginning.
  @Test(arguments: [StorageError.Kind.conflict, .disconnected])
  func otherCareIsDoneAgain(_ kind: StorageError.Kind) throws {
    let driver = RefusingStorage(try CareStore(.memory).driver)
    let garage = try Garage(driver)
    let statistics = try garage.statistics()
    let contents = try Driver.contents(driver)
    let folder = FileManager.default.temporaryDirectory.appending(path: "garage-refused-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let whole = folder.appending(path: "whole")
    let exported = try garage.export(to: whole)
    // Each of them scans twice and more.
    for place in 0..<2 {
      func refuse() {
        driver.plan.withLock {
          $0 = .init(error: error(kind, isRetryable: true), scansBefore: place, count: 2)
        }
      }
      func expectRefused() { #expect(driver.plan.withLock { $0?.count } == 0, "scan \(place)") }
      refuse()
      #expect(try garage.statistics() == statistics)
      expectRefused()
      refuse()
      let file = folder.appending(path: "\(place)")
      #expect(try garage.export(to: file) == exported)
      #expect(try Data(contentsOf: file) == Data(contentsOf: whole))
      expectRefused()
      refuse()
      #expect(try garage.repair().isEmpty)
      expectRefused()
      refuse()
      let copy = MemoryStorage()
      try garage.copy(to: copy)
      expectRefused()
      #expect(try Driver.contents(copy) == contents)
    }
  }

  /// In each of the spaces that entries stand in.
  @Test(arguments: [0x01, 0x02, 0x10, 0x21, 0x30, 0x77])
  func damageIsAFinding(_ space: UInt8) throws {
    let driver = RefusingStorage(try CareStore(.memory).driver)
    let garage = try Garage(driver)
    driver.plan.withLock { $0 = .init(error: error(.corrupt), damaged: StorageKey([space])) }
    let report = try garage.verify()
    #expect(report.findings.contains { $0.place == .engine && $0.severity == .damage }, "\(report)")
  }

  private func error(_ kind: StorageError.Kind, isRetryable: Bool = false) -> StorageError {
    StorageError(
      kind, during: .scan, driver: "test", isRetryable: isRetryable, message: "The test wants it so.")
  }
}

/// Refuses scans as it is told to.
private final class RefusingStorage: StorageDriver {
  struct Plan {
    var error: StorageError
    /// How many scans go on before one is refused.
    var scansBefore = 0
    /// How many are refused then.
    var count = 1
    /// Where there is one, all that come upon it are refused, and no others.
    var damaged: StorageKey?
  }

  private let base: any StorageDriver
  let plan = Mutex<Plan?>(nil)

  init(_ base: any StorageDriver) { self.base = base }

  var info: StorageInfo { base.info }
  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try base.read { try body(RefusingTransaction($0, self)) }
  }
  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }
  func close() throws { try base.close() }

  func check(_ range: StorageKeyRange) throws {
    try plan.withLock { plan in
      guard let error = plan?.error else { return }
      if let damaged = plan?.damaged {
        if range.contains(damaged) { throw error }
      } else if plan?.scansBefore ?? 0 > 0 {
        plan?.scansBefore -= 1
      } else if plan?.count ?? 0 > 0 {
        plan?.count -= 1
        throw error
      }
    }
  }
}

private final class RefusingTransaction: ReadTransaction {
  private let base: any ReadTransaction
  private let storage: RefusingStorage

  init(_ base: any ReadTransaction, _ storage: RefusingStorage) {
    self.base = base
    self.storage = storage
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withValue(for: key, body)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try storage.check(range)
    try base.scan(range, direction, visit)
  }
}
