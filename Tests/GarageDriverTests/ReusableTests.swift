import Testing

@testable import GarageDriver

/// Objects that are used again: by one use at a time, and never under the hands of somebody who kept one.
@Suite struct ReusableTests {
  private final class Thing {}

  @Test func oneUseAfterTheOtherHasTheSameObject() {
    let room = Reusable<Thing>()
    let first = room.take { Thing() }
    let isKept = room.giveBack(first, keeping: first.isOnlyReference)
    #expect(isKept)
    let second = room.take { Thing() }
    #expect(second.toOpaque() == first.toOpaque())
    let isKeptAgain = room.giveBack(second, keeping: true)
    #expect(isKeptAgain)
  }

  @Test func usesAtTheSameTimeHaveObjectsOfTheirOwn() {
    let room = Reusable<Thing>()
    let outer = room.take { Thing() }
    let inner = room.take { Thing() }
    #expect(inner.toOpaque() != outer.toOpaque())
    let isKept = room.giveBack(inner, keeping: true)
    #expect(!isKept)
    inner.release()
    let isKeptAgain = room.giveBack(outer, keeping: true)
    #expect(isKeptAgain)
  }

  @Test func whatSomebodyKeptIsNotUsedAgain() {
    let room = Reusable<Thing>()
    let first = room.take { Thing() }
    let kept = first.takeUnretainedValue()
    #expect(!first.isOnlyReference)
    let isKept = room.giveBack(first, keeping: first.isOnlyReference)
    #expect(!isKept)
    first.release()
    let second = room.take { Thing() }
    #expect(second.takeUnretainedValue() !== kept)
    let isKeptAgain = room.giveBack(second, keeping: true)
    #expect(isKeptAgain)
  }

  @Test func theRoomIsFreeAgainWhereNoneCouldBeMade() {
    struct Failure: Error {}
    let room = Reusable<Thing>()
    do {
      _ = try room.take { throw Failure() }
      Issue.record("there is an object although none could be made")
    } catch {
      #expect(error is Failure)
    }
    let first = room.take { Thing() }
    let isKept = room.giveBack(first, keeping: true)
    #expect(isKept)
  }

  @Test func theRoomLetsItsObjectGo() {
    weak var thing: Thing?
    do {
      let room = Reusable<Thing>()
      let taken = room.take { Thing() }
      thing = taken.takeUnretainedValue()
      let isKept = room.giveBack(taken, keeping: true)
      #expect(isKept)
    }
    #expect(thing == nil)
  }
}
