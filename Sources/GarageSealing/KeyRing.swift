internal import GarageDriver

/// The sealer that writes, and those that read what was written with other keys.
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

  /// Seals a value and appends it to `output`, its header first.
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

  /// Opens a sealed value and appends what it holds to `output`.
  func open(
    _ sealed: RawSpan, for key: RawSpan, _ operation: StorageError.Operation, into output: SealerOutput,
    context: SealerOutput
  ) throws {
    let sealer = try sealer(of: sealed, for: key, operation)
    context.removeAll()
    context.append(sealed.extracting(first: SealedValue.headerByteCount))
    context.append(key)
    do {
      let content = sealed.extracting(SealedValue.headerByteCount..<sealed.byteCount)
      try context.withUnsafeBytes { try sealer.open(content, context: $0.bytes, into: output) }
    } catch let error as StorageError {
      throw error
    } catch {
      throw StorageError(
        .tampered, during: operation, driver: driver,
        message: """
          The value of the key \(StorageKey(key)) does not open with the key \(readable(sealer.keyIdentifier)): it \
          was damaged, changed, or put here from another place (\(error)). It was left as it is: restore it from a \
          backup, or replace or remove it.
          """)
    }
  }

  private func sealer(
    of sealed: RawSpan, for key: RawSpan, _ operation: StorageError.Operation
  ) throws -> any Sealer {
    switch SealedValue.Header(sealed) {
    case .sealed(let identifier):
      if identifier == writerIdentifier { return writer }
      if let sealer = former[identifier] { return sealer }
      let known = ([writerIdentifier] + former.keys.sorted()).map(readable).joined(separator: ", ")
      throw StorageError(
        .wrongKey, during: operation, driver: driver,
        message: """
          The value of the key \(StorageKey(key)) is sealed with the key \(readable(identifier)), and only \
          \(known) was given. Nothing was changed. Open the store with the key that it was sealed with, or name \
          that key's sealer in formerSealers.
          """)
    case .newer(let version):
      throw StorageError(
        .newerFormat, during: operation, driver: driver,
        message: """
          The value of the key \(StorageKey(key)) is sealed in format \(version), and this version of the library \
          knows only format \(SealedValue.version). Update the library.
          """)
    case .plain:
      throw StorageError(
        .notSealed, during: operation, driver: driver,
        message: """
          The value of the key \(StorageKey(key)) is not sealed. Nothing was changed. Open a plain store without \
          SealedStorage, or copy what it holds into a new, sealed one (Docs/Encryption.md).
          """)
    }
  }
}

/// A key identifier as it is written in messages.
func readable(_ identifier: UInt32) -> String {
  let digits = String(identifier, radix: 16)
  return "#" + String(repeating: "0", count: 8 - digits.count) + digits
}
