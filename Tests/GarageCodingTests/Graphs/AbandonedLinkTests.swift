import Testing

@testable import GarageCoding

private struct Person: Codable, Hashable, Identifiable {
  var id: Int
  var name: String
}

private struct Company: Codable, Hashable, Identifiable {
  var id: Int
  var branches: Int
}

private struct OfPerson: Codable {
  @Linked var owner: Person?
  @Linked var others: [Person]
  @Linked var known: Set<Person>
  @Linked var named: [String: Person]
  var age: Int
}

private struct OfCompany: Codable {
  @Linked var owner: Company?
  @Linked var others: [Company]
  @Linked var known: Set<Company>
  @Linked var named: [String: Company]
  var size: Int
}

/// Tried one after the other, until one fits.
private enum Owned: Codable {
  case byPerson(OfPerson)
  case byCompany(OfCompany)
  init(from decoder: any Decoder) throws {
    if let value = try? OfPerson(from: decoder) {
      self = .byPerson(value)
    } else {
      self = .byCompany(try OfCompany(from: decoder))
    }
  }
  func encode(to encoder: any Encoder) throws {
    switch self {
    case .byPerson(let value): try value.encode(to: encoder)
    case .byCompany(let value): try value.encode(to: encoder)
    }
  }
}

/// Links that an attempt has read that failed afterwards are nobody's: what is wrong with their objects is not told.
@Suite struct AbandonedLinkTests {
  private let companies = (0..<4).map { Company(id: $0, branches: $0) }
  private let people = (0..<4).map { Person(id: $0, name: "\($0)") }

  private func ofCompany() -> Owned {
    .byCompany(
      OfCompany(
        owner: Linked(wrappedValue: companies[0]), others: Linked(wrappedValue: companies),
        known: Linked(wrappedValue: Set(companies)), named: Linked(wrappedValue: ["a": companies[3]]), size: 7
      ))
  }

  private func ofPerson() -> Owned {
    .byPerson(
      OfPerson(
        owner: Linked(wrappedValue: people[0]), others: Linked(wrappedValue: people),
        known: Linked(wrappedValue: Set(people)), named: Linked(wrappedValue: ["a": people[3]]), age: 7))
  }

  private func check(_ values: [Owned], _ expected: [Owned], _ location: SourceLocation = #_sourceLocation) {
    #expect(values.count == expected.count, sourceLocation: location)
    for (value, expected) in zip(values, expected) {
      switch (value, expected) {
      case (.byCompany(let value), .byCompany):
        #expect(
          value.owner == companies[0] && value.others == companies && value.known == Set(companies)
            && value.named == ["a": companies[3]] && value.size == 7, sourceLocation: location)
      case (.byPerson(let value), .byPerson):
        #expect(
          value.owner == people[0] && value.others == people && value.known == Set(people)
            && value.named == ["a": people[3]] && value.age == 7, sourceLocation: location)
      default: Issue.record("another case", sourceLocation: location)
      }
    }
  }

  @Test func theNextAttemptIsRead() throws {
    let values = [ofPerson(), ofCompany(), ofCompany(), ofPerson()]
    check(try copy(values), values)
    check([try copy(ofCompany())], [ofCompany()])
  }

  /// The targets that only the attempt would have had are gone.
  @Test func missingObjectsAreNotMissed() throws {
    struct First: Codable {
      @Linked var list: [Person]
      var missing: Int
    }
    struct Second: Codable { var list: [Reference<Person>] }
    struct Holding: Codable, Identifiable {
      var id = 1
      var list: [Reference<Person>]
      var isSecond = false
      init(_ list: [Reference<Person>]) { self.list = list }
      enum Key: String, CodingKey { case id, list }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        id = try container.decode(Int.self, forKey: .id)
        list = []
        if (try? First(from: decoder)) == nil {
          isSecond = true
          list = try Second(from: decoder).list
        }
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode(list, forKey: .list)
      }
    }
    let found = try roundTrip(Holding([Reference(Person.self, identifier: 77)]))
    #expect(found.isSecond && found.list == [Reference(Person.self, identifier: 77)])
  }

  /// Some of the set's members stand inline, so that they are read one by one.
  @Test func setsOfBothFormsAreNotMissed() throws {
    struct Draft: Codable, Inlined {
      var id: Int
      var name: String
    }
    struct Drafts: Codable {
      var draft: Draft
      var company: Company
    }
    struct First: Codable {
      @Linked var known: Set<Person>
      var missing: Int
    }
    struct Either: Codable {
      var drafts: Drafts
      var isSecond = false
      init(_ drafts: Drafts) { self.drafts = drafts }
      enum Key: String, CodingKey { case known }
      init(from decoder: any Decoder) throws {
        isSecond = (try? First(from: decoder)) == nil
        var container = try decoder.container(keyedBy: Key.self).nestedUnkeyedContainer(forKey: .known)
        let draft = try container.decode(Draft.self)
        drafts = Drafts(draft: draft, company: try container.decode(Company.self))
      }
      func encode(to encoder: any Encoder) throws {
        var keyed = encoder.container(keyedBy: Key.self)
        var container = keyed.nestedUnkeyedContainer(forKey: .known)
        try container.encode(drafts.draft)
        try container.encode(drafts.company)
      }
    }
    let found = try copy(Either(Drafts(draft: Draft(id: 9, name: "Nine"), company: companies[1])))
    #expect(found.isSecond && found.drafts.draft.name == "Nine" && found.drafts.company == companies[1])
  }

  /// Who still has the property gets the error.
  @Test func whatIsKeptIsMissed() throws {
    struct Keeping: Codable {
      @Linked var owner: Person?
      @Linked var others: [Person]
    }
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([
      Owner(Keeping(owner: Linked(wrappedValue: people[0]), others: Linked(wrappedValue: people)))
    ])
    source.add(graph)
    let gone = try TypeDescription.identity(of: Person.self, id: 2)
    source.records[withUnsafeBytes(of: gone.tag.bigEndian) { Array($0) } + gone.identifier.keyBytes] = nil
    let session = GraphDecodingSession(source: source, types: try RegisteredTypes([]))
    #expect(throws: DecodingError.self) { try session.object(Owner<Keeping>.self, graph.roots[0]) }
  }
}
