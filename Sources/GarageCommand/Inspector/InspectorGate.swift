#if Command && Inspector
  import Foundation
  import Hummingbird

  /// Decides who may ask: only pages of this server, which know the token.
  ///
  /// The `Host` has to be a name of this machine. So a page of another site gains nothing by letting its own name lead here.
  /// The token stands behind a `#` in the address, and goes with each request in a header. Other pages cannot send it. It is no
  /// cookie, because servers on other ports of this machine would get that.
  struct InspectorGate: Sendable {
    let token: String

    init() {
      var random = SystemRandomNumberGenerator()
      token = (0..<4).map { _ in
        let digits = String(UInt64.random(in: 0 ... .max, using: &random), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }.joined()
    }

    /// Refuses requests of other sites.
    func checkSource(of request: Request) throws {
      guard let host = request.head.authority, let port = Self.loopbackPort(of: host) else {
        throw InspectorFailure(
          status: 403, "The inspector is asked by the name 127.0.0.1 or localhost alone, and not by another.")
      }
      if let origin = request.headers[values: .origin].first {
        let own = ["127.0.0.1", "localhost"].map { "http://\($0):\(port)" }
        if request.headers[values: .origin].count > 1 || !own.contains(origin) {
          throw InspectorFailure(status: 403, "A page from elsewhere may not ask the inspector.")
        }
      }
      if let site = HTTPFields.Element.Name("Sec-Fetch-Site").flatMap({ request.headers[$0] }),
        site != "same-origin" && site != "none"
      {
        // A link to the page may be followed from anywhere, because that is a request of the user's.
        if request.uri.path != "/" || request.method != .get {
          throw InspectorFailure(status: 403, "A page from elsewhere may not ask the inspector.")
        }
      }
    }

    /// The port behind a name of this machine; nil for any other name.
    private static func loopbackPort(of host: String) -> Int? {
      let parts = host.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count <= 2, parts[0] == "127.0.0.1" || parts[0].lowercased() == "localhost" else {
        return nil
      }
      return parts.count == 1 ? 80 : Int(parts[1])
    }

    /// Refuses requests without the token.
    func checkToken(of request: Request) throws {
      let given = Array((request.headers[.authorization] ?? "").utf8)
      let expected = Array("Bearer \(token)".utf8)
      // The comparison takes equally long for every wrong token.
      var difference = given.count ^ expected.count
      for (place, byte) in expected.enumerated() {
        difference |= Int(byte ^ (place < given.count ? given[place] : 0))
      }
      if difference != 0 {
        throw InspectorFailure(
          status: 401, "The token is missing or wrong. It is in the address that 'garage serve' printed.")
      }
    }

    /// The headers of every answer: no script but the inspector's own runs, no frame shows it, and no cache keeps it.
    static let headers: [(String, String)] = [
      (
        "Content-Security-Policy",
        """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
        """
      ),
      ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
      ("Cache-Control", "no-store"), ("Cross-Origin-Opener-Policy", "same-origin"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
      ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ]
  }
#endif
