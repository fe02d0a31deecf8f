import Foundation
import Testing

@testable import GarageCoding

/// The elements of arrays are found where arrays keep them.
@Suite struct ArrayElementsTests {
  @Test func theyLookAsExpected() {
    #if !canImport(ObjectiveC)
      #expect(
        ArrayElements().areKnown, "arrays look otherwise than expected: each is counted while it is written")
    #endif
  }

  @Test(arguments: [0, 1, 2, 3, 10, 1000]) func elements(count: Int) {
    func check<Element: Equatable>(_ array: [Element]) {
      let found = ArrayElements().with(array, of: Element.self) { Array($0) }
      #expect(found == array)
      // With more room than there are elements.
      var roomy = array
      roomy.reserveCapacity(2 * count + 5)
      #expect(ArrayElements().with(roomy, of: Element.self) { Array($0) } == array)
    }
    check((0..<count).map { "\($0)" })
    check((0..<count).map { "a text that needs memory of its own, the \($0)th" })
    check((0..<count).map { Date(timeIntervalSinceReferenceDate: Double($0)) })
  }
}
