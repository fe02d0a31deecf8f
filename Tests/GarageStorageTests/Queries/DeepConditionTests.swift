import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// Conditions that programs put together, of many terms, on threads with little room.
@Suite struct DeepConditionTests {
  private struct Item: Codable, Identifiable {
    var id: Int
    var number: Int
  }

  /// Runs `body` on a thread with half a megabyte of stack.
  private func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
    let result = Transferred()
    let thread = Thread { result.set(Result { try body() }) }
    thread.stackSize = 512 << 10
    thread.start()
    try result.wait()
  }

  private final class Transferred: @unchecked Sendable {
    // @unchecked: written before the semaphore is signalled, and read behind it.
    private let done = DispatchSemaphore(value: 0)
    private var result: Result<Void, any Error>?
    func set(_ result: Result<Void, any Error>) {
      self.result = result
      done.signal()
    }
    func wait() throws {
      done.wait()
      try result?.get()
    }
  }

  @Test(arguments: [3, 64, 65, 1000, 4000])
  func rows(_ count: Int) throws {
    let garage = try Garage(MemoryStorage())
    try garage.parkAll((0..<50).map { Item(id: $0, number: $0) })
    try onSmallStack { () throws -> Void in
      var (any, all) = (\Item.number == -1, \Item.number != -1)
      var query = garage.query(Item.self)
      for number in 1..<count {
        any = any || \.number == number + 40
        all = all && \.number != number + 40
        query = query.where(\.number != number + 30)
      }
      let expected = (0..<50).filter { (41..<40 + count).contains($0) }
      #expect(try garage.query(Item.self).where(any).values(\.id) == expected)
      #expect(
        try garage.query(Item.self).where(all).values(\.id) == (0..<50).filter { !expected.contains($0) })
      #expect(try query.values(\.id) == (0..<50).filter { !(31..<30 + count).contains($0) })
      // From the right.
      var right = \Item.number == 3
      for number in 4..<count + 4 { right = \.number == number || right }
      #expect(try garage.query(Item.self).where(!(!right)).count() == min(47, count + 1))
    }
  }

  @Test func rowsInOneAnother() throws {
    let garage = try Garage(MemoryStorage())
    try garage.parkAll((0..<50).map { Item(id: $0, number: $0) })
    try onSmallStack { () throws -> Void in
      var condition = \Item.number == 1
      for number in 2..<100 {
        condition = number % 2 == 0 ? condition && \.number < 1000 : condition || \.number == number
      }
      #expect(try garage.query(Item.self).where(condition).count() == 25)
      for _ in 0..<1001 { condition = !condition }
      #expect(try garage.query(Item.self).where(condition).count() == 25)
      for number in 2..<1000 {
        condition = number % 2 == 0 ? condition && \.number < 1000 : condition || \.number == number
      }
      let error = #expect(throws: GarageError.self) { try garage.query(Item.self).where(condition).count() }
      #expect("\(try #require(error))".contains("deep"))
    }
  }

  @Test(arguments: [1000, 100_000])
  func refusedHoweverDeep(_ count: Int) throws {
    let garage = try Garage(MemoryStorage())
    try onSmallStack { () throws -> Void in
      var (condition, other) = (\Item.number == 1, \Item.number == 1)
      for number in 0..<count {
        condition = !(condition && \.number == number)
        other = number % 2 == 0 ? other && \.number == number : \.number == number || other
      }
      for condition in [condition, other, !condition, !(!other), condition && other] {
        let error = #expect(throws: GarageError.self) { try garage.query(Item.self).where(condition).count() }
        #expect("\(try #require(error))".contains("deep"))
        #expect("\(condition)".contains("…"))
      }
    }
  }

  @Test func words() {
    let condition = \Item.number == 1 || \.number == 2 || \.number == 3
    #expect("\(condition)" == #"(\.number == 1 || \.number == 2) || \.number == 3"#)
    #expect("\(!(!condition))" == "\(condition)")
  }
}
