import Foundation
import Synchronization
import Testing

@testable import GarageCoding

/// The memory of graphs that are gone is used again: no graph that is still there may notice.
@Suite(.serialized) struct SpareMemoryTests {
  private struct File: Codable, Identifiable, Equatable {
    var id: Int
    var contents: Data
    var lines: [String]

    /// One of the sizes at which memory is got, kept, given back or moved.
    init(id: Int, using generator: inout SeededGenerator) {
      self.id = id
      let sizes = [10, 1000, 16_000, 66_000, 140_000, 600_000]
      let (byte, count) = (
        UInt8.random(in: 0...255, using: &generator), sizes.randomElement(using: &generator)!
      )
      contents = Data(repeating: byte, count: count)
      lines = (0..<Int.random(in: 0...40, using: &generator)).map { "\(byte) \($0)" }
    }
  }

  @Test func graphsThatAreHeldStayAsTheyAre() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var generator = SeededGenerator(seed &+ UInt64(thread))
      let encoder = GraphEncoder(keyPrefix: 0, userInfo: [:], fixedTime: 1)
      var held: [(graph: EncodedGraph, bytes: Data)] = []
      do {
        for _ in 0..<40 {
          let files = (0..<Int.random(in: 1...8, using: &generator)).map { File(id: $0, using: &generator) }
          let graph = try encoder.encode(files)
          let alone = try files.flatMap { try encoder.encode([$0]).recordsByKey }
          let isRight = zip(graph.recordsByKey, alone).allSatisfy {
            $0.key == $1.key && $0.record == $1.record
          }
          if !isRight { failures.withLock { $0.append("thread \(thread): a graph is wrong") } }
          held.append((graph, graph.bytes.withUnsafeBytes { Data($0) }))
          if held.count > 4 { held.remove(at: Int.random(in: 0..<held.count, using: &generator)) }
          for (graph, bytes) in held where graph.bytes.withUnsafeBytes({ Data($0) }) != bytes {
            failures.withLock { $0.append("thread \(thread): a graph that is held changed") }
          }
        }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    #expect(failures.withLock { $0 } == [], "seed \(seed)")
    #expect(SpareMemory.byteCount <= SpareMemory.limit)
  }

  @Test func aLargePieceIsNotLeftToASmallGraph() throws {
    let large = try GraphEncoder().encode((0..<40).map { Blob(id: $0, contents: Data(count: 100_000)) })
    let small = try GraphEncoder().encode((0..<10).map { Blob(id: $0, contents: Data(count: 10_000)) })
    for graph in [large, small] {
      let content = graph.memory.content
      #expect(content.pieceByteCount >= content.byteCount)
      #expect(content.pieceByteCount < 5 * content.byteCount)
    }
  }

  @Test func whatIsSmallTakesNoLargePiece() throws {
    let large = try GraphEncoder().encode((0..<40).map { Blob(id: $0, contents: Data(count: 100_000)) })
    withExtendedLifetime(large) {}
    #expect(SpareMemory.take(100...Int.max)?.byteCount == nil)
    #expect(SpareMemory.take((SpareMemory.smallest - 1)...Int.max)?.byteCount == nil)
  }

  private struct Blob: Codable, Identifiable {
    var id: Int
    var contents: Data
  }
}
