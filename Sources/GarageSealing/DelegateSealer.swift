#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The encryption delegate of GarageStorage (its `dataEncryptionDelegate`). ``DelegateSealer`` makes a sealer of it.
public protocol DataEncryptionDelegate: AnyObject {
  /// Encrypts data, and returns the result as text.
  func encrypt(_ data: Data) throws -> String
  /// Decrypts text that ``encrypt(_:)`` returned, and returns the data.
  func decrypt(_ string: String) throws -> Data
}

/// Seals with a ``DataEncryptionDelegate``, so that an app that has one for GarageStorage can keep it.
///
/// ```swift
/// let garage = try Garage(SealedStorage(SQLiteStorage(at: url), sealer: DelegateSealer(delegate)))
/// ```
/// The delegate is given the sealer's context together with the value. Opening compares the context, so a value that was moved
/// to another key is refused. Whether changed bytes are noticed depends on the delegate: only authenticated encryption
/// (AES-GCM, ChaCha20-Poly1305) is certain to notice. Text takes more space than bytes, and more time.
public struct DelegateSealer: Sealer {
  private let delegate: any DataEncryptionDelegate & Sendable
  /// Tells the delegate's key from other keys of the same store.
  public let keyIdentifier: UInt32

  /// Seals with this delegate, which it retains. Several threads may call the delegate's methods at a time.
  public init(_ delegate: any DataEncryptionDelegate & Sendable, keyIdentifier: UInt32 = 0) {
    self.delegate = delegate
    self.keyIdentifier = keyIdentifier
  }

  /// Encrypts context and value together, as `| length of the context | 2, big-endian | context | value |`. The result is the
  /// delegate's text in UTF-8.
  public func seal(_ value: Data, context: Data) throws -> Data {
    var content = Data(capacity: 2 + context.count + value.count)
    content.append(UInt8(truncatingIfNeeded: context.count >> 8))
    content.append(UInt8(truncatingIfNeeded: context.count))
    content.append(context)
    content.append(value)
    return Data(try delegate.encrypt(content).utf8)
  }

  /// Decrypts, and compares the context.
  public func open(_ sealed: Data, context: Data) throws -> Data {
    guard let text = String(validating: sealed, as: UTF8.self) else { throw UnfitContent.notText }
    let content = try delegate.decrypt(text)
    let contextEnd = 2 + context.count
    guard content.count >= contextEnd, content.prefix(2).elementsEqual(lengthBytes(context)),
      content.dropFirst(2).prefix(context.count).elementsEqual(context)
    else { throw UnfitContent.otherContext }
    return Data(content.dropFirst(contextEnd))
  }

  /// Assumes that text takes twice as many bytes, which suffices for hexadecimal digits and Base64.
  public func maximumValueByteCount(sealedInto byteCount: Int) -> Int { max(0, byteCount / 2 - 2048) }

  private func lengthBytes(_ context: Data) -> [UInt8] {
    [UInt8(truncatingIfNeeded: context.count >> 8), UInt8(truncatingIfNeeded: context.count)]
  }
}

private enum UnfitContent: Error, CustomStringConvertible {
  case notText
  case otherContext

  var description: String {
    switch self {
    case .notText: "it is no text"
    case .otherContext: "it was sealed for another key"
    }
  }
}
