import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// Changes that come to a commit which has begun are made along with it, though its transaction sees nothing of what was
/// committed since then.
@Suite struct LateJobTests {
  private struct Note: Codable, Identifiable { var id: Int }

  @Test func whatWasCommittedBeforeACallIsThereForIt() throws {
    let storage = HookedStorage(try Server.open(Server.newName()))
    let garage = try Garage(storage)
    try garage.parkAll([Note(id: 1), Note(id: 2)])
    let errors = Mutex<[any Error]>([])
    let group = DispatchGroup()
    @Sendable func begin(_ body: @escaping @Sendable () throws -> Void) {
      group.enter()
      Thread.detachNewThread {
        do { try body() } catch { errors.withLock { $0.append(error) } }
        group.leave()
      }
      // For it to stand in the queue.
      usleep(300_000)
    }
    storage.hooks.withLock { hooks in
      // In a commit of one, for which the next one waits.
      hooks.append { begin { try garage.delete(Note.self, identifier: 2) } }
      // In that one's, which has looked for its object already.
      hooks.append {
        do {
          try inThreads(1) { _ in try garage.write(retrying: 20) { try $0.park(Note(id: 3)) } }
        } catch {
          errors.withLock { $0.append(error) }
        }
        begin { try garage.delete(Note.self, identifier: 3) }
      }
    }
    try garage.delete(Note.self, identifier: 1)
    group.wait()
    #expect(errors.withLock { $0.map { "\($0)" } } == [])
    #expect(try garage.count(Note.self) == 0)
    // What is not there is missed all the same.
    #expect(throws: GarageError.self) { try garage.delete(Note.self, identifier: 3) }
  }
}

/// Runs something behind each of the first removals.
private final class HookedStorage: StorageDriver {
  private let base: any StorageDriver
  let hooks = Mutex<[@Sendable () -> Void]>([])

  init(_ base: any StorageDriver) { self.base = base }

  var info: StorageInfo { base.info }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write { try body(HookedTransaction($0, self)) }
  }

  func close() throws { try base.close() }

  func runNext() {
    let hook = hooks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    hook?()
  }
}

private final class HookedTransaction: WriteTransaction {
  private let base: any WriteTransaction
  private let storage: HookedStorage

  init(_ base: any WriteTransaction, _ storage: HookedStorage) { (self.base, self.storage) = (base, storage) }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withValue(for: key, body)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try base.scan(range, direction, visit)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws { try base.put(value, for: key) }

  func remove(_ key: RawSpan) throws {
    try base.remove(key)
    storage.runNext()
  }

  func removeAll(in range: StorageKeyRange) throws { try base.removeAll(in: range) }
}
