import Foundation

/// Runs `body` with the rights of an ordinary user on files. Permissions do not bind root: on Linux the
/// calling thread, and only that, gives them up meanwhile.
func asOrdinaryUser(_ body: () throws -> Void) throws {
  #if os(Linux)
    if geteuid() == 0 {
      _ = setFileSystemUser(65534)
      defer { _ = setFileSystemUser(0) }
      return try body()
    }
  #endif
  if geteuid() != 0 { try body() }
}

#if os(Linux)
  // In <sys/fsuid.h>, which the Glibc module leaves out.
  @_silgen_name("setfsuid") private func setFileSystemUser(_ user: UInt32) -> Int32
#endif
