import Testing

@testable import GarageStorage

/// Indexes that cannot be: each is refused when its type is first met, with what to do instead, and stands in nobody's way.
@Suite struct IndexDeclarationTests {
  private static let open = Backend.allCases.filter { !$0.isSealed }

  private func expectInvalid<Root>(
    _ index: Index<Root>, _ words: String..., backend: Backend = .memory,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let garage = try Place(backend).garage()
    do {
      try garage.indexing.declare([index])
      Issue.record("it was taken", sourceLocation: sourceLocation)
    } catch GarageError.invalidIndex(_, _, let reason) {
      for word in words { #expect(reason.contains(word), "\(reason)", sourceLocation: sourceLocation) }
      // What would not help is not advised.
      #expect(!reason.contains("Index(\""), "\(reason)", sourceLocation: sourceLocation)
    }
  }

  /// A record does not have what the objects have that it refers to.
  @Test func whatIsBehindAReference() throws {
    try expectInvalid(Index(\Bookworm.book.pages, .unique), "book.pages", "retrieveReferrers", "Reference")
    try expectInvalid(Index(\Bookworm.book.id), "book.id", "retrieveReferrers", "Reference")
    try expectInvalid(Index(\Bookworm.next?.pages), "next.pages", "retrieveReferrers")
    try expectInvalid(Index(\Bookworm.id, \Bookworm.book.pages), "book.pages", "retrieveReferrers")
    try expectInvalid(Index("book.pages", \Bookworm.book.pages), "book.pages", "retrieveReferrers")
    try expectInvalid(Index(\Bookworm.book), "Reference", "retrieveReferrers")
    try expectInvalid(Index("book", \Bookworm.book), "Reference", "retrieveReferrers")
    let garage = try Place(.memory).garage()
    try garage.indexing.declare([Index(\Bookworm.wish), Index(\Bookworm.cover.width)])
  }

  /// The name of a field does not make an index useful that no query could use.
  @Test func namesDoNotHelp() throws {
    try expectInvalid(Index("email", \Member.normalized, .unique), "computed", "Store")
    try expectInvalid(Index(\Member.normalized, .unique), "computed", "Store")
    try expectInvalid(Index("grade", \Member.grade, .unique), "raw values")
    try expectInvalid(Index("importance", \Member.importance), "as it is")
    try expectInvalid(Index("counts", \Member.counts), "each")
    try expectInvalid(Index("counts.a", \Member.counts["a"]), "computed")
    try expectInvalid(Index(\Member.tags), "Index(each: \\.tags)")
    try expectInvalid(Index(\Member.email, \Member.normalized), "computed")
    let garage = try Place(.memory).garage()
    try garage.indexing.declare([
      Index(\Member.email), Index("any", \Member.email), Index(each: \Member.tags),
    ])
  }

  /// Options that exclude each other, or that the property has no use for.
  @Test func whatCannotBeMeant() throws {
    try expectInvalid(Index(\Member.email, .hashed, .readable), ".hashed", ".readable")
    try expectInvalid(Index(\Member.id, .caseInsensitive), ".caseInsensitive", "no text")
    try expectInvalid(Index(\Member.level, .caseInsensitive, .unique), "no text")
    try expectInvalid(Index(\Member.id, \Member.level, .caseInsensitive), "no text")
    try expectInvalid(Index(each: \Member.sizes, .caseInsensitive), "no text")
    try expectInvalid(Index(\Member.home!.street), "Index(\\.home?.street)")
    try expectInvalid(Index(\Member.counts), "dictionary", "array")
    let garage = try Place(.memory).garage()
    try garage.indexing.declare([
      Index(\Member.id, \Member.email, .caseInsensitive), Index(each: \Member.tags, .caseInsensitive),
      Index(\Member.email, .hashed, .unique), Index(\Member.state, .caseInsensitive),
      Index(\Member.home?.street),
    ])
  }

  @Test func whatIsNamedTwiceOrNotAtAll() throws {
    try expectInvalid(Index(\Member.email, \Member.email), "\"email\" twice")
    try expectInvalid(Index(\Member.id, \Member.email, \Member.id, .readable), "\"id\" twice")
    try expectInvalid(Index("both", \Member.email, \Member.email, .unique), "\"email\" twice")
    try expectInvalid(Index("", \Member.email), "name is empty")
    try expectInvalid(Index("", \Member.email, \Member.id), "name is empty")
    let garage = try Place(.memory).garage()
    try garage.indexing.declare([Index(\Member.email, \Member.id), Index(" ", \Member.id)])
  }

  /// Who drops one of two indexes of one name would drop both.
  @Test func namesAreOfOneIndex() throws {
    let garage = try Place(.memory).garage()
    for pair in [
      [Index("n", \Member.email), Index("n", \Member.id)], [Index("id", \Member.email), Index(\Member.id)],
    ] {
      let error = #expect(throws: GarageError.self) { try garage.indexing.declare(pair) }
      let text = "\(try #require(error))"
      #expect(
        text.contains("\"email\"") && text.contains("\"id\"") && text.contains("name of its own"), "\(text)")
    }
    try garage.indexing.declare([Index(\Member.email), Index(\Member.email, .caseInsensitive)])
  }

