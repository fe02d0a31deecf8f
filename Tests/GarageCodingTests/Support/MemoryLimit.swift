import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Lets this process have so many bytes more than it has, and no more. For processes of one test's own.
func limitMemory(toFurtherByteCount count: Int) throws {
  #if os(Linux)
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = try #require(text.split(separator: " ").first.flatMap { UInt($0) })
    let bytes = pages * UInt(sysconf(Int32(_SC_PAGESIZE))) + UInt(count)
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    #if canImport(Glibc)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
    #else
      try #require(setrlimit(RLIMIT_AS, &limit) == 0)
    #endif
  #endif
}
