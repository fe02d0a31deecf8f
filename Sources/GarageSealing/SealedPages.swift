public import GarageDriver

/// The pages of a damaged store that is sealed. Entries are opened, and those that do not open are left out.
///
/// ```swift
/// let pages = try SealedPages(SQLitePages(at: url), sealer: AESGCMSealer(key: key))
/// let report = try GarageSalvage(from: pages, into: garage).run()
/// ```
public struct SealedPages: SalvageSource {
  private let base: any SalvageSource
  private let keys: KeyRing

  /// The pages of a store, with the keys that its values were sealed with.
  ///
  /// - Throws: ``GarageDriver/StorageError/Kind/wrongKey`` if two sealers have the same identifier.
  public init(_ base: any SalvageSource, sealer: some Sealer, formerSealers: [any Sealer] = []) throws {
    self.base = base
    keys = try KeyRing(sealer, formerSealers, driver: base.driver)
  }

  /// The driver of the damaged store.
  public var driver: String { base.driver }

  /// Lends the entries that open.
  public func forEachEntry(_ visit: (RawSpan, RawSpan, Bool) throws -> Void) throws -> [String] {
    let (output, context) = (SealerOutput(), SealerOutput())
    var sealedCount = 0
    var notes = try base.forEachEntry { key, sealed, isOfLastState in
      output.removeAll()
      if try keys.fault(opening: sealed, for: key, into: output, context: context) != nil {
        sealedCount += 1
        return
      }
      try output.withUnsafeBytes { try visit(key, $0.bytes, isOfLastState) }
    }
    if sealedCount > 0 {
      notes.append(
        "\(sealedCount) values do not open: they are damaged, or sealed with a key that was not given")
    }
    return notes
  }
}
