#if Command
  import GarageStorage

  /// The findings of a verification, as JSON.
  struct VerificationAnswer: Encodable {
    struct Entry: Encodable {
      var severity: String
      var place: String
      var type: String?
      var id: String?
      var path: String?
      var message: String
    }

    var objects: Int
    var keys: Int
    var bytes: Int
    var isSound: Bool
    var findings: [Entry]
    /// The number of all findings, even if not all are listed.
    var findingCount: Int
  }

  extension VerificationAnswer {
    init(_ report: VerificationReport) {
      self.init(
        objects: report.objectCount, keys: report.keyCount, bytes: report.byteCount,
        isSound: report.isSound,
        findings: report.findings.map {
          Entry(
            severity: "\($0.severity)", place: $0.place.rawValue, type: $0.type, id: $0.identifier,
            path: $0.path, message: $0.message)
        }, findingCount: report.findingCounts.values.reduce(0, +))
    }
  }
#endif
