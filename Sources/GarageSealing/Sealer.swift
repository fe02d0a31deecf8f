#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Seals values with one key, and opens them again: authenticated encryption with associated data, in the terms
/// of RFC 5116.
///
/// `GarageCrypto` has two ready-made ones. Your own takes a few lines:
/// ```swift
/// struct KeychainSealer: Sealer {
///   func seal(_ value: Data, context: Data) throws -> Data { … }
///   func open(_ sealed: Data, context: Data) throws -> Data { … }
/// }
/// ```
/// What is asked of it:
/// - `open` returns what `seal` was given, or throws where one bit
///   of the sealed bytes or of the context differs, or where the key is another.
/// - Sealing the same value twice gives different bytes: a nonce that never repeats under one key.
/// - It may be called by several threads at a time.
///
/// A thrown `StorageError` reaches the caller as it is; any other error counts as a value that does
/// not open, or cannot be sealed.
public protocol Sealer: Sendable {
  /// Names the key among those of one store. It is stored in plain beside every value, so that several keys can be
  /// read while one writes. 0 unless the sealer has another; it must not tell anything about the key itself.
  var keyIdentifier: UInt32 { get }

  /// Seals a value of any length, also none.
  ///
  /// - Parameter context: what the value belongs to: associated data that are not stored, and that opening needs
  ///   again. They bind the value to its key in the store.
  func seal(_ value: Data, context: Data) throws -> Data

  /// Opens what `seal` made. Throws unless all of it, and the context, are as they were.
  func open(_ sealed: Data, context: Data) throws -> Data

  /// The same without a copy: appends the sealed bytes to `output`. The default calls the one with `Data`.
  func seal(_ value: RawSpan, context: RawSpan, into output: SealerOutput) throws

  /// The same without a copy: appends the value to `output`. The default calls the one with `Data`.
  func open(_ sealed: RawSpan, context: RawSpan, into output: SealerOutput) throws

  /// How large a value may be for its sealed form to have at most so many bytes. The default takes 64 bytes for
  /// the sealer.
  func maximumValueByteCount(sealedInto byteCount: Int) -> Int
}

extension Sealer {
  /// 0.
  public var keyIdentifier: UInt32 { 0 }

  /// Copies the bytes into `Data` and seals these.
  public func seal(_ value: RawSpan, context: RawSpan, into output: SealerOutput) throws {
    output.append(try seal(Data(copying: value), context: Data(copying: context)))
  }

  /// Copies the bytes into `Data` and opens these.
  public func open(_ sealed: RawSpan, context: RawSpan, into output: SealerOutput) throws {
    output.append(try open(Data(copying: sealed), context: Data(copying: context)))
  }

  /// Takes 64 bytes for the sealer.
  public func maximumValueByteCount(sealedInto byteCount: Int) -> Int { max(0, byteCount - 64) }
}

extension Data {
  init(copying span: RawSpan) { self = span.withUnsafeBytes { Data($0) } }
}
