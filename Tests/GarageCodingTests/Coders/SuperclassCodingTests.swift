import Foundation
import Testing

@testable import GarageCoding

// Classes whose superclasses encode themselves: on the same encoder, or on one of their own.

private enum Style: CaseIterable { case superFirst, superLast, between, superEncoder, superEncoderForKey }

private class Base: Codable {
  var name = "base", count = 1, note: String? = "n"
  enum BaseKeys: String, CodingKey { case name, count, note }
  init() {}
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: BaseKeys.self)
    name = try container.decode(String.self, forKey: .name)
    count = try container.decode(Int.self, forKey: .count)
    note = try container.decodeIfPresent(String.self, forKey: .note)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: BaseKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(count, forKey: .count)
    try container.encodeIfPresent(note, forKey: .note)
  }
  var text: String { "\(name) \(count) \(note ?? "-")" }
}

/// Has a key of its superclass's name, `note`, and keys in another order.
private class Middle<Choice: StyleChoice>: Base {
  var extra = [Point(x: 1, y: 2)], own: String? = "o"
  enum MiddleKeys: String, CodingKey { case own, note, extra, parent }
  override init() { super.init() }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: MiddleKeys.self)
    own = try container.decodeIfPresent(String.self, forKey: .own)
    switch Choice.style {
    case .superEncoder: try super.init(from: container.superDecoder())
    case .superEncoderForKey: try super.init(from: container.superDecoder(forKey: .parent))
    default: try super.init(from: decoder)
    }
    extra = try container.decode([Point].self, forKey: .extra)
  }
  override func encode(to encoder: any Encoder) throws {
    if Choice.style == .superFirst { try super.encode(to: encoder) }
    var container = encoder.container(keyedBy: MiddleKeys.self)
    try container.encodeIfPresent(own, forKey: .own)
    if Choice.style == .between { try super.encode(to: encoder) }
    if Choice.style == .superEncoder { try super.encode(to: container.superEncoder()) }
    if Choice.style == .superEncoderForKey { try super.encode(to: container.superEncoder(forKey: .parent)) }
    try container.encode(extra, forKey: .extra)
    if Choice.style == .superLast { try super.encode(to: encoder) }
  }
  override var text: String { super.text + " | \(own ?? "-") \(extra.map(\.x))" }
}

private final class Leaf<Choice: StyleChoice>: Middle<Choice> {
  var leaf = true, name2: String? = "n2", others: [Base] = []
  enum LeafKeys: String, CodingKey { case leaf, name, name2, others }
  override init() { super.init() }
  required init(from decoder: any Decoder) throws {
    try super.init(from: decoder)
    let container = try decoder.container(keyedBy: LeafKeys.self)
    leaf = try container.decode(Bool.self, forKey: .leaf)
    name2 = try container.decodeIfPresent(String.self, forKey: .name)
    others = try container.decode([Base].self, forKey: .others)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: LeafKeys.self)
    try container.encode(leaf, forKey: .leaf)
    try container.encodeIfPresent(name2, forKey: .name)
    try container.encode(others, forKey: .others)
  }
  override var text: String { super.text + " | \(leaf) \(name2 ?? "-") \(others.map(\.text))" }
}

private protocol StyleChoice { static var style: Style { get } }
private enum First: StyleChoice { static var style: Style { .superFirst } }
private enum Last: StyleChoice { static var style: Style { .superLast } }
private enum Between: StyleChoice { static var style: Style { .between } }
private enum OwnEncoder: StyleChoice { static var style: Style { .superEncoder } }
private enum OwnKey: StyleChoice { static var style: Style { .superEncoderForKey } }

/// Subclasses and superclasses do not get into each other's way, in whichever order they encode.
@Suite struct SuperclassCodingTests {
  private func check<C: StyleChoice>(_: C.Type) throws {
    for bits in 0..<16 {
      let leaf = Leaf<C>(), middle = Middle<C>()
      for object in [leaf, middle] {
        if bits & 1 != 0 { object.note = nil }
        if bits & 2 != 0 { object.own = nil }
        if bits & 4 != 0 { object.extra = [] }
      }
      if bits & 8 != 0 { leaf.name2 = nil }
      leaf.others = [Base(), Base()]
      for object in [leaf, middle] as [Middle<C>] {
        func compare<T: Base>(_ object: T) throws {
          let json = try JSON.copy(Owner([object])).value[0], ours = try copy([object])[0]
          #expect(ours.text == json.text, "\(C.self) \(bits) \(T.self)")
        }
        if let leaf = object as? Leaf<C> { try compare(leaf) } else { try compare(object) }
      }
    }
  }

  @Test func superOnTheSameEncoderFirst() throws { try check(First.self) }
  @Test func superOnTheSameEncoderLast() throws { try check(Last.self) }
  @Test func superOnTheSameEncoderBetween() throws { try check(Between.self) }
  @Test func superEncoder() throws { try check(OwnEncoder.self) }
  @Test func superEncoderForKey() throws { try check(OwnKey.self) }

  /// Synthesized subclasses do not encode their own properties: as with JSON, only the superclass's are kept.
  @Test func superclassKeyKeptWhereTheSubclassHasNone() throws {
    final class Child: Base {
      var hidden: String?
      enum Keys: String, CodingKey { case name, hidden }
      override init() { super.init() }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        hidden = try container.decodeIfPresent(String.self, forKey: .name)
        try super.init(from: decoder)
      }
      override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: Keys.self)
        // Of the same name as the superclass's, which was written: nil must not take it away.
        try container.encodeIfPresent(String?.none, forKey: .name)
        try container.encodeIfPresent(hidden, forKey: .hidden)
      }
    }
    let child = Child()
    child.name = "kept"
    #expect(try JSON.copy(Owner(child)).value.hidden == "kept")
    #expect(try copy(child).hidden == "kept")
    #expect(try copy(child).name == "kept")
  }

  /// A class that gained a superclass: its records have no value for `super`, which then is null, as in JSON.
  @Test func missingSuperIsNull() throws {
    struct Before: Codable { var x: Int }
    class Nothing: Codable {
      init() {}
      required init(from decoder: any Decoder) throws {}
      func encode(to encoder: any Encoder) throws {}
    }
    final class After: Nothing {
      var x: Int, isNull: Bool
      enum Keys: CodingKey { case x, other }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        x = try container.decode(Int.self, forKey: .x)
        isNull = try container.superDecoder(forKey: .other).singleValueContainer().decodeNil()
        try super.init(from: container.superDecoder())
      }
      override func encode(to encoder: any Encoder) throws {}
    }
    #expect(try JSON.decode(After.self, JSON.encode(Before(x: 5))).isNull)
    let after = try recode(Before(x: 5), as: After.self)
    #expect(after.x == 5 && after.isNull)
  }
}
