#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Seals values with one key, and opens them again: authenticated encryption with associated data, in the terms
/// of RFC 5116.
///
/// `GarageCrypto` has two ready-made ones. Your own takes only a few lines:
/// ```swift
/// struct KeychainSealer: Sealer {
///   func seal(_ value: Data, context: Data) throws -> Data { … }
///   func open(_ sealed: Data, context: Data) throws -> Data { … }
/// }
/// ```
/// A sealer has to keep these rules:
/// - `open` returns the value that `seal` was given. It throws if one bit of the sealed bytes or of the context differs, or if
///   the key differs.
/// - Sealing the same value twice gives different bytes, by a nonce that never repeats under one key.
/// - Several threads may call it at a time.
///
/// A `StorageError` that it throws reaches the caller unchanged. Any other error means that the value does not open, or cannot
/// be sealed.
public protocol Sealer: Sendable {
  /// Tells the key from other keys of the same store. It is stored unencrypted beside every value, so that several keys can be
  /// read while one writes. The default is 0. It must not tell anything about the key itself.
  var keyIdentifier: UInt32 { get }

  /// Seals a value of any length, including an empty one.
  ///
  /// - Parameter context: associated data, which are not stored, and which opening needs again. They bind the value to its key
  ///   in the store.
  func seal(_ value: Data, context: Data) throws -> Data

  /// Opens sealed bytes that `seal` returned. Throws unless all of them, and the context, are unchanged.
  func open(_ sealed: Data, context: Data) throws -> Data

  /// Does the same without a copy: appends the sealed bytes to `output`. The default calls the method with `Data`.
  func seal(_ value: RawSpan, context: RawSpan, into output: SealerOutput) throws

  /// Does the same without a copy: appends the value to `output`. The default calls the method with `Data`.
  func open(_ sealed: RawSpan, context: RawSpan, into output: SealerOutput) throws

  /// The largest value, in bytes, whose sealed form has at most `byteCount` bytes. The default leaves 64 bytes for the sealer.
  func maximumValueByteCount(sealedInto byteCount: Int) -> Int
}

extension Sealer {
  /// 0.
  public var keyIdentifier: UInt32 { 0 }

  /// Copies the bytes into `Data` and seals that.
  public func seal(_ value: RawSpan, context: RawSpan, into output: SealerOutput) throws {
    output.append(try seal(Data(copying: value), context: Data(copying: context)))
  }

  /// Copies the bytes into `Data` and opens that.
  public func open(_ sealed: RawSpan, context: RawSpan, into output: SealerOutput) throws {
    output.append(try open(Data(copying: sealed), context: Data(copying: context)))
  }

  /// Leaves 64 bytes for the sealer.
  public func maximumValueByteCount(sealedInto byteCount: Int) -> Int { max(0, byteCount - 64) }
}

extension Data {
  init(copying span: RawSpan) { self = span.withUnsafeBytes { Data($0) } }
}
