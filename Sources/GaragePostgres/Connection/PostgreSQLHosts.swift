#if PostgreSQL
  internal import Synchronization

  /// The hosts that a connection URL names, each of which is tried for itself.
  ///
  /// libpq knows such lists, too. But when it connects without blocking, it never gives up a host that does not answer, such as
  /// one whose machine is gone, and the other hosts are there for just that case.
  final class PostgreSQLHosts: Sendable {
    /// A setting of libpq's, which counts more than what the URL says.
    typealias Setting = (keyword: String, value: String)

    /// One host to be tried.
    struct Attempt: Sendable {
      fileprivate let number: Int
      let settings: [Setting]
    }

    /// How each is named; one without settings where the URL is left to libpq.
    private let hosts: [[Setting]]
    private let session: String?
    private let isShuffled: Bool
    /// Which one was connected to last.
    private let last = Atomic<Int>(0)

    var count: Int { hosts.count }

    /// - Parameter values: what the URL says.
    init(_ values: [String: String]) {
      func parts(_ keyword: String) -> [String] {
        values[keyword]?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
      }
      let (names, addresses, ports) = (parts("host"), parts("hostaddr"), parts("port"))
      let count = max(names.count, addresses.count)
      // Other values are left to libpq, which complains of them or knows them.
      let isList =
        count > 1 && [0, count].contains(names.count) && [0, count].contains(addresses.count)
        && [0, 1, count].contains(ports.count) && !(names + addresses + ports).contains("")
      hosts =
        !isList
        ? [[]]
        : (0..<count).map { number in
          func setting(_ keyword: String, _ values: [String]) -> [Setting] {
            values.isEmpty ? [] : [(keyword, values.count == 1 ? values[0] : values[number])]
          }
          return setting("host", names) + setting("hostaddr", addresses) + setting("port", ports)
        }
      session = values["target_session_attrs"]
      isShuffled = values["load_balance_hosts"] == "random"
    }

    /// In which order to try them this time.
    func attempts() -> [Attempt] {
      if hosts.count == 1 { return [Attempt(number: 0, settings: hosts[0])] }
      var numbers = Array(hosts.indices)
      if isShuffled {
        numbers.shuffle()
      } else if session != nil && session != "any" && session != "prefer-standby" {
        // The host that was right last time will be for a while, so it is tried first.
        let first = last.load(ordering: .relaxed)
        numbers = Array(numbers[first...] + numbers[..<first])
      }
      if session != "prefer-standby" { return numbers.map { Attempt(number: $0, settings: hosts[$0]) } }
      return ["standby", "any"].flatMap { session in
        numbers.map {
          Attempt(number: $0, settings: hosts[$0] + [("target_session_attrs", session)])
        }
      }
    }

    func noteConnected(_ attempt: Attempt) { last.store(attempt.number, ordering: .relaxed) }

    /// Whether another host may accept what this one has refused. A host that knows the user and does not let him in has
    /// decided.
    static func isToGoOn(after refusal: PostgreSQLFailure) -> Bool {
      guard let state = refusal.state else { return true }
      return ["08", "53", "57"].contains { state.hasPrefix($0) }
    }

    /// The messages of all of them.
    static func summary(of refusals: [PostgreSQLFailure]) -> PostgreSQLFailure {
      var summary =
        refusals.last { $0.state != nil } ?? refusals.last
        ?? PostgreSQLFailure(text: "There is no host to connect to", isOfConnection: true)
      var texts: [String] = []
      for refusal in refusals where !texts.contains(refusal.text) { texts.append(refusal.text) }
      if texts.count > 1 { summary.text = texts.joined(separator: "; ") }
      return summary
    }
  }
#endif