  /// As they are written in Swift.
  @Test func namesOfOptionalChains() throws {
    let garage = try Place(.memory).garage()
    try garage.make([Index(\Member.home?.street), Index(\Member.home?.number)])
    #expect(try garage.indexes(of: Member.self).map(\.name).sorted() == ["home?.number", "home?.street"])
    let plan = try garage.query(Member.self).where(\.home?.street == "x").sorted(by: \.home?.number).explain()
    #expect(
      !plan.description.contains("street?") && plan.description.contains("\\.home?.street == "), "\(plan)")
    try garage.dropIndex("home?.street", of: Member.self)
    #expect(try garage.indexes(of: Member.self).map(\.name) == ["home?.number"])
  }

  struct Careless: Codable, Identifiable, Indexed {
    static var indexes: [Index<Careless>] { [Index("email", \.normalized, .unique)] }
    var id: Int
    var email: String
    var normalized: String { email.lowercased() }
  }

  /// It is refused before the first object is parked, and not after the second.
  @Test(arguments: open)
  func itIsRefusedAtOnce(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    #expect(throws: GarageError.self) { try garage.park(Careless(id: 1, email: "bob@x")) }
    try garage.park(Member(id: 1))
    #expect(try garage.query(Member.self).where(\.email == "m").count() == 1)
  }

  struct Guarded: Codable, Identifiable {
    var id: Int
    var word: Codeword
    var age: Int
    var rank: Int
  }

  /// Takes one form alone.
  struct Codeword: Codable {
    var text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
      guard text.hasPrefix("xyzzy-") else {
        throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no word"))
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }

  struct Account: Codable, Identifiable {
    struct Balance: Codable { var minor: Int? }
    var id: Int
    var balance: Balance?
  }

  /// What `explain()` advises is Swift, and taken by the storage.
  @Test(arguments: Backend.allCases)
  func whatIsAdvisedIsTaken(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<4).map { Account(id: $0, balance: Account.Balance(minor: $0)) })
    func expectAdvice(
      _ query: Query<Account>, _ equal: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let option = backend.isSealed ? equal ? ", .hashed" : ", .readable" : ""
      let text = try query.explain().description
      #expect(
        text.hasSuffix("with Index(\\.balance?.minor\(option))"), "\(text)", sourceLocation: sourceLocation)
    }
    let all = garage.query(Account.self)
    try expectAdvice(all.where(\.balance?.minor == 3), true)
    try expectAdvice(all.where(\.balance?.minor > 1), false)
    try expectAdvice(all.sorted(by: \.balance?.minor), false)
    let index = Index(\Account.balance?.minor, backend.isSealed ? .readable : .unique)
    try garage.make([index])
    #expect(try all.where(\.balance?.minor > 1).explain().indexes.count == 1)
  }

  struct Misnamed: Codable, Identifiable {
    var id: Int
    var word: Codeword
    var age: Int
    var rank: Int
  }

  /// Where no object can be made up, a name says which field it is.
  @Test func aNameHelpsWhereNothingIsFoundOut() throws {
    let garage = try Place(.memory).garage()
    let error = #expect(throws: GarageError.self) { try garage.indexing.declare([Index(\Guarded.age)]) }
    #expect("\(try #require(error))".contains("Index(\"age\", \\.age)"))
    try garage.indexing.declare([Index("age", \Guarded.age)])
    try garage.parkAll((0..<40).map { Guarded(id: $0, word: Codeword("xyzzy-\($0)"), age: $0, rank: -$0) })
    let query = garage.query(Guarded.self).where(\.age == 7)
    #expect(try query.values(\.id) == [7])
    #expect(try query.explain().indexes == ["age"])
  }

  /// The wrong one prevents no query, and is told of.
  @Test func aWrongNamePreventsNothing() throws {
    let garage = try Place(.memory).garage()
    try garage.indexing.declare([Index("rank", \Misnamed.age)])
    try garage.parkAll((0..<40).map { Misnamed(id: $0, word: Codeword("xyzzy-\($0)"), age: $0, rank: -$0) })
    #expect(try garage.query(Misnamed.self).where(\.age == 7).values(\.id) == [7])
    #expect(try garage.query(Misnamed.self).where(\.rank == -7).values(\.id) == [7])
    #expect(try garage.query(Fellow.self).where(\.age == 7).isEmpty())
    #expect(throws: GarageError.self) { try garage.buildIndexes() }
  }

  struct Dented: Codable, Identifiable {
    var id: Int
    var word: Codeword
    var age: Int
  }

  /// An object that cannot be decoded keeps no index from being made.
  @Test func anUnreadableObjectPreventsNothing() throws {
    let garage = try Place(.memory).garage()
    try garage.indexing.declare([Index("age", \Dented.age)])
    try garage.park(Dented(id: 0, word: Codeword("none"), age: 0))
    try garage.parkAll((1..<40).map { Dented(id: $0, word: Codeword("xyzzy-\($0)"), age: $0) })
    #expect(throws: (any Error).self) { try garage.retrieve(Dented.self, identifier: 0) }
    try garage.buildIndexes()
    #expect(try garage.indexes(of: Dented.self).map(\.state) == [.ready])
    #expect(try garage.indexes(of: Dented.self).map(\.entries) == [40])
  }
}

private struct Tome: Codable, Identifiable {
  var id: Int
  var pages: Int
}

private struct Bookworm: Codable, Identifiable {
  struct Cover: Codable { var width: Int }
  var id: Int
  var book: Tome
  var next: Tome?
  var wish: Reference<Tome>?
  var cover: Cover
}

@propertyWrapper private struct Clamped: Codable {
  private var value: Int
  var wrappedValue: Int {
    get { value }
    set { value = min(10, max(0, newValue)) }
  }
  init(wrappedValue: Int) { value = min(10, max(0, wrappedValue)) }
  init(from decoder: any Decoder) throws {
    self.init(wrappedValue: try decoder.singleValueContainer().decode(Int.self))
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

private struct Member: Codable, Identifiable {
  enum Grade: Codable { case low, high }
  enum Level: Int, Codable { case low, high }
  enum State: String, Codable { case new, old }
  struct Home: Codable {
    var street: String
    var number: Int?
  }
  var id: Int
  var email = "m"
  var grade = Grade.low
  var level: Level? = .low
  var state = State.new
  var home: Home?
  var sizes: Set<Double>? = []
  @Clamped var importance = 3
  var counts: [String: Int] = [:]
  var tags: [String] = []
  var normalized: String { email.lowercased() }
}
