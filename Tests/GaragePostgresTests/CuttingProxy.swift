import Foundation
import GarageDriver
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Stands between clients and the server, and cuts connections where a write is to be committed, or where a client asks what
/// became of one.
final class CuttingProxy: Sendable {
  /// What becomes of the bytes that hold a commit, and of the connection then.
  enum Cut: CaseIterable, Sendable {
    /// They arrive, as all others.
    case none
    /// The server never sees them.
    case before
    /// The server sees the first half of them.
    case half
    /// The server gets them all, and has nobody to answer to.
    case behind
    /// The server answers, and the answer is lost.
    case answer
  }

  let port: UInt16
  private let listener: Int32
  private let server: UInt16
  private let plan: Mutex<@Sendable () -> Cut>
  private let questionPlan: @Sendable () -> Cut
  private let cuts = Mutex<[Cut: Int]>([:])
  private let questionCuts = Mutex<[Cut: Int]>([:])
  /// How long each message, or as much of it as comes at once, is kept back: in both directions.
  private let delay: Duration

  /// How often each was done to a commit.
  var counts: [Cut: Int] { cuts.withLock(\.self) }
  /// How often each was done to a question.
  var questionCounts: [Cut: Int] { questionCuts.withLock(\.self) }

  /// - Parameters:
  ///   - plan: says what to do with the next commit of a write.
  ///   - questions: says what to do with the next question what became of a commit.
  init(
    before server: UInt16, delay: Duration = .zero, _ plan: @escaping @Sendable () -> Cut = { .none },
    questions: @escaping @Sendable () -> Cut = { .none }
  ) throws {
    self.server = server
    self.delay = delay
    questionPlan = questions
    self.plan = Mutex(plan)
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
    }
    guard code == 0, listen(listener, 64) == 0 else { throw POSIXError(.EADDRINUSE) }
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
    }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in acceptAll() }
  }

  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    _ = Glibc.close(listener)
  }

  func setPlan(_ plan: @escaping @Sendable () -> Cut) { self.plan.withLock { $0 = plan } }

  private func acceptAll() {
    while true {
      let client = accept(listener, nil, nil)
      if client < 0 { return }
      let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = loopback(server)
      let code = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      let link = Link(client: client, server: upstream, delay: delay)
      if code != 0 {
        link.cut()
        link.cut()
        continue
      }
      Thread.detachNewThread { [self] in pumpUp(link) }
      Thread.detachNewThread { link.pumpDown() }
    }
  }

  /// What to do with these bytes.
  private func cut(_ bytes: Data) -> Cut {
    // Of a Bind message of the statement that notes a token, which goes with the commit.
    if bytes.range(of: Data("\0noteToken\0".utf8)) != nil {
      let cut = plan.withLock { $0() }
      cuts.withLock { $0[cut, default: 0] += cut == .none ? 0 : 1 }
      return cut
    }
    if bytes.range(of: Data("\0claimToken\0".utf8)) != nil {
      let cut = questionPlan()
      questionCuts.withLock { $0[cut, default: 0] += cut == .none ? 0 : 1 }
      return cut
    }
    return .none
  }

  private func pumpUp(_ link: Link) {
    defer { link.cut() }
    while let bytes = link.receive(from: link.client) {
      switch cut(bytes) {
      case .none: if !link.send(bytes, to: link.server) { return }
      case .before: return
      case .half:
        _ = link.send(bytes.prefix(bytes.count / 2), to: link.server)
        return
      case .behind:
        _ = link.send(bytes, to: link.server)
        return
      case .answer:
        link.dropsAnswers.store(true, ordering: .sequentiallyConsistent)
        if !link.send(bytes, to: link.server) { return }
      }
    }
  }

  /// One connection of a client's, and the one to the server that belongs to it.
  private final class Link: Sendable {
    let client: Int32
    let server: Int32
    let dropsAnswers = Atomic<Bool>(false)
    /// How many of the two pumps have ended.
    private let endCount = Atomic<Int>(0)

    private let delay: UInt32

    init(client: Int32, server: Int32, delay: Duration) {
      self.client = client
      self.server = server
      self.delay = UInt32(delay / .microseconds(1))
    }

    func pumpDown() {
      defer { cut() }
      while let bytes = receive(from: server) {
        if dropsAnswers.load(ordering: .sequentiallyConsistent) || !send(bytes, to: client) { return }
      }
    }

    func receive(from socket: Int32) -> Data? {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = recv(socket, &bytes, bytes.count, 0)
      if delay > 0 { usleep(delay) }
      return count > 0 ? Data(bytes[..<count]) : nil
    }

    func send(_ bytes: Data, to socket: Int32) -> Bool {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes {
          Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count <= 0 { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }

    /// Ends both connections; the second call gives their numbers back.
    func cut() {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
      if endCount.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == 2 {
        _ = Glibc.close(client)
        _ = Glibc.close(server)
      }
    }
  }
}

private func loopback(_ port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}
