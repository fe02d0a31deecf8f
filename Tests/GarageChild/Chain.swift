import Foundation
import GarageDriver
import GarageStorage

/// An object that holds the next one.
protocol ChainLink: AnyObject, Codable, Identifiable where ID == Int {
  var following: (any ChainLink)? { get }
  /// Lets go of the next one.
  func cut()
}

final class PlainLink: ChainLink {
  var id: Int
  var next: PlainLink?
  init(_ id: Int, _ next: PlainLink?) { (self.id, self.next) = (id, next) }
  var following: (any ChainLink)? { next }
  func cut() { next = nil }
}

final class LinkedLink: ChainLink {
  var id: Int
  @Linked var next: LinkedLink?
  init(_ id: Int, _ next: LinkedLink?) { (self.id, self.next) = (id, next) }
  var following: (any ChainLink)? { next }
  func cut() { next = nil }
}

// Three types that take turns.

final class RedLink: ChainLink {
  var id: Int
  var next: GreenLink?
  init(_ id: Int, _ next: GreenLink?) { (self.id, self.next) = (id, next) }
  var following: (any ChainLink)? { next }
  func cut() { next = nil }
}

final class GreenLink: ChainLink {
  var id: Int
  var next: BlueLink?
  init(_ id: Int, _ next: BlueLink?) { (self.id, self.next) = (id, next) }
  var following: (any ChainLink)? { next }
  func cut() { next = nil }
}

final class BlueLink: ChainLink {
  var id: Int
  var next: RedLink?
  init(_ id: Int, _ next: RedLink?) { (self.id, self.next) = (id, next) }
  var following: (any ChainLink)? { next }
  func cut() { next = nil }
}

enum ChainKind: String, CaseIterable, Sendable {
  case plain, linked, mixed

  /// A chain whose links are numbered from 0.
  func make(_ count: Int) -> any ChainLink {
    var head: (any ChainLink)?
    for id in (0..<count).reversed() {
      head =
        switch self {
        case .plain: PlainLink(id, head as? PlainLink)
        case .linked: LinkedLink(id, head as? LinkedLink)
        case .mixed:
          switch id % 3 {
          case 0: RedLink(id, head as? GreenLink)
          case 1: GreenLink(id, head as? BlueLink)
          default: BlueLink(id, head as? RedLink)
          }
        }
    }
    return head ?? PlainLink(0, nil)
  }

  /// The chain from its first link.
  func retrieve(from garage: Garage) throws -> (any ChainLink)? {
    switch self {
    case .plain: try garage.retrieve(PlainLink.self, identifier: 0)
    case .linked: try garage.retrieve(LinkedLink.self, identifier: 0)
    case .mixed: try garage.retrieve(RedLink.self, identifier: 0)
    }
  }
}

enum Chain {
  /// Parks and retrieves a chain on a thread with a stack of 512 KiB.
  ///
  /// - Parameter steps: `park`, `retrieve` or `both`.
  static func run(_ kind: ChainKind, count: Int, steps: String, in storage: any StorageDriver) throws {
    try onSmallStack {
      let garage = try Garage(storage)
      let clock = ContinuousClock()
      if steps != "retrieve" {
        let head = kind.make(count)
        let time = try clock.measure { try garage.park(any: head) }
        try takeApart(head, count: count)
        Command.report(["chain": kind, "driver": storage.info.name, "count": count, "park": seconds(time)])
      }
      if steps != "park" {
        var head: (any ChainLink)?
        let time = try clock.measure { head = try kind.retrieve(from: garage) }
        guard let first = head else { throw Failure("the chain is gone") }
        head = nil
        try takeApart(first, count: count)
        Command.report([
          "chain": kind, "driver": storage.info.name, "count": count, "retrieve": seconds(time),
        ])
      }
    }
  }

  /// Releasing a long chain recurses in the runtime, so every link is let go by itself.
  static func takeApart(_ head: any ChainLink, count: Int) throws {
    var link: (any ChainLink)? = head
    var number = 0
    while let current = link {
      guard current.id == number else { throw Failure("link \(number) has the number \(current.id)") }
      link = current.following
      current.cut()
      number += 1
    }
    if number != count { throw Failure("the chain has \(number) links of \(count)") }
  }
}

func seconds(_ duration: Duration) -> Double {
  let parts = duration.components
  return (Double(parts.seconds) * 1000 + Double(parts.attoseconds / 1_000_000_000_000_000)) / 1000
}

/// Runs `body` on a thread with a stack of 512 KiB, as threads have on Apple systems.
func onSmallStack(_ body: @escaping () throws -> Void) throws {
  let outcome = Outcome(body)
  let thread = Thread {
    outcome.run()
    outcome.done.signal()
  }
  thread.stackSize = 512 << 10
  thread.start()
  outcome.done.wait()
  if let error = outcome.error { throw error }
}

private final class Outcome: @unchecked Sendable {
  // @unchecked: written on the thread before the semaphore is signalled, and read after.
  private let body: () throws -> Void
  private(set) var error: (any Error)?
  let done = DispatchSemaphore(value: 0)
  init(_ body: @escaping () throws -> Void) { self.body = body }
  func run() {
    do { try body() } catch { self.error = error }
  }
}
