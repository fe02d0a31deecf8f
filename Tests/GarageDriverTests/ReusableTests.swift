import Testing

@testable import GarageDriver

/// Objects that are used again: by one use at a time, and never under the hands of somebody who kept one.
@Suite struct ReusableTests {
  private final class Thing {}

  @Test func oneUseAfterTheOtherHasTheSameObject() {
    let room = Reusable<Thing>()
    let first = room.take { Thing() }
    #expect(room.giveBack(first, keeping: first.isOnlyReference))
    let second = room.take { Thing() }
    #expect(second.toOpaque() == first.toOpaque())
    #expect(room.giveBack(second, keeping: true))
  }

  @Test func usesAtTheSameTimeHaveObjectsOfTheirOwn() {
    let room = Reusable<Thing>()
    let outer = room.take { Thing() }
    let inner = room.take { Thing() }
    #expect(inner.toOpaque() != outer.toOpaque())
    #expect(!room.giveBack(inner, keeping: true))
    inner.release()
    #expect(room.giveBack(outer, keeping: true))
  }

  @Test func whatSomebodyKeptIsNotUsedAgain() {
    let room = Reusable<Thing>()
    let first = room.take { Thing() }
    let kept = first.takeUnretainedValue()
    #expect(!first.isOnlyReference)
    #expect(!room.giveBack(first, keeping: first.isOnlyReference))
    first.release()
    let second = room.take { Thing() }
    #expect(second.takeUnretainedValue() !== kept)
    #expect(room.giveBack(second, keeping: true))
  }

  @Test func theRoomIsFreeAgainWhereNoneCouldBeMade() {
    struct Failure: Error {}
    let room = Reusable<Thing>()
    #expect(throws: Failure.self) { try room.take { throw Failure() } }
    let first = room.take { Thing() }
    #expect(room.giveBack(first, keeping: true))
  }

  @Test func theRoomLetsItsObjectGo() {
    weak var thing: Thing?
    do {
      let room = Reusable<Thing>()
      let taken = room.take { Thing() }
      thing = taken.takeUnretainedValue()
      #expect(room.giveBack(taken, keeping: true))
    }
    #expect(thing == nil)
  }
}
