#if os(Linux) || os(macOS) || os(FreeBSD)
  internal import GarageDriver
  internal import Synchronization

  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// A second process on a store, which carries out commands line by line.
  ///
  /// It is the executable of the options, running ``Conformance/runChild(_:)``. Both ends talk over a socket, which is the
  /// child's standard input and output.
  final class ChildProcess: Sendable {
    private let process: pid_t
    private let lines: LineChannel
    /// The status from `waitpid`, once the process has ended.
    private let status = Mutex<Int32?>(nil)

    /// Starts a child for the store at `place`. The child first opens the store, and then answers `ready`.
    init(_ options: ConformanceOptions, at place: ConformancePlace) throws {
      var sockets: [Int32] = [-1, -1]
      #if os(Linux)
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      #else
        let type = SOCK_STREAM
      #endif
      guard socketpair(AF_UNIX, type, 0, &sockets) == 0 else { throw SystemError(call: "socketpair") }
      defer { close(sockets[1]) }
      #if !os(Linux)
        for socket in sockets { _ = fcntl(socket, F_SETFD, FD_CLOEXEC) }
      #endif
      lines = LineChannel(input: sockets[0], output: sockets[0])
      let executable = options.childExecutable?.path ?? ""
      let arguments = [executable] + options.childArguments + [childMark, place.path, place.name]
      process = try spawn(arguments, input: sockets[1])
    }

    deinit { lines.close() }

    func send(_ line: String) throws { try lines.send(line) }

    /// The child's next line, or nil if it has ended.
    func receive() -> String? { lines.receive() }

    /// The child's next line, or else how it ended.
    func answer() -> String { receive() ?? "nothing: the child ended with \(ending)" }

    /// Sends a line, and returns the answer, or else how the child ended.
    @discardableResult
    func ask(_ line: String) -> String {
      // A child that has ended receives nothing, and the answer says so.
      try? send(line)
      return answer()
    }

    /// The child's exit status, or the signal that ended it, in words.
    var ending: String {
      status.withLock { status in
        // Its end of the socket closes a little before the system knows its status.
        for _ in 0..<500 where status == nil {
          var seen: Int32 = 0
          if waitpid(process, &seen, WNOHANG) == process { status = seen } else { pause(milliseconds: 10) }
        }
        return status.map(describe) ?? "its connection alone, and still runs"
      }
    }

    /// Kills the child at once, and waits until the system has cleaned up.
    func kill() {
      status.withLock { status in
        if status != nil { return }
        // Distinguished by its arguments only: this is the system's call.
        _ = sendSignal(process, SIGKILL)
        status = waitForEnd(of: process)
      }
    }
  }

  /// Separates the author's arguments from the suite's.
  let childMark = "--garage-conformance-child"

  private func sendSignal(_ process: pid_t, _ signal: Int32) -> Int32 { kill(process, signal) }

  /// Waits for a child and returns its status.
  private func waitForEnd(of process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) == -1 && errno == EINTR {}
    return status
  }

  /// A status of `waitpid` in words. (Swift does not have the macros for it.)
  private func describe(_ status: Int32) -> String {
    let signal = status & 0x7F
    if signal == 0 { return "exit status \(status >> 8 & 0xFF)" }
    return "signal \(signal) (\(strsignal(signal).map { String(cString: $0) } ?? "unknown"))"
  }

  private func spawn(_ arguments: [String], input: Int32) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, input, 1)
    let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    let cArguments = arguments.map { strdup($0) } + [nil]
    let cEnvironment = environment.map { strdup($0) } + [nil]
    defer { for string in cArguments + cEnvironment { free(string) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, arguments[0], &actions, nil, cArguments, cEnvironment)
    if code != 0 { throw SystemError(call: "posix_spawn of \(arguments[0])", code: code) }
    return process
  }

  /// Lines of text over a pair of file descriptors.
  final class LineChannel: Sendable {
    private let input: Int32
    private let output: Int32
    private let buffer = Mutex<[UInt8]>([])

    init(input: Int32, output: Int32) {
      self.input = input
      self.output = output
      #if canImport(Darwin)
        var yes: Int32 = 1
        setsockopt(output, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
      #endif
    }

    func close() { _ = closeDescriptor(input) }

    func send(_ line: String) throws {
      var rest = Array("\(line)\n".utf8)[...]
      while !rest.isEmpty {
        #if canImport(Darwin)
          let count = rest.withUnsafeBytes { Darwin.send(output, $0.baseAddress, $0.count, 0) }
        #else
          // The other side may have been killed: the write must then raise no signal.
          let count = rest.withUnsafeBytes {
            systemSend(output, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
        #endif
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { throw SystemError(call: "send") }
        rest = rest.dropFirst(count)
      }
    }

    func receive() -> String? {
      buffer.withLock { buffer in
        while true {
          if let end = buffer.firstIndex(of: 10) {
            let line = String(decoding: buffer[..<end], as: UTF8.self)
            buffer.removeSubrange(...end)
            return line
          }
          var block = [UInt8](repeating: 0, count: 4096)
          let count = read(input, &block, block.count)
          if count < 0 && errno == EINTR { continue }
          if count <= 0 { return nil }
          buffer += block[..<count]
        }
      }
    }
  }

  #if !canImport(Darwin)
    private func systemSend(_ socket: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int
    {
      send(socket, bytes, count, flags)
    }
  #endif

  private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

  // MARK: - Fork

  /// Forks this process, runs `body` in the child, and returns the byte that `body` returns.
  ///
  /// Only for code that has run in this process before: a lock that another thread holds during the fork stays held in the
  /// child. If the child hangs on such a lock, it is killed, and the fork is made again.
  func inForkedChild(_ body: () -> UInt8) throws -> UInt8 {
    typealias Fork = @convention(c) () -> pid_t
    #if canImport(Darwin)
      let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: -2), "fork")
    #else
      let symbol = dlsym(nil, "fork")
    #endif
    guard let symbol else { throw SystemError(call: "dlsym of fork") }
    // Swift hides fork(), because the child of a process with threads may do little. This one does little.
    let fork = unsafeBitCast(symbol, to: Fork.self)
    for _ in 0..<5 {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw SystemError(call: "pipe") }
      defer { _ = closeDescriptor(ends[0]) }
      let child = fork()
      if child == 0 {
        var answer = body()
        _ = write(ends[1], &answer, 1)
        _exit(0)
      }
      _ = closeDescriptor(ends[1])
      guard child > 0 else { throw SystemError(call: "fork") }
      var answer: UInt8 = 0
      var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
      let hasAnswered = poll(&waiting, 1, 10_000) == 1 && read(ends[0], &answer, 1) == 1
      _ = sendSignal(child, SIGKILL)
      let status = waitForEnd(of: child)
      if hasAnswered { return answer }
      // A child that was killed here hung; otherwise it ended by itself.
      if status & 0x7F != SIGKILL { throw ForkedChildEnded(ending: describe(status)) }
    }
    throw SystemError(call: "an answer from a forked child", code: ETIMEDOUT)
  }

  private struct ForkedChildEnded: Error, CustomStringConvertible {
    var ending: String
    var description: String { "the forked child ended with \(ending), without an answer" }
  }
#endif
