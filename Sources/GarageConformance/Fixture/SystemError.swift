#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A call to the operating system that failed.
struct SystemError: Error, CustomStringConvertible {
  var call: String
  var code: Int32 = errno

  var description: String { "\(call): \(String(cString: strerror(code)))" }
}
