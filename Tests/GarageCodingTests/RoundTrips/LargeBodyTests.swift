import Foundation
import Testing

@testable import GarageCoding

/// Large bodies are written where their records stand. What is read back must not tell.
@Suite struct LargeBodyTests {
  private struct File: Codable, Identifiable, Equatable {
    var id: Int
    var name: String
    var contents: Data
    var lines: [String] = []
    var others: [Reference<File>] = []
    var table: [String: Data] = [:]
  }

  private struct Folder: Codable, Identifiable, Equatable {
    var id: String
    var files: [File]
  }

  private struct Refusal: Error {}

  private func data(_ count: Int, _ number: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) })
  }

  @Test(arguments: [1000, 65_000, 65_536, 66_000, 131_072, 1_000_000, 5_000_000])
  func everyLengthComesBack(_ count: Int) throws {
    let file = File(id: 1, name: "one", contents: data(count, 1))
    #expect(try roundTrip(file) == file)
    let lines = File(
      id: 2, name: "grows bit by bit", contents: Data(),
      lines: (0..<(count / 50)).map { "line \($0) of many, each short" })
    #expect(try roundTrip(lines) == lines)
    let table = File(
      id: 3, name: "sorted by key", contents: data(count, 4),
      table: ["c": data(count, 1), "a": data(10, 2), "b": data(count / 2, 3)])
    #expect(try roundTrip(table) == table)
  }

  @Test func recordsOfOneGraphAreThoseOfEachAlone() throws {
    let sizes = [100, 200_000, 10, 70_000, 66_000, 0, 3_000_000, 50_000]
    let files = sizes.enumerated().map { File(id: $0, name: "file \($0)", contents: data($1, $0)) }
    let encoder = GraphEncoder(keyPrefix: 0, userInfo: [:], fixedTime: 1)
    var alone: [[UInt8]: [UInt8]] = [:]
    for file in files {
      for (key, record) in try encoder.encode([file]).recordsByKey { alone[key] = record }
      for (key, record) in try encoder.encode(root: file).recordsByKey { #expect(alone[key] == record) }
    }
    let together = try encoder.encode(files).recordsByKey
    #expect(together.count == files.count)
    for (key, record) in together { #expect(alone[key] == record) }
    let folder = Folder(id: "all", files: files)
    for (key, record) in try encoder.encode([folder]).recordsByKey.dropFirst() {
      #expect(alone[key] == record)
    }
    #expect(try roundTrip(folder) == folder)
  }

  @Test func tablesOfAnyLengthStandBeforeIt() throws {
    for count in [0, 1, 20, 80, 100, 1000, 5000] {
      let file = File(
        id: 1, name: "refers to \(count)", contents: data(300_000, count),
        others: (0..<count).map { Reference(File.self, identifier: $0) })
      #expect(try roundTrip(file) == file, "\(count) references")
    }
    let long = Folder(id: String(repeating: "long ", count: 1000), files: [])
    #expect(try roundTrip(long) == long)
  }

  @Test func whatThrewLeavesNothing() throws {
    struct Failing: Encodable, Identifiable {
      var id = 1
      var part = Part()
    }
    struct Part: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(Data(count: 400_000))
        throw Refusal()
      }
    }
    struct Swallowing: Codable, Identifiable {
      var id = 7
      var contents: Data
      enum Key: String, CodingKey { case id, contents, gone, nested }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try? container.encode(Part(), forKey: .gone)
        try container.encode(id, forKey: .id)
        var nested = container.nestedUnkeyedContainer(forKey: .nested)
        try container.encode(contents, forKey: .contents)
        try nested.encode(Data(count: 90_000))
      }
      init(contents: Data) { self.contents = contents }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        contents = try container.decode(Data.self, forKey: .contents)
      }
    }
    let file = File(id: 1, name: "after", contents: data(100_000, 3))
    for _ in 0..<3 {
      #expect(throws: Refusal.self) { try GraphEncoder().encode([Failing()]) }
      #expect(try roundTrip(file) == file)
      let roots: [any Encodable] = [file, Failing()]
      #expect(throws: Refusal.self) { try GraphEncoder().encode(roots) }
      #expect(try roundTrip(file) == file)
      #expect(try roundTrip(Swallowing(contents: data(200_000, 1))).contents == data(200_000, 1))
    }
  }
}
