import Testing

@testable import GarageCoding

/// Fields whose keys are the same text in other bytes.
@Suite struct TwinFieldTests {
  @Test func fieldsOfBothKeys() {
    var fields = RecordFields()
    fields.add("\u{E9}", 1)
    fields.add("e\u{301}", 2)
    fields.add("a", 3)
    #expect(fields.count == 3)
    #expect(fields["\u{E9}"] == 1)
    #expect(fields["e\u{301}"] == 2)
    let values = fields.map { $0.value }
    #expect(values == [1, 2, 3])

    var other = RecordFields()
    other.add("e\u{301}", 2)
    other.add("a", 3)
    #expect(fields != other)
    other.add("\u{E9}", 1)
    #expect(fields == other)
    #expect(fields.hashValue == other.hashValue)

    var changed = fields
    changed["e\u{301}"] = 4
    #expect(changed.map { $0.value } == [1, 4, 3])
    changed["\u{E9}"] = nil
    #expect(changed.map { $0.value } == [4, 3])
    #expect(changed["\u{E9}"] == 4)
    #expect(!changed.hasTwins)
    changed = fields
    changed["e\u{301}"] = nil
    #expect(changed.map { $0.value } == [1, 3])
    changed = fields
    changed.rename("e\u{301}", to: "b")
    #expect(changed["b"] == 2 && changed["\u{E9}"] == 1 && changed.count == 3)
  }
}
