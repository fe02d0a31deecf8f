internal import GarageDriver

/// The sealer that writes, and those that read values written with other keys.
struct KeyRing: Sendable {
  let writer: any Sealer
  let writerIdentifier: UInt32
  private let former: [UInt32: any Sealer]
  /// The name of the driver below, for errors.
  let driver: String

  init(_ writer: any Sealer, _ former: [any Sealer], driver: String) throws {
    self.writer = writer
    self.driver = driver
    writerIdentifier = writer.keyIdentifier
    var sealers: [UInt32: any Sealer] = [:]
    for sealer in former {
      let identifier = sealer.keyIdentifier
      if identifier == writerIdentifier || sealers.updateValue(sealer, forKey: identifier) != nil {
        throw StorageError(
          .wrongKey, during: .open, driver: driver,
          message: """
            Two sealers have the key identifier \(readable(identifier)), and what they sealed could not be told \
            apart. Give each key an identifier of its own.
            """)
      }
    }
    self.former = sealers
  }

  /// Seals a value and appends it to `output`, behind its header.
  ///
  /// - Parameter context: memory to work with.
  func seal(_ value: RawSpan, for key: RawSpan, into output: SealerOutput, context: SealerOutput) throws {
    SealedValue.appendHeader(keyIdentifier: writerIdentifier, to: output)
    context.removeAll()
    SealedValue.appendHeader(keyIdentifier: writerIdentifier, to: context)
    context.append(key)
    do {
      try context.withUnsafeBytes { try writer.seal(value, context: $0.bytes, into: output) }
    } catch let error as StorageError {
      throw error
    } catch {
      throw StorageError(
        .sealingFailed, during: .put, driver: driver,
        message: """
          The sealer could not seal a value of \(value.byteCount) bytes for the key \(StorageKey(key)): \(error). \
          Nothing was stored. See what the sealer needs, and try again.
          """)
    }
  }

  // MARK: - Opening

  /// Why a value does not open.
  enum Fault {
    /// Only its header is damaged: the value opens with this key once the header is that of the key.
    case header(UInt32)
    /// It has the identifier of this key and does not open with it.
    case content(UInt32, any Error)
    /// It has the identifier of a key that was not given.
    case otherKey(UInt32)
    case newer(version: UInt8)
    /// It begins as a sealed value, and ends within the header.
    case cut
    case plain
  }

  /// Opens a sealed value and appends the result to `output`.
  func open(
    _ sealed: RawSpan, for key: RawSpan, _ operation: StorageError.Operation, into output: SealerOutput,
    context: SealerOutput
  ) throws {
    if let fault = try fault(opening: sealed, for: key, into: output, context: context) {
      throw error(fault, key, operation)
    }
  }

  /// Opens a sealed value and appends the result to `output`. Returns why the value does not open; nil if it does.
  ///
  /// - Throws: a `StorageError` of a sealer, which is no fault of the value.
  func fault(
    opening sealed: RawSpan, for key: RawSpan, into output: SealerOutput, context: SealerOutput
  ) throws -> Fault? {
    let header = SealedValue.Header(sealed)
    guard case .sealed(let identifier) = header, let sealer = sealer(identifier) else {
      return faultOfHeader(header, sealed, for: key, context)
    }
    context.removeAll()
    context.append(sealed.extracting(first: SealedValue.headerByteCount))
    context.append(key)
    do {
      let content = sealed.extracting(SealedValue.headerByteCount..<sealed.byteCount)
      try context.withUnsafeBytes { try sealer.open(content, context: $0.bytes, into: output) }
      return nil
    } catch let error as StorageError {
      throw error
    } catch {
      return .content(identifier, error)
    }
  }

  private func sealer(_ identifier: UInt32) -> (any Sealer)? {
    identifier == writerIdentifier ? writer : former[identifier]
  }

  /// What is wrong with a value whose header is not that of a given key.
  ///
  /// A damaged header is proven to be one: with the header of the right key, the value opens.
  @inline(never)
  private func faultOfHeader(
    _ header: SealedValue.Header, _ sealed: RawSpan, for key: RawSpan, _ context: SealerOutput
  ) -> Fault {
    if sealed.byteCount >= SealedValue.headerByteCount {
      let content = sealed.extracting(SealedValue.headerByteCount..<sealed.byteCount)
      let output = SealerOutput()
      for identifier in [writerIdentifier] + former.keys.sorted() {
        context.removeAll()
        SealedValue.appendHeader(keyIdentifier: identifier, to: context)
        context.append(key)
        output.removeAll()
        let isOpened: Void? = try? context.withUnsafeBytes {
          try sealer(identifier)?.open(content, context: $0.bytes, into: output)
        }
        if isOpened != nil { return .header(identifier) }
      }
    }
    switch header {
    case .sealed(let identifier): return .otherKey(identifier)
    case .newer(let version): return .newer(version: version)
    case .cut: return .cut
    case .plain: return .plain
    }
  }

  /// The error for a value that does not open.
  func error(_ fault: Fault, _ key: RawSpan, _ operation: StorageError.Operation) -> StorageError {
    let (kind, reason) = reason(fault)
    return StorageError(
      kind, during: operation, driver: driver, message: "The value of the key \(StorageKey(key)) \(reason)")
  }

  private func reason(_ fault: Fault) -> (StorageError.Kind, String) {
    let remedy = "It was left as it is: restore it from a backup, or replace or remove it."
    switch fault {
    case .content(let identifier, let error):
      return (
        .tampered,
        """
        does not open with the key \(readable(identifier)): it was damaged, changed, or put here from another \
        place (\(error)). \(remedy)
        """
      )
    case .header(let identifier):
      return (
        .tampered,
        """
        is sealed with the key \(readable(identifier)), and its header, the first \
        \(SealedValue.headerByteCount) bytes, was damaged or changed. \(remedy)
        """
      )
    case .cut: return (.tampered, "was cut: it ends within the header of a sealed value. \(remedy)")
    case .otherKey(let identifier):
      let known = ([writerIdentifier] + former.keys.sorted()).map(readable).joined(separator: ", ")
      return (
        .wrongKey,
        """
        is sealed with the key \(readable(identifier)), and only \(known) was given. Nothing was changed. Open \
        the store with the key that it was sealed with, or name that key's sealer in formerSealers. If there never \
        was such a key, the value is damaged: replace or remove it.
        """
      )
    case .newer(let version):
      return (
        .newerFormat,
        """
        is sealed in format \(version), and this version of the library knows only format \
        \(SealedValue.version). Update the library. If no newer one ever wrote to this store, the value is \
        damaged: replace or remove it.
        """
      )
    case .plain:
      return (
        .notSealed,
        """
        is not sealed. Nothing was changed. If the whole store is plain, open it without SealedStorage, or copy \
        what it holds into a new, sealed one (Docs/Encryption.md). If other values are sealed, this one was stored \
        without the seal, or overwritten: replace or remove it.
        """
      )
    }
  }
}

/// A key identifier as text for messages.
func readable(_ identifier: UInt32) -> String {
  let digits = String(identifier, radix: 16)
  return "#" + String(repeating: "0", count: 8 - digits.count) + digits
}
