import Foundation
import GarageDriver
import GarageLMDB
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Where a garage finds no more room, or has no right: one park is lost, and nothing else.
@Suite struct OutOfRoomTests {
  /// An object of about a kilobyte.
  private struct Parcel: Codable, Identifiable, Equatable {
    var id: Int
    var content: String
    init(_ id: Int) {
      self.id = id
      content = String(repeating: "\(id) ", count: 1000 / "\(id) ".count)
    }
  }

  private static func open(_ backend: Backend, _ store: URL, mebibytes: Int?) throws -> any StorageDriver {
    if backend == .sqlite {
      var options = SQLiteStorage.Options()
      options.maximumPageCount = mebibytes.map { $0 * 256 }
      return try SQLiteStorage(at: store, options: options)
    }
    return try LMDBStorage(at: store, options: LMDBStorage.Options(mapByteCount: (mebibytes ?? 256) << 20))
  }

  /// The kind of the error that the driver throws, nil where nothing is thrown.
  private static func kind(_ body: () throws -> Void) throws -> StorageError.Kind? {
    do {
      try body()
      return nil
    } catch GarageError.storage(let error) {
      #expect(error.message.count > 10)
      return error.kind
    } catch let error as StorageError {
      return error.kind
    }
  }

  /// Parks until there is no more room, and checks what is left then.
  ///
  /// - Returns: how many parcels are in the store.
  private static func fill(_ garage: Garage, autosaves: Bool, kinds: Set<StorageError.Kind>) throws -> Int {
    try garage.park(Counter(id: 1, value: 1))
    garage.isAutosaveEnabled = autosaves
    var (count, failure) = (0, StorageError.Kind?.none)
    while failure == nil, count < 100_000 {
      failure = try kind {
        try garage.parkAll((count..<count + 100).map { Parcel($0) })
        try garage.save()
      }
      if failure == nil { count += 100 }
    }
    #expect(kinds.contains(try #require(failure)))
    #expect(garage.hasUnsavedChanges == !autosaves)
    garage.discardUnsavedChanges()
    // One graph that is larger than all there is.
    failure = try kind {
      try garage.parkAll((200_000..<204_000).map { Parcel($0) })
      try garage.save()
    }
    #expect(kinds.contains(try #require(failure)))
    garage.discardUnsavedChanges()
    try check(garage, count)
    return count
  }

  private static func check(_ garage: Garage, _ count: Int) throws {
    #expect(try garage.retrieveAll(Parcel.self) == (0..<count).map { Parcel($0) })
    #expect(try garage.retrieve(Counter.self, identifier: 1)?.value == 1)
  }

  @Test(arguments: [Backend.sqlite, .lmdb], [true, false])
  func aFullStoreLosesOneParkOnly(_ backend: Backend, autosaves: Bool) throws {
    let place = try Place(backend)
    let small = try Garage(OutOfRoomTests.open(backend, place.storePath, mebibytes: 2))
    let count = try OutOfRoomTests.fill(small, autosaves: autosaves, kinds: [.storageFull])
    #expect(count > 0)
    try small.close()
    // It opens as it was, and with more room it takes what it did not.
    let again = try Garage(OutOfRoomTests.open(backend, place.storePath, mebibytes: 2))
    try OutOfRoomTests.check(again, count)
    try again.close()
    let roomy = try Garage(OutOfRoomTests.open(backend, place.storePath, mebibytes: nil))
    try roomy.parkAll((count..<count + 5000).map { Parcel($0) })
    try OutOfRoomTests.check(roomy, count + 5000)
    try roomy.close()
  }

  @Test(
    .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"),
    arguments: [Backend.sqlite, .lmdb], [true, false])
  func aFullDiskLosesOneParkOnly(_ backend: Backend, autosaves: Bool) throws {
    let disk = try SmallDisk(mebibytes: 6)
    defer { disk.remove() }
    let ballast = disk.folder.appending(path: "ballast")
    try Data(count: 3 << 20).write(to: ballast)
    let store = disk.folder.appending(path: "store")
    let garage = try Garage(OutOfRoomTests.open(backend, store, mebibytes: nil))
    let count = try OutOfRoomTests.fill(garage, autosaves: autosaves, kinds: [.storageFull])
    #expect(count > 0)
    // What could not be saved can be once there is room.
    garage.isAutosaveEnabled = false
    try garage.parkAll((count..<count + 100).map { Parcel($0) })
    #expect(try OutOfRoomTests.kind { try garage.save() } == .storageFull)
    #expect(garage.hasUnsavedChanges)
    try OutOfRoomTests.check(garage, count + 100)
    try FileManager.default.removeItem(at: ballast)
    try garage.save()
    try garage.close()
    let again = try Garage(OutOfRoomTests.open(backend, store, mebibytes: nil))
    try OutOfRoomTests.check(again, count + 100)
    try again.close()
  }

