import CRawStores
import Foundation
import GarageDriver
import GarageStorage

/// What one store can be asked: to put, to get, whether it has, how many it has; in this order.
struct LargeStore {
  var operations: [Operation]
  var close: () throws -> Void

  private init(
    _ who: String, _ workload: LargeWorkload, put: @escaping (Range<Int>) throws -> Void,
    get: @escaping (Int) throws -> Bool, isEqual: @escaping (Int) throws -> Bool,
    contains: ((Int) throws -> Bool)? = nil, count: (() throws -> Int)? = nil,
    close: @escaping () throws -> Void
  ) {
    self.close = close
    let size = workload.size
    let all = workload.order.count
    func each(_ name: String, _ ask: @escaping (Int) throws -> Bool) -> Operation {
      var good = 0
      let run: (Range<Int>) throws -> Void = { range in
        for index in range { good += try ask(Int(workload.order[index])) ? 1 : 0 }
      }
      return Operation(
        name: name, who: who, count: all, prepare: { good = 0 }, run: { try run(0..<all) }, runPart: run,
        verify: { try WrongResult.unless(good == all, "\(good) of \(all) values are as expected") })
    }
    operations = [
      Operation(
        name: size.putName, who: who, count: all, run: { try put(0..<all) }, runPart: put,
        verify: {
          for index in 0..<all { try WrongResult.unless(isEqual(index), "value \(index) is another") }
        }),
      each(size.getName, get),
    ]
    if let contains { operations.append(each(size.containsName, contains)) }
    if let count {
      var found = 0
      let run = { found = try count() }
      operations.append(
        Operation(
          name: size.countName, who: who, count: all, run: run, runPart: { _ in try run() },
          verify: { try WrongResult.unless(found == all, "\(found) of \(all) were counted") }))
    }
  }

  static func garage(_ who: String, _ driver: any StorageDriver, _ workload: LargeWorkload) throws
    -> LargeStore
  {
    let garage = try Garage(driver)
    let attachments = workload.attachments
    return LargeStore(
      who, workload, put: { try garage.parkAll(attachments[$0]) },
      get: { index in
        let found = try garage.retrieve(Attachment.self, identifier: index)?.contents
        return found?.count == workload.size.byteCount && found?.first == attachments[index].contents.first
          && found?.last == attachments[index].contents.last
      },
      isEqual: { try garage.retrieve(Attachment.self, identifier: $0) == attachments[$0] },
      contains: { try garage.contains(Attachment.self, identifier: $0) },
      count: { try garage.count(Attachment.self) }, close: { try garage.close() })
  }

  static func driver(_ who: String, _ driver: any StorageDriver, _ workload: LargeWorkload) throws
    -> LargeStore
  {
    func value(_ index: Int) throws -> [UInt8]? {
      try driver.read { try $0.value(for: workload.keys[index]) }
    }
    return LargeStore(
      who, workload,
      put: { range in
        try driver.write { transaction in
          for index in range {
            let key = workload.keys[index].bytes
            try workload.attachments[index].contents.withUnsafeBytes {
              try transaction.put($0.bytes, for: key.span.bytes)
            }
          }
          return .commit(())
        }
      },
      get: { index in
        let (found, contents) = (try value(index), workload.attachments[index].contents)
        return found?.count == contents.count && found?.first == contents.first
          && found?.last == contents.last
      },
      isEqual: { index in try value(index).map { Data($0) } == workload.attachments[index].contents },
      contains: { index in try driver.read { try $0.contains(workload.keys[index]) } },
      count: {
        var count = 0
        try driver.read { transaction in
          try transaction.scanKeys(.all, .forward) { _ in
            count += 1
            return .continue
          }
        }
        return count
      }, close: { try driver.close() })
  }

  static func dictionary(_ workload: LargeWorkload) -> LargeStore {
    var values: [StorageKey: [UInt8]] = [:]
    return LargeStore(
      LargeValueComparison.dictionary, workload,
      put: { range in
        for index in range { values[workload.keys[index]] = Array(workload.attachments[index].contents) }
      },
      get: { index in
        guard let found = values[workload.keys[index]] else { return false }
        let copy = Data(found)
        let contents = workload.attachments[index].contents
        return copy.count == contents.count && copy.first == contents.first && copy.last == contents.last
      },
      isEqual: { index in
        values[workload.keys[index]].map { Data($0) } == workload.attachments[index].contents
      },
      contains: { values[workload.keys[$0]] != nil },
      count: { values.keys.reduce(0) { count, _ in count + 1 } },
      close: { values = [:] })
  }

  static func blobTable(_ folder: URL, _ workload: LargeWorkload) throws -> LargeStore {
    let path = folder.appending(path: "blobs.sqlite").path
    guard let store = raw_blobs_open(path, RawEngine.settings) else {
      throw WrongResult("SQLite cannot open \(path)")
    }
    return LargeStore(
      LargeValueComparison.blobTable, workload,
      put: { range in
        let code = workload.entries.withRaw { raw_blobs_put(store, $0, range.lowerBound, range.count) }
        try WrongResult.unless(code == 0, "SQLite returned \(code)")
      },
      get: { index in
        var order = UInt32(index)
        return workload.entries.withRaw { raw_blobs_copy(store, $0, &order, 1) } == 1
      },
      isEqual: { _ in true },
      contains: { index in
        var order = UInt32(index)
        return raw_blobs_contains(store, &order, 1) == 1
      },
      count: { raw_blobs_count(store) }, close: { raw_blobs_close(store) })
  }

  static func rawLMDB(_ folder: URL, _ workload: LargeWorkload) throws -> LargeStore {
    guard let store = raw_lmdb_open(folder.path, 64 << 30) else {
      throw WrongResult("LMDB cannot open \(folder.path)")
    }
    return LargeStore(
      "raw C LMDB", workload,
      put: { range in
        let code = workload.entries.withRaw { raw_lmdb_put_some(store, $0, range.lowerBound, range.count) }
        try WrongResult.unless(code == 0, "LMDB returned \(code)")
      },
      get: { index in
        var order = UInt32(index)
        return workload.entries.withRaw { raw_lmdb_copy(store, $0, &order, 1) } == 1
      },
      isEqual: { _ in true }, close: { raw_lmdb_close(store) })
  }
}
