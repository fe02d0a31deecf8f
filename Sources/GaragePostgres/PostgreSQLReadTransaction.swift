#if PostgreSQL
  internal import GarageDriver

  /// Gets and scans in one transaction of the server's.
  ///
  /// Each answer is received as a whole before anything of it is lent, so that reads meanwhile can use the same connection.
  class PostgreSQLReadTransaction: ReadTransaction {
    /// Nil when the transaction has ended, because another one may use the connection then.
    @exclusivity(unchecked) final var connection: PostgreSQLConnection?
    @exclusivity(unchecked) final var state = TransactionState(driver: driverName)
    final let place: String

    init(_ connection: PostgreSQLConnection, place: String) {
      self.connection = connection
      self.place = place
    }

    /// Makes every later operation throw.
    final func end() {
      state.end()
      connection = nil
    }

    /// Sends the changes that a read has to see. For writes.
    func prepareToRead() throws(PostgreSQLFailure) {}

    /// The transaction's own value of a key that was not sent yet. For writes.
    func unsent(_ key: RawSpan) -> PostgreSQLChange? { nil }

    /// Whether the next page of a scan may be asked for ahead. In a write it may be changed in between.
    var readsAhead: Bool { true }

    /// Notes that all that was sent was answered, and nothing failed. For writes.
    func noteAnswered() {}

    /// The value of a key, where it need not be asked for alone. For writes.
    func foreseen(_ key: RawSpan) throws -> Foreseen? { nil }

    /// A value, or none, that is known.
    struct Foreseen { let value: [UInt8]? }

    final func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
      try state.beginRead(.get)
      try state.checkKey(key, .get, limit: StorageInfo.guaranteedKeyByteCount)
      if let change = unsent(key) {
        state.lend()
        defer { state.takeBack() }
        guard case .put(let value) = change else { return try body(nil) }
        return try body(value.span.bytes)
      }
      if let known = try foreseen(key) {
        state.lend()
        defer { state.takeBack() }
        guard let value = known.value else { return try body(nil) }
        return try body(value.span.bytes)
      }
      let found = try stored(key, .get)
      state.lend()
      defer { state.takeBack() }
      switch found {
      case nil: return try body(nil)
      case .row(let result): return try result.withBytes(0, 0) { try body($0.bytes) }
      case .pieces(let bytes): return try body(bytes.span.bytes)
      }
    }

    final func contains(_ key: RawSpan) throws -> Bool {
      try state.beginRead(.get)
      try state.checkKey(key, .get, limit: StorageInfo.guaranteedKeyByteCount)
      if let change = unsent(key) {
        if case .put = change { return true }
        return false
      }
      if let known = try foreseen(key) { return known.value != nil }
      return try key.withUnsafeBytes { try ask(.contains, [$0], .get) }.rowCount > 0
    }

    final func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
      try state.beginRead(.get)
      var start = 0
      while start < keys.count {
        let end = min(keys.count, start + Self.maximumKeyCount)
        try visitValues(of: keys, in: start..<end, visit)
        start = end
      }
    }

    private static let maximumKeyCount = 2000

    /// One question for that many keys. Invalid keys throw when it is their turn.
    private final func visitValues(
      of keys: [StorageKey], in range: Range<Int>, _ visit: (Int, RawSpan?) throws -> Void
    ) throws {
      try state.beginRead(.get)
      var wanted = PostgreSQLArray()
      var rows: [StorageKey: Int] = [:]
      for key in keys[range] where 1...StorageInfo.guaranteedKeyByteCount ~= key.bytes.count {
        if rows.updateValue(-1, forKey: key) == nil { wanted.append(key.bytes) }
      }
      guard wanted.count > 0 else { return try visitWrongKey(keys[range.lowerBound]) }
      let result = try wanted.withParameter { try ask(.getMany, [$0], .get) }
      for row in 0..<result.rowCount { rows[StorageKey(result.bytes(row, 0))] = row }
      var large: [Int: PostgreSQLResult] = [:]
      state.lend()
      defer { state.takeBack() }
      for index in range {
        let key = keys[index]
        try state.checkKey(key.bytes.span.bytes, .get, limit: StorageInfo.guaranteedKeyByteCount)
        guard let row = rows[key], row >= 0 else {
          try visit(index, nil)
          continue
        }
        if result.isNull(row, 1) {
          try withLargeValue(row, result, &large, .get) { try visit(index, $0) }
        } else {
          try result.withBytes(row, 1) { try visit(index, $0.bytes) }
        }
      }
    }

    private final func visitWrongKey(_ key: StorageKey) throws {
      try state.checkKey(key.bytes.span.bytes, .get, limit: StorageInfo.guaranteedKeyByteCount)
    }

    final func scan(
      _ range: StorageKeyRange, _ direction: ScanDirection,
      _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws {
      let statement: PostgreSQLStatement = direction == .forward ? .scanForward : .scanBackward
      var (large, page): ([Int: PostgreSQLResult], PostgreSQLResult?) = ([:], nil)
      try walk(range, direction, statement) { key, row, result in
        if !result.isNull(row, 1) {
          return try result.withBytes(row, 1) { try visit(key.bytes, $0.bytes) }
        }
        if page !== result { (large, page) = ([:], result) }
        var step = ScanStep.continue
        try withLargeValue(row, result, &large, .scan) { value in
          // The value was there when the page was read, and a transaction sees one state.
          if let value { step = try visit(key.bytes, value) }
        }
        return step
      }
    }

    final func scanKeys(
      _ range: StorageKeyRange, _ direction: ScanDirection,
      _ visit: (_ key: RawSpan) throws -> ScanStep
    ) throws {
      let statement: PostgreSQLStatement = direction == .forward ? .keysForward : .keysBackward
      try walk(range, direction, statement) { key, _, _ in try visit(key.bytes) }
    }

    // MARK: - Pages

    private static let firstPageRowCount = 64
    /// For keys alone, which are small.
    private static let firstPageKeyCount = 256
    private static let largestPageRowCount = 4096
    /// How many bytes a page should have, as far as the one before tells.
    private static let pageByteCount = 2 << 20

    private final func walk(
      _ range: StorageKeyRange, _ direction: ScanDirection, _ statement: PostgreSQLStatement,
      _ visit: (UnsafeRawBufferPointer, Int, PostgreSQLResult) throws -> ScanStep
    ) throws {
      try state.beginRead(.scan)
      if range.isEmpty { return }
      state.lend()
      defer { state.takeBack() }
      var lower = range.lowerBound
      // Behind every key there can be.
      var upper =
        range.upperBound ?? [UInt8](repeating: 0xFF, count: StorageInfo.guaranteedKeyByteCount + 1)
      let hasValues = statement == .scanForward || statement == .scanBackward
      var limit = hasValues ? Self.firstPageRowCount : Self.firstPageKeyCount
      var ahead: Int?
      defer { if let ahead { connection?.discardAhead(ahead) } }
      while true {
        try state.beginRead(.scan)
        let page = try page(statement, lower, upper, limit, &ahead)
        let count = page.rowCount
        let isLast = count < limit
        if !isLast {
          let last = page.bytes(count - 1, 0)
          if direction == .forward { lower = last + [0] } else { upper = last }
          let fitting = Self.pageByteCount / max(1, byteCount(of: page, hasValues: hasValues) / count)
          let isLong = limit >= Self.rowCountAhead
          limit = min(max(limit * 4, Self.firstPageRowCount), max(1, fitting), Self.largestPageRowCount)
          if isLong && readsAhead { ahead = sendPage(statement, lower, upper, limit) }
        }
        for row in 0..<count {
          let step = try page.withBytes(row, 0) { key in try visit(key, row, page) }
          if step == .stop { return }
        }
        if isLast { return }
      }
    }

    /// From pages of so many rows on, the next page is asked for before this one is visited: a scan that has come so far mostly
    /// goes on.
    private static let rowCountAhead = 1024

    private final func byteCount(of page: PostgreSQLResult, hasValues: Bool) -> Int {
      (0..<page.rowCount).reduce(0) { sum, row in
        sum + page.byteCount(row, 0) + (hasValues ? page.byteCount(row, 1) : 0)
      }
    }

    /// The page that was asked for ahead, where one was.
    private final func page(
      _ statement: PostgreSQLStatement, _ lower: [UInt8], _ upper: [UInt8], _ limit: Int, _ ahead: inout Int?
    ) throws -> PostgreSQLResult {
      if let number = ahead.take() {
        do throws(PostgreSQLFailure) {
          guard let connection else { throw PostgreSQLFailure(text: "The transaction has ended") }
          return try connection.receiveAhead(number)
        } catch {
          throw noted(error, .scan)
        }
      }
      return try Self.withPage(lower, upper, limit) { try ask(statement, $0, .scan) }
    }

    private final func sendPage(
      _ statement: PostgreSQLStatement, _ lower: [UInt8], _ upper: [UInt8], _ limit: Int
    ) -> Int? {
      Self.withPage(lower, upper, limit) { connection?.sendAhead(statement, $0) }
    }

    private static func withPage<R>(
      _ lower: [UInt8], _ upper: [UInt8], _ limit: Int, _ body: ([UnsafeRawBufferPointer]) throws -> R
    ) rethrows -> R {
      try lower.withUnsafeBytes { lower in
        try upper.withUnsafeBytes { upper in
          try withUnsafeBytes(of: Int32(limit).bigEndian) { try body([lower, upper, $0]) }
        }
      }
    }

    // MARK: - Values that did not come along

    private enum Found {
      case row(PostgreSQLResult)
      case pieces([UInt8])
    }

    /// How many bytes of values that did not come with a page are asked for at once.
    private static let largeByteCount = 1 << 20

    /// Lends the value of a row that did not come with its page, and asks for those behind it, too.
    private final func withLargeValue(
      _ row: Int, _ page: PostgreSQLResult, _ fetched: inout [Int: PostgreSQLResult],
      _ operation: StorageError.Operation, _ visit: (RawSpan?) throws -> Void
    ) throws {
      if fetched[row] == nil { try fetchLargeValues(from: row, page, &fetched, operation) }
      let result = fetched.removeValue(forKey: row)
      switch try result.map({ try found($0, operation) }) ?? nil {
      case nil: try visit(nil)
      case .row(let result): try result.withBytes(0, 0) { try visit($0.bytes) }
      case .pieces(let bytes): try visit(bytes.span.bytes)
      }
    }

    private final func fetchLargeValues(
      from row: Int, _ page: PostgreSQLResult, _ fetched: inout [Int: PostgreSQLResult],
      _ operation: StorageError.Operation
    ) throws {
      var rows: [Int] = []
      var byteCount = 0
      for next in row..<page.rowCount where page.isNull(next, 1) && fetched[next] == nil {
        byteCount += page.integer(next, 2)
        if !rows.isEmpty && byteCount > Self.largeByteCount { break }
        rows.append(next)
      }
      do throws(PostgreSQLFailure) {
        guard let connection else { throw PostgreSQLFailure(text: "The transaction has ended") }
        for row in rows { page.withBytes(row, 0) { connection.send(.get, [$0]) } }
        for (row, result) in zip(rows, try connection.receive(rows.count)) { fetched[row] = result }
      } catch {
        throw noted(error, operation)
      }
    }

    /// The value of a key, asked for by itself.
    private final func stored(_ key: RawSpan, _ operation: StorageError.Operation) throws -> Found? {
      try found(key.withUnsafeBytes { try ask(.get, [$0], operation) }, operation)
    }

    /// What the answer to a question for one value says, its pieces put together.
    private final func found(_ result: PostgreSQLResult, _ operation: StorageError.Operation) throws -> Found?
    {
      if result.rowCount == 0 { return nil }
      if result.isNull(0, 1) { return .row(result) }
      return .pieces(try joined(result.bytes(0, 0), byteCount: result.integer(0, 1), operation))
    }

    /// A value that is kept in pieces, several of which are asked for at once.
    private final func joined(
      _ identifier: [UInt8], byteCount: Int, _ operation: StorageError.Operation
    ) throws -> [UInt8] {
      let pieceByteCount = PostgreSQLWriteTransaction.pieceByteCount
      let pieceCount = (byteCount + pieceByteCount - 1) / pieceByteCount
      var value: [UInt8] = []
      value.reserveCapacity(byteCount)
      for start in stride(from: 0, to: pieceCount, by: Self.piecesAtOnce) {
        let end = min(pieceCount, start + Self.piecesAtOnce)
        do throws(PostgreSQLFailure) {
          guard let connection else { throw PostgreSQLFailure(text: "The transaction has ended") }
          for number in start..<end {
            identifier.withUnsafeBytes { identifier in
              withUnsafeBytes(of: Int32(number).bigEndian) { connection.send(.piece, [identifier, $0]) }
            }
          }
          for result in try connection.receive(end - start) where result.rowCount == 1 {
            result.withBytes(0, 0) { value.append(contentsOf: $0) }
          }
        } catch {
          throw noted(error, operation)
        }
      }
      if value.count == byteCount { return value }
      throw state.failed(
        StorageError(
          .corrupt, during: operation, driver: driverName,
          message: """
            \(place): A value of \(byteCount) bytes is not whole: \(value.count) bytes are there. Restore a backup.
            """))
    }

    private static let piecesAtOnce = 16

    // MARK: - Questions

    /// Sends a command, behind what it has to see, and returns the answer: one round trip.
    final func ask(
      _ statement: PostgreSQLStatement, _ parameters: [UnsafeRawBufferPointer],
      _ operation: StorageError.Operation
    ) throws -> PostgreSQLResult {
      do throws(PostgreSQLFailure) {
        try prepareToRead()
        guard let connection else { throw PostgreSQLFailure(text: "The transaction has ended") }
        connection.send(statement, parameters)
        let answer = try connection.receive(1)[0]
        noteAnswered()
        return answer
      } catch {
        throw noted(error, operation)
      }
    }

    /// Notes the failure of an operation, and returns the error to throw.
    final func noted(_ failure: PostgreSQLFailure, _ operation: StorageError.Operation) -> StorageError {
      // The reason is told again if it was passed over before.
      if failure.state == PostgreSQLFailure.hasFailedBefore, let first = state.firstError { return first }
      return state.failed(failure.storageError(during: operation, at: place))
    }
  }
#endif
