internal import GarageCoding
internal import GarageDriver

/// A part of what a query finds, and where the next begins.
public struct QueryPage<Root: Codable> {
  /// The objects of this page, in the order of the query.
  public let objects: [Root]
  /// Where the next page begins; nil where this is the last one. Behind a full page that happens to be the last one there is an
  /// empty page.
  public let next: QueryCursor?
}

/// A place in what a query finds: behind the last object of a page.
///
/// It is plain data, to be kept or sent, and means the same after a restart and in another process. It names the place
/// by what the query is sorted by and by the identifier, not by number: objects that come or go before it move nothing.
/// Whoever gets a cursor can read those values in it. A query in another order refuses it, with one exception: orders by
/// different computed properties of the same type are taken for the same one, because Swift does not tell the names of these.
public struct QueryCursor: Codable, Hashable, Sendable {
  /// What the query is sorted by.
  let order: [String]
  /// What the last object has there.
  let values: [FieldValue]
  /// The last object's identifier as keys hold it.
  let identifier: [UInt8]
  /// How many objects came before.
  let count: Int
}

extension Query {
  /// The next objects that the query finds.
  ///
  /// ```swift
  /// var page = try query.page(size: 50)
  /// while let next = page.next { page = try query.page(after: next, size: 50) }
  /// ```
  /// - Parameters:
  ///   - cursor: where the page before ended; nil for the first page.
  ///   - size: how many objects at most, 1 or more.
  /// - Throws: ``GarageError/invalidQuery(type:reason:)`` for a cursor of a query in another order or one that no page
  ///   ended with, and where it is sorted by a property whose order only its type knows; else as ``retrieveAll()``.
  public func page(after cursor: QueryCursor? = nil, size: Int) throws -> sending QueryPage<Root> {
    // Nobody else has its objects: a closure that runs elsewhere than its caller may return them.
    let page = Carried(try readPage(after: cursor, size: size))
    return page.value
  }

  private func readPage(after cursor: QueryCursor?, size: Int) throws -> QueryPage<Root> {
    guard size > 0 else { throw invalid("cannot have pages of \(size) objects: ask for 1 or more.") }
    for key in sortKeys where !key.isOrderOfFields {
      throw invalid(
        """
        cannot be read in pages, because it is sorted by \(key.text()), whose order only its type knows. Sort it by a \
        number, a date, text or a UUID, as by the rawValue of an enum.
        """)
    }
    let count = cursor?.count ?? 0
    // It may have been somewhere else in between, where somebody changed it.
    if count < 0 {
      throw invalid(
        "was given a cursor of \(count) objects, which is none. Ask for the first page without a cursor.")
    }
    let rest = (maximumCount ?? .max) - count
    var query = self
    query.maximumCount = Swift.min(size, Swift.max(rest, 0))
    return try query.run { run in
      let order = run.orderTexts
      if let cursor, cursor.order != order || cursor.values.count != sortKeys.count {
        throw invalid(
          """
          was given a cursor of another one, which is sorted by \(cursor.order.isEmpty ? "identifiers" : cursor.order.joined(separator: ", then ")). \
          Ask for the first page without a cursor.
          """)
      }
      if rest <= 0 { return QueryPage(objects: [], next: nil) }
      run.start = cursor
      var objects: [Root] = []
      var last: QueryCursor?
      try run.forEachMatch(keepsObjects: true) { key, record, known in
        guard let object = try known?.object ?? run.object(key, record) else { return .continue }
        objects.append(object)
        if objects.count == query.maximumCount {
          last = QueryCursor(
            order: order, values: try run.sortValues(key, record, object),
            identifier: [UInt8](copying: key.extracting(KeyLayout.identifierOffset...)),
            count: count + objects.count)
        }
        return .continue
      }
      return QueryPage(objects: objects, next: objects.count < rest ? last : nil)
    }
  }

  func invalid(_ reason: String) -> GarageError { .invalidQuery(type: "\(Root.self)", reason: reason) }
}

extension QueryRun {
  /// What the query is sorted by, as cursors name it: by words that are the same in every process.
  fileprivate var orderTexts: [String] {
    query.sortKeys.indices.map { index in
      let key = query.sortKeys[index]
      // Swift does not tell the name of a computed property.
      let field = key.isNamed ? nil : sortFields[index].map { "\\." + $0.path.keys.joined(separator: ".") }
      return (field ?? key.text()) + (key.isAscending ? "" : ", descending")
    }
  }
}
