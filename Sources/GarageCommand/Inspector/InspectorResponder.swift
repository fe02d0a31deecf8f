#if Command && Inspector
  import Foundation
  import Hummingbird

  /// Answers requests, and refuses those that it does not know.
  ///
  ///     GET    /api/store                           the file, its types and how many keys there are
  ///     GET    /api/objects?type&filter&sort&descending&offset&limit
  ///     GET    /api/object?type&key                 one object; `id` in words in the place of `key` as well
  ///     PATCH  /api/object?type&key                 changes a field of it
  ///     DELETE /api/object?type&key                 deletes it
  ///     GET    /api/neighbours?type&key             what it refers to, and who refers to it
  ///     GET    /api/keys, /api/statistics, /api/verification
  ///     GET    /api/changes                         a line for each change of the store, as it comes
  struct InspectorResponder: HTTPResponder {
    typealias Context = BasicRequestContext
    private typealias Handler = @Sendable (Request, [String: String]) async throws -> Response

    private struct Route: Sendable {
      var handlers: [HTTPRequest.Method: Handler]
      /// The parameters that it accepts.
      var parameters: Set<String> = []
      /// Whether it tells nothing about the store, and so needs no token.
      var isOpen = false
    }

    private static let maximumBodyByteCount = 1 << 20
    private let gate: InspectorGate
    private let routes: [String: Route]

    init(_ store: InspectedStore, _ gate: InspectorGate, _ news: InspectorNews) {
      self.gate = gate
      let named: Set<String> = ["type", "key", "id"]
      routes = [
        "/": Self.page(InspectorPage.html, "text/html; charset=utf-8"),
        "/inspector.css": Self.page(InspectorStyle.css, "text/css; charset=utf-8"),
        "/inspector.js": Self.page(InspectorScript.javaScript, "text/javascript; charset=utf-8"),
        "/icon.svg": Self.page(InspectorPage.icon, "image/svg+xml"),
        "/api/store": Route(handlers: [.get: { _, _ in try Self.json(await store.facts()) }]),
        "/api/keys": Route(handlers: [.get: { _, _ in try Self.json(await store.keys()) }]),
        "/api/statistics": Route(handlers: [.get: { _, _ in try Self.json(await store.statistics()) }]),
        "/api/verification": Route(handlers: [.get: { _, _ in try Self.json(await store.verification()) }]),
        "/api/objects": Route(
          handlers: [.get: { _, parameters in try await Self.rows(of: store, parameters) }],
          parameters: ["type", "filter", "sort", "descending", "offset", "limit"]),
        "/api/object": Route(
          handlers: [
            .get: { _, parameters in try Self.json(await store.object(Self.name(parameters))) },
            .patch: { request, parameters in
              try await store.change(Self.name(parameters), Self.body(of: request))
              return Response(status: .noContent)
            },
            .delete: { _, parameters in
              try await store.delete(Self.name(parameters))
              return Response(status: .noContent)
            },
          ], parameters: named),
        "/api/neighbours": Route(
          handlers: [
            .get: { _, parameters in try Self.json(await store.neighbours(of: Self.name(parameters))) }
          ], parameters: named),
        "/api/changes": Route(handlers: [.get: { _, _ in Self.changes(news) }]),
      ]
    }

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
      var response: Response
      do { response = try await answer(request) } catch let error as any HTTPResponseError {
        response = Self.refusal(InspectorFailure(status: error.status.code, "\(error.status.reasonPhrase)."))
      } catch { response = Self.refusal(InspectorFailure(error)) }
      for (name, value) in InspectorGate.headers {
        if let name = HTTPFields.Element.Name(name) { response.headers[name] = value }
      }
      return response
    }

    private func answer(_ request: Request) async throws -> Response {
      try gate.checkSource(of: request)
      guard let route = routes[request.uri.path] else {
        throw InspectorFailure(status: 404, "The inspector has no \(request.uri.path).")
      }
      guard let handler = route.handlers[request.method] else {
        var failure = InspectorFailure(
          status: 405, "\(request.uri.path) is not asked by \(request.method.rawValue).")
        failure.allowed = route.handlers.keys.map(\.rawValue).sorted()
        throw failure
      }
      if !route.isOpen { try gate.checkToken(of: request) }
      return try await handler(request, Self.parameters(of: request, route.parameters))
    }

    // MARK: - Requests

    /// The parameters behind the question mark: each may be given once, and only known ones.
    private static func parameters(of request: Request, _ known: Set<String>) throws -> [String: String] {
      var parameters: [String: String] = [:]
      for part in (request.uri.query ?? "").split(separator: "&") {
        let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = String(pair[0]).removingPercentEncoding, known.contains(name) else {
          throw InspectorFailure(
            status: 400, "\(request.uri.path) has no parameter \(String(pair[0]).debugDescription).")
        }
        guard pair.count == 2, let value = String(pair[1]).removingPercentEncoding, parameters[name] == nil
        else {
          throw InspectorFailure(status: 400, "The parameter \(name) stands there twice, or is none.")
        }
        parameters[name] = value
      }
      return parameters
    }

    private static func name(_ parameters: [String: String]) throws -> ObjectName {
      guard let type = parameters["type"], (parameters["key"] == nil) != (parameters["id"] == nil) else {
        throw InspectorFailure(status: 400, "An object is named by type and key, or by type and id.")
      }
      return ObjectName(type: type, key: parameters["key"], id: parameters["id"])
    }

    private static func number(
      _ name: String, _ parameters: [String: String], _ range: ClosedRange<Int>, unless standard: Int
    ) throws -> Int {
      guard let text = parameters[name] else { return standard }
      guard let number = Int(text), range.contains(number) else {
        throw InspectorFailure(
          status: 400, "\(name) is a number from \(range.lowerBound) to \(range.upperBound).")
      }
      return number
    }

    private static func body<Body: Decodable>(of request: Request) async throws -> Body {
      guard request.headers[.contentType] == "application/json" else {
        throw InspectorFailure(status: 415, "A change is sent as application/json.")
      }
      let bytes = try await request.body.collect(upTo: maximumBodyByteCount)
      do { return try JSONDecoder().decode(Body.self, from: Data(bytes.readableBytesView)) } catch {
        throw InspectorFailure(
          status: 400, "The change cannot be read: path, before, kind and text are expected.")
      }
    }

    private static func rows(of store: InspectedStore, _ parameters: [String: String]) async throws
      -> Response
    {
      guard let type = parameters["type"] else {
        throw InspectorFailure(status: 400, "The parameter type is missing.")
      }
      guard ["true", "false"].contains(parameters["descending"] ?? "false") else {
        throw InspectorFailure(status: 400, "descending is true or false.")
      }
      let request = ListingRequest(type: type, filter: parameters["filter"], sort: parameters["sort"])
      let limit = try number("limit", parameters, 1...InspectedStore.maximumRowCount, unless: 100)
      let offset = try number("offset", parameters, 0...(1 << 40), unless: 0)
      return try json(
        await store.rows(
          request, offset: offset, limit: limit, isDescending: parameters["descending"] == "true"))
    }

    // MARK: - Answers

    private static func page(_ text: String, _ type: String) -> Route {
      let handler: Handler = { _, _ in
        Response(
          status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
      }
      return Route(handlers: [.get: handler], isOpen: true)
    }

    private static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return Response(
        status: status, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
    }

    private static func refusal(_ failure: InspectorFailure) -> Response {
      let status = HTTPResponse.Status(integerLiteral: failure.status)
      var response = (try? json(["error": failure.message], status: status)) ?? Response(status: status)
      if failure.status == 401 { response.headers[.wwwAuthenticate] = "Bearer" }
      if !failure.allowed.isEmpty { response.headers[.allow] = failure.allowed.joined(separator: ", ") }
      return response
    }

    /// The number of changes, now and after each change. It is also sent now and then in between, to find out whether anybody
    /// still listens.
    private static func changes(_ news: InspectorNews) -> Response {
      let versions = news.listen()
      return Response(
        status: .ok, headers: [.contentType: "text/event-stream"],
        body: ResponseBody { writer in
          for await version in versions {
            try await writer.write(ByteBuffer(string: "data: \(version)\n\n"))
          }
          try await writer.finish(nil)
        })
    }
  }
#endif
