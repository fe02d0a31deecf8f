import Foundation
import GarageDriver

/// The values of one size, as objects and as bytes.
final class LargeWorkload {
  let size: LargeValueComparison.Size
  let attachments: [Attachment]
  let entries = Entries()
  let keys: [StorageKey]
  /// Positions in random order.
  let order: [UInt32]

  init(_ size: LargeValueComparison.Size) {
    self.size = size
    var random = SplitMix(state: UInt64(size.byteCount))
    attachments = (0..<size.count).map { number in
      var contents = Data(count: size.byteCount)
      contents.withUnsafeMutableBytes { bytes in
        for index in stride(from: 0, to: bytes.count - 7, by: 8) {
          bytes.storeBytes(of: random.next(), toByteOffset: index, as: UInt64.self)
        }
      }
      return Attachment(id: number, name: "attachment \(number)", contents: contents)
    }
    keys = (0..<size.count).map { number in
      StorageKey(
        Array("large".utf8) + (0..<12).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }
    for (key, attachment) in zip(keys, attachments) {
      entries.append(key: key.bytes, value: Array(attachment.contents))
    }
    order = Array(0..<UInt32(size.count)).shuffled(using: &random)
  }
}

/// An object that is little more than its value.
struct Attachment: Codable, Identifiable, Equatable {
  var id: Int
  var name: String
  var contents: Data
}
