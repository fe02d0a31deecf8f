#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What encrypts for GarageStorage: the shape of its `dataEncryptionDelegate`. ``DelegateSealer`` makes a sealer of it.
public protocol DataEncryptionDelegate: AnyObject {
  /// The data, encrypted, as text.
  func encrypt(_ data: Data) throws -> String
  /// What ``encrypt(_:)`` was given.
  func decrypt(_ string: String) throws -> Data
}

/// Seals with a ``DataEncryptionDelegate``, so that an app which has one for GarageStorage keeps it.
///
/// ```swift
/// let garage = try Garage(SealedStorage(SQLiteStorage(at: url), sealer: DelegateSealer(delegate)))
/// ```
/// The delegate is given the sealer's context together with the value, and opening compares it: a value that was
/// moved to another key is refused. Whether changed bytes are noticed depends on the delegate: only authenticated
/// encryption (AES-GCM, ChaCha20-Poly1305) does for certain. Text takes more room than bytes, and time.
public struct DelegateSealer: Sealer {
  private let delegate: any DataEncryptionDelegate & Sendable
  /// Names the delegate's key among those of one store.
  public let keyIdentifier: UInt32

  /// Seals with this delegate, which is held. Its methods are called by several threads at a time.
  public init(_ delegate: any DataEncryptionDelegate & Sendable, keyIdentifier: UInt32 = 0) {
    self.delegate = delegate
    self.keyIdentifier = keyIdentifier
  }

  /// Encrypts context and value: `| length of the context | 2, big-endian | context | value |`, as the UTF-8 of the
  /// delegate's text.
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

  /// Takes half of the room for text, which suffices for hexadecimal digits and Base64.
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