  /// What is parked again and again takes no more room than once, whatever takes room meanwhile, and whatever was
  /// parked can be deleted.
  @Test(
    .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"),
    arguments: [Backend.sqlite, .lmdb], [true, false])
  func parkingTheSameFindsRoomForEver(_ backend: Backend, isSealed: Bool) throws {
    let disk = try SmallDisk(mebibytes: 2)
    defer { disk.remove() }
    let storage = try OutOfRoomTests.open(backend, disk.folder.appending(path: "store"), mebibytes: nil)
    let garage = try Garage(
      isSealed ? SealedStorage(storage, sealer: InsecureTestSealer(key: 5)) : storage)
    for round in 0..<200 { try garage.parkAll((0..<10).map { Counter(id: $0, value: round) }) }
    for round in 0..<2000 { try garage.park(Counter(id: round % 10, value: round)) }
    // Others take what is left, and the log stays as large as it is.
    try Data(count: disk.freeByteCount * 7 / 8).write(to: disk.folder.appending(path: "ballast"))
    for round in 0..<2000 { try garage.park(Counter(id: round % 10, value: round)) }
    try garage.write { writer in
      for id in 0..<10 { try writer.park(Counter(id: id, value: -id)) }
    }
    #expect(try garage.retrieveAll(Counter.self) == (0..<10).map { Counter(id: $0, value: -$0) })
    try garage.deleteAll(Counter.self)
    try garage.deleteAllObjects()
    #expect(try garage.count(Counter.self) == 0)
    try garage.close()
  }

  /// A verb finds the room that the log had taken by itself: it is run again.
  @Test(
    .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"), arguments: [true, false])
  func aParkTakesTheRoomOfTheLog(autosaves: Bool) throws {
    let disk = try SmallDisk(mebibytes: 8)
    defer { disk.remove() }
    let store = disk.folder.appending(path: "store")
    var garage = try Garage(OutOfRoomTests.open(.sqlite, store, mebibytes: nil))
    func large(_ text: Character) -> Parcel {
      var parcel = Parcel(1)
      parcel.content = String(repeating: text, count: 930 << 10)
      return parcel
    }
    func small(_ count: Int = 20 << 10) -> Parcel {
      var parcel = Parcel(2)
      parcel.content = String(repeating: "s", count: count)
      return parcel
    }
    try garage.park(large("a"))
    try garage.close()
    garage = try Garage(OutOfRoomTests.open(.sqlite, store, mebibytes: nil))
    for count in [40 << 10, 1, 20 << 10, 20 << 10] { try garage.park(small(count)) }
    try Data(count: disk.freeByteCount - (920 << 10)).write(to: disk.folder.appending(path: "ballast"))
    garage.isAutosaveEnabled = autosaves
    try garage.park(large("b"))
    try garage.save()
    #expect(try garage.retrieveAll(Parcel.self) == [large("b"), small()])
    try garage.close()
  }

  /// Also where nothing may be mounted: the system lets no file of a process grow beyond a limit.
  @Test(arguments: [Backend.sqlite, .lmdb])
  func aLimitOfTheFileSizeLosesOneParkOnly(_ backend: Backend) async throws {
    let place = try Place(backend)
    await #expect(processExitsWith: .success) {
      [path = place.storePath.path as String, name = backend.rawValue as String] in
      let (backend, store) = (Backend(rawValue: name)!, URL(filePath: path))
      let garage = try Garage(OutOfRoomTests.open(backend, store, mebibytes: nil))
      try OutOfRoomTests.limitFileSize(to: 2 << 20)
      let count = try OutOfRoomTests.fill(garage, autosaves: true, kinds: [.storageFull, .io])
      #expect(count > 0)
      try garage.close()
    }
    let garage = try Garage(OutOfRoomTests.open(backend, place.storePath, mebibytes: nil))
    let count = try await garage.count(Parcel.self)
    #expect(count > 0)
    try OutOfRoomTests.check(garage, count)
    try await garage.parkAll((count..<count + 5000).map { Parcel($0) })
    try OutOfRoomTests.check(garage, count + 5000)
    try await garage.close()
  }

