import Dispatch
import Synchronization
import Testing

@testable import GarageStorage

@Suite struct WorkerPlacesTests {
  private final class Order: Sendable {
    private let state = Mutex((next: 0, isKept: true))

    func note(_ number: Int) {
      state.withLock { state in
        if state.next != number { state.isKept = false }
        state.next += 1
      }
    }

    var keptCount: Int? { state.withLock { $0.isKept ? $0.next : nil } }
  }

  /// So many that it would take minutes if each that is taken moved all behind it.
  @Test func manyWaitAndAreTakenInTheirOrder() async {
    let places = WorkerPlaces(1)
    let mayBegin = DispatchSemaphore(value: 0)
    let order = Order()
    let count = 200_000
    places.run { mayBegin.wait() }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      for number in 0..<count { places.run { order.note(number) } }
      places.run { continuation.resume() }
      mayBegin.signal()
    }
    #expect(order.keptCount == count)
  }

  /// One that is begun while others wait comes behind them, and a place that nobody waits for is free again.
  @Test func placesAreUsedAgain() async {
    let places = WorkerPlaces(2)
    let order = Order()
    for round in 0..<100 {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        places.run {
          order.note(round)
          continuation.resume()
        }
      }
    }
    #expect(order.keptCount == 100)
  }
}
