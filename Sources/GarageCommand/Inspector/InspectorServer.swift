#if Command && Inspector
  import Foundation
  import GarageStorage
  import Hummingbird
  import Logging

  /// Serves the inspector on this machine's own address, until it is told to end.
  struct InspectorServer {
    /// Reported when the server is ready.
    struct Announcement: Encodable, Sendable {
      var address: String
      var token: String
    }

    /// How often pages are told that the server is there. If a driver does not signal commits of others, as one for stores in a
    /// database, they are also told then that the store may have changed.
    private static let beatSeconds = 10
    /// How long reads may go on when the server ends.
    private static let endingSeconds = 2.0

    let garage: Garage
    let place: StorePlace
    let isWritable: Bool
    /// The port; 0 to take a free one.
    let port: Int

    /// - Throws: ``CommandFailure`` if the port cannot be used.
    func run(announcing announce: @escaping @Sendable (Announcement) throws -> Void) throws {
      defer { close() }
      let server = self
      try UntilSignal.run { try await server.serve(announcing: announce) }
    }

    /// Closes the garage, unless a read goes on for too long: ending the process does not damage a store.
    private func close() {
      let isClosed = DispatchSemaphore(value: 0)
      let garage = garage
      DispatchQueue.global().async {
        try? garage.close()
        isClosed.signal()
      }
      _ = isClosed.wait(timeout: .now() + Self.endingSeconds)
    }

    private func serve(announcing announce: @escaping @Sendable (Announcement) throws -> Void) async throws {
      let gate = InspectorGate()
      let news = InspectorNews()
      let store = InspectedStore(garage, at: place, isWritable: isWritable, news: news)
      let garage = garage
      let hearsOthers = garage.hearsOtherProcesses
      let watching = Task { for await _ in garage.changes() { news.tell() } }
      let beating = Task {
        while !Task.isCancelled {
          try await Task.sleep(for: .seconds(Self.beatSeconds))
          if hearsOthers { news.beat() } else { news.tell() }
        }
      }
      defer {
        watching.cancel()
        beating.cancel()
      }
      var logger = Logger(label: "garage")
      logger.logLevel = .critical
      let application = Application(
        responder: InspectorResponder(store, gate, news),
        configuration: ApplicationConfiguration(
          address: .hostname("127.0.0.1", port: port), reuseAddress: true),
        onServerRunning: { channel in
          let port = channel.localAddress?.port ?? 0
          try? announce(
            Announcement(address: "http://127.0.0.1:\(port)/#token=\(gate.token)", token: gate.token))
        }, logger: logger)
      do { try await application.run() } catch let error where !Task.isCancelled {
        throw CommandFailure(
          message: "The port \(port) of this machine cannot be used: \(error). Give another one: --port N.",
          status: CommandFailure.findingStatus)
      }
    }
  }
#endif