  /// It is the copy that finds no room, and not the store.
  @Test(arguments: [Backend.sqlite, .lmdb], [false, true])
  func aBackupWithoutRoomNamesItsOwnPlace(_ backend: Backend, compacting: Bool) async throws {
    let place = try Place(backend)
    await #expect(processExitsWith: .success) {
      [
        path = place.storePath.path as String, name = backend.rawValue as String,
        compacting = compacting as Bool
      ] in
      let (backend, store) = (Backend(rawValue: name)!, URL(filePath: path))
      let made = try Garage(OutOfRoomTests.open(backend, store, mebibytes: nil))
      try made.parkAll((0..<4000).map { Parcel($0) })
      try made.close()
      let garage = try Garage(OutOfRoomTests.open(backend, store, mebibytes: nil))
      try OutOfRoomTests.limitFileSize(to: 1 << 20)
      let copy = URL(filePath: path + " copy")
      var failure: StorageError?
      do { try garage.backup(to: copy, compacting: compacting) } catch GarageError.storage(let error) {
        failure = error
      }
      #expect(failure?.kind == .storageFull)
      #expect(failure?.message.contains(copy.path) == true, "\(String(describing: failure))")
      #expect(!FileManager.default.fileExists(atPath: copy.path + ".partial"))
      try garage.close()
    }
  }

  @Test func aLimitOfTheFileSizeIsNoLimitOfTheLog() async throws {
    let place = try Place(.sqlite)
    await #expect(processExitsWith: .success) { [path = place.storePath.path as String] in
      let garage = try Garage(OutOfRoomTests.open(.sqlite, URL(filePath: path), mebibytes: nil))
      try OutOfRoomTests.limitFileSize(to: 1 << 20)
      for round in 0..<2000 { try garage.park(Counter(id: round % 10, value: round)) }
      try garage.deleteAllObjects()
      try garage.close()
    }
    #expect(try await place.garage().count(Counter.self) == 0)
  }

  private static func limitFileSize(to byteCount: UInt) throws {
    signal(SIGXFSZ, SIG_IGN)
    #if canImport(Glibc)
      var limit = rlimit(rlim_cur: byteCount, rlim_max: byteCount)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
    #else
      var limit = rlimit(rlim_cur: rlim_t(byteCount), rlim_max: rlim_t(byteCount))
      try #require(setrlimit(RLIMIT_FSIZE, &limit) == 0)
    #endif
  }

  /// In a process that gives up the rights of the superuser, where it has them.
  @Test(arguments: [Backend.sqlite, .lmdb], [false, true])
  func aMissingPermissionIsSaid(_ backend: Backend, readsOnly: Bool) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try await garage.park(Counter(id: 1, value: 3))
    try await garage.close()
    let file = backend == .sqlite ? place.storePath : place.storePath.appending(path: "data.mdb")
    func set(_ mode: Int) throws {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }
    try set(readsOnly ? 0o444 : 0)
    await #expect(processExitsWith: .success) {
      [path = place.storePath.path as String, name = backend.rawValue as String] in
      if geteuid() == 0 { try #require(setuid(65534) == 0) }
      let (backend, store) = (Backend(rawValue: name)!, URL(filePath: path))
      #expect(
        try OutOfRoomTests.kind { _ = try Garage(OutOfRoomTests.open(backend, store, mebibytes: nil)) }
          == .permissionDenied)
    }
    try set(0o600)
    #expect(try await place.garage().retrieve(Counter.self, identifier: 1)?.value == 3)
  }
}

/// A file system of a few megabytes in memory.
private struct SmallDisk {
  let folder: URL

  static let isPossible: Bool = {
    guard geteuid() == 0, let disk = try? SmallDisk(mebibytes: 1) else { return false }
    disk.remove()
    return true
  }()

  init(mebibytes: Int) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "garage-disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
      try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(mebibytes)m", "tmpfs", folder.path])
    } catch {
      try? FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  var freeByteCount: Int {
    var status = statvfs()
    return statvfs(folder.path, &status) == 0 ? Int(status.f_bavail) * Int(status.f_frsize) : 0
  }

  func remove() {
    try? Self.run("umount", [folder.path])
    try? FileManager.default.removeItem(at: folder)
  }

  private static func run(_ name: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw POSIXError(.EPERM) }
  }
}
