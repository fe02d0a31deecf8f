import GarageConformance
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import InsecureSealer

/// A driver, or a driver inside others, that has to conform.
struct Stack: Sendable, CustomStringConvertible {
  var name: String
  var open: @Sendable (ConformancePlace) throws -> any StorageDriver
  /// Opens a store for reading only, where the driver can.
  var openReadOnly: (@Sendable (ConformancePlace) throws -> any StorageDriver)?

  var description: String { name }

  /// The drivers by themselves.
  static let drivers = [
    Stack(name: "Memory") { place in MemoryStorage(named: place.name) },
    Stack(name: "SQLite") { place in
      try SQLiteStorage(at: place.url)
    } readingOnly: { place in
      var options = SQLiteStorage.Options()
      options.isReadOnly = true
      return try SQLiteStorage(at: place.url, options: options)
    },
    Stack(name: "LMDB") { place in
      try LMDBStorage(at: place.url)
    } readingOnly: { place in
      try LMDBStorage(at: place.url, options: LMDBStorage.Options(isReadOnly: true))
    },
  ]

  /// Drivers that exist for the suite's sake: every branch of it has one that takes it.
  static let references = [
    Stack(name: "Reference") { place in
      try ReferenceStorage(path: place.path)
    } readingOnly: { place in
      try ReadOnlyStorage(path: place.path)
    },
    Stack(name: "ReferenceInMemory") { place in try ReferenceStorage(path: place.name, .inMemory) },
    Stack(name: "ReferenceExclusive") { place in try ReferenceStorage(path: place.path, .exclusive) },
    Stack(name: "ReferenceWaiting") { place in try ReferenceStorage(path: place.path, .waitingReaders) },
    Stack(name: "Optimistic") { place in OptimisticStorage(named: place.name) },
  ]

  /// Each driver inside the decorator that lets operations fail.
  static let decorated = (drivers + references.prefix(1)).map { driver in
    Stack(name: "Fault(\(driver.name))") { place in FaultyStorage(try driver.open(place)) }
  }

  /// Each driver sealed.
  static let sealed = drivers.map { driver in
    Stack(name: "Sealed(\(driver.name))") { place in
      try SealedStorage(try driver.open(place), sealer: InsecureTestSealer(key: 2026))
    }
  }

  static let all = drivers + references + decorated + sealed

  /// Drivers that break a rule.
  static let mutants = Mutation.allCases.map { mutation in
    Stack(name: "Mutant(\(mutation))") { place in
      let base: any StorageDriver =
        if mutation.hasSeveralWriters {
          OptimisticStorage(named: place.name, breaking: mutation)
        } else {
          try ReferenceStorage(path: place.path, breaking: mutation)
        }
      return MutantStorage(base, breaking: mutation)
    } readingOnly: { place in
      try ReadOnlyStorage(path: place.path, breaking: mutation)
    }
  }

  init(
    name: String, open: @escaping @Sendable (ConformancePlace) throws -> any StorageDriver,
    readingOnly openReadOnly: (@Sendable (ConformancePlace) throws -> any StorageDriver)? = nil
  ) {
    self.name = name
    self.open = open
    self.openReadOnly = openReadOnly
  }

  init?(named name: String) {
    guard let stack = (Self.all + Self.mutants).first(where: { $0.name == name }) else { return nil }
    self = stack
  }
}
