internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A thread with a stack of 16 MiB. It runs one closure, and keeps the error that the closure throws.
final class Worker: Sendable {
  private let result = Mutex<(any Error)?>(nil)
  private let ended = DispatchSemaphore(value: 0)
  private let trace = Mutex(Trace())

  init(_ body: @escaping @Sendable () throws -> Void) {
    let start = Unmanaged.passRetained(
      Start { [self] in
        pthread_setspecific(currentWorker, Unmanaged.passUnretained(self).toOpaque())
        do { try body() } catch { result.withLock { $0 = error } }
        pthread_setspecific(currentWorker, nil)
        ended.signal()
      })
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 16 << 20)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(&thread, &attributes, { runStart($0) }, start.toOpaque())
    #else
      var thread = pthread_t()
      let code = pthread_create(&thread, &attributes, { runStart($0) }, start.toOpaque())
    #endif
    if code != 0 {
      start.release()
      result.withLock { $0 = SystemError(call: "pthread_create", code: code) }
      ended.signal()
    }
  }

  /// Whether the closure ended within so many seconds.
  func wait(seconds: Double) -> Bool {
    guard ended.wait(timeout: .now() + seconds) == .success else { return false }
    ended.signal()
    return true
  }

  /// Waits for the end, and throws the error of the closure.
  func join() throws {
    ended.wait()
    ended.signal()
    guard let error = result.withLock(\.self) else { return }
    if let location = origin(of: error) { Worker.current?.note(error, location) }
    throw error
  }

  // MARK: The origin of errors

  /// The worker of the calling thread, if it has one.
  static var current: Worker? {
    pthread_getspecific(currentWorker).map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Notes that the thread has come to this line of a check.
  func reach(_ file: StaticString, _ line: UInt) {
    trace.withLock { $0 = Trace(file: file, line: line) }
  }

  /// Notes the line that `error` came from. If the error then passes through outer lines, these change nothing.
  func note(_ error: any Error, _ location: String) {
    let text = "\(error)"
    trace.withLock { trace in
      if trace.error != text { (trace.error, trace.origin) = (text, location) }
    }
  }

  /// The line that `error` came from. If that is not known, or there is no error, it is the last line that was reached.
  func origin(of error: (any Error)?) -> String? {
    let text = error.map { "\($0)" }
    return trace.withLock { trace in
      if let origin = trace.origin, trace.error == text { return origin }
      return trace.file.map { "\($0):\(trace.line)" }
    }
  }
}

/// How far a thread has come in its check.
private struct Trace: Sendable {
  /// The last line that was reached: a call of the driver, or an expectation that was met.
  var file: StaticString?
  var line: UInt = 0
  /// The error that the driver threw after that line, in words, and the line of the call.
  var error: String?
  var origin: String?
}

/// The worker that each thread belongs to, unretained, because the worker's closure holds it.
private let currentWorker = {
  var key = pthread_key_t()
  pthread_key_create(&key, nil)
  return key
}()

private final class Start: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runStart(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body()
  return nil
}

/// Runs `body` on `count` threads at a time, waits for all of them, and throws the first error in the order of their numbers.
func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let workers = (0..<count).map { number in Worker { try body(number) } }
  var firstError: (any Error)?
  for worker in workers {
    do { try worker.join() } catch { firstError = firstError ?? error }
  }
  if let firstError { throw firstError }
}

/// Runs a call at this line of a check. An unexpected error that it throws names the line.
func located<R>(_ file: StaticString, _ line: UInt, _ body: () throws -> R) throws -> R {
  let worker = Worker.current
  worker?.reach(file, line)
  do {
    return try body()
  } catch {
    worker?.note(error, "\(file):\(line)")
    throw error
  }
}
