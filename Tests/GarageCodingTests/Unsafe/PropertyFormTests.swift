import Testing

@testable import GarageCoding

@Suite struct PropertyFormTests {
  @Test func theyLookAsExpected() {
    #expect(PropertyForm.isLayoutKnown)
  }

  enum Kind: Int {
    case one, two
    var name: String { "\(self)" }
    var wrapped: Pair<Int, Int> { Pair(first: rawValue, second: 0) }
  }
  enum Loaded {
    case one(Int), none
    var number: Int { if case .one(let number) = self { number } else { 0 } }
  }
  @propertyWrapper struct Wrapper { var wrappedValue: Int }

  struct Pair<First, Second> {
    var first: First
    let second: Second
    var filler: (Int, UInt8, Int) = (0, 0, 0)
    var watched = 0 { didSet {} }
    var swapped: Pair<Second, First> { Pair<Second, First>(first: second, second: first) }
  }
  class Base {
    var number = 0
    let constant = 0
    final var closed = 0
    var kind: Kind?
    var computed: Int { number }
    var other: Base?
  }
  final class Derived: Base {
    var own = 0
    override var number: Int { didSet {} }
    override var computed: Int { own }
    @Wrapper var wrapped = 0
  }
  struct Whole {
    var pair = Pair(first: 0, second: "")
    var base = Base()
    var kind = Kind.one
    var kinds = [Kind.one]
    var table = ["": 0]
    var loaded = Loaded.none
    weak var weak: Base?
    private(set) var guarded = 0
    var optional: Pair<Int, Kind>?
    lazy var late = 0
    @Wrapper var wrapped = 0
    static subscript(number: Int) -> Int { number }
    subscript(number: Int) -> Int {
      get { number }
      set {}
    }
  }

  @Test func ofProperties() {
    func check<Root, Value>(_ keyPath: KeyPath<Root, Value>, _ expected: PropertyForm) {
      #expect(PropertyForm(keyPath) == expected, "\(keyPath)")
    }
    check(\Whole.pair.first, .stored)
    check(\Whole.pair.second, .stored)
    check(\Whole.pair.filler.2, .stored)
    check(\Whole.pair.swapped.first, .computed)
    check(\Whole.base.number, .settable)
    check(\Whole.base.constant, .stored)
    check(\Whole.base.closed, .stored)
    check(\Whole.base.computed, .computed)
    check(\Whole.base.other?.other?.number, .settable)
    check(\Whole.base.other?.other?.closed, .settable)
    check(\Whole.base.other?.other?.computed, .computed)
    check(\Whole.base.other!.number, .computed)
    check(\Whole.base.kind?.rawValue, .ofCase)
    check(\Whole.kind.rawValue, .ofCase)
    check(\Whole.kind.name, .ofCase)
    check(\Whole.kind.name.count, .computed)
    check(\Whole.kind.hashValue, .ofCase)
    check(\Whole.kind.wrapped.first, .ofCase)
    check(\Whole.kind.wrapped.watched, .ofCase)
    check(\Whole.pair.watched, .settable)
    check(\Whole.optional?.second.rawValue, .ofCase)
    check(\Whole.optional?.first, .stored)
    check(\Whole.optional!.first, .computed)
    check(\Whole.kinds[0], .computed)
    check(\Whole.kinds[0].rawValue, .computed)
    check(\Whole.kinds.first?.rawValue, .computed)
    check(\Whole.table[""], .computed)
    check(\Whole.loaded.number, .computed)
    check(\Whole.guarded, .stored)
    check(\Whole.wrapped, .settable)
    check(\Whole[3], .computed)
    check(\Derived.own, .stored)
    check(\Derived.wrapped, .settable)
    check(\Derived.closed, .stored)
    check(\Derived.constant, .stored)
    check(\Derived.number, .settable)
    check(\Derived.computed, .computed)
  }

  private protocol Numbered {
    var number: Int { get set }
    var constant: Int { get }
  }
  private struct Plain: Numbered {
    var number = 0
    let constant = 0
  }

  @Test func inGenericCode() {
    func check<T: Numbered, U, B: Base>(_: T.Type, _: U.Type, _: B.Type) {
      #expect(PropertyForm(\T.number) == .settable)
      #expect(PropertyForm(\T.constant) == .computed)
      #expect(PropertyForm(\Pair<U, T>.first) == .stored)
      #expect(PropertyForm(\Pair<U, T>.second) == .stored)
      #expect(PropertyForm(\Pair<U, T>.second.number) == .settable)
      #expect(PropertyForm(\Pair<T, U>.swapped.second.number) == .computed)
      #expect(PropertyForm(\[T].first?.number) == .computed)
      #expect(PropertyForm(\Pair<[U], T>.first[0]) == .computed)
      #expect(PropertyForm(\B.number) == .settable)
      #expect(PropertyForm(\B.kind?.rawValue) == .ofCase)
      #expect(PropertyForm(\B.computed) == .computed)
    }
    check(Plain.self, Int.self, Derived.self)
    check(Plain.self, String.self, Base.self)
  }
}
