internal import Foundation
internal import GarageCoding
internal import GarageStorage

/// One object of the store, with the identity under which it is decoded.
struct LegacyObject {
  let row: LegacyRow
  let type: LegacyTypes.Known
  let identity: RecordIdentity

  /// The status that can be imported.
  var syncStatus: SyncStatus? { type.isSyncable ? row.syncStatus.flatMap { SyncStatus(rawValue: $0) } : nil }
}

/// The objects of a GarageStorage store as records, each made when it is asked for.
final class LegacySource: RecordSource {
  let objects: [LegacyObject]
  /// Whether records list the objects that their texts may refer to.
  var hints = true
  /// The objects that cannot be decoded. No records are made of them any more.
  var losses = LegacyLosses()
  /// For each place, the places of the objects that need its object. Found when the first object is lost.
  private(set) lazy var needing = findNeeding()
  /// The places by the text of their identifiers in error messages.
  private(set) lazy var placesByName = findNames()
  /// The names of classes of anonymous objects that no type of the app has, by place.
  private var strangers: [Int: Set<String>] = [:]
  private let file: CoreDataFile
  private let payload: LegacyPayload
  private let encoder = GraphEncoder()
  /// The places by record key, and by the identifier in the store.
  private var places: [[UInt8]: Int] = [:]
  private var placesByText: [String: [Int]] = [:]

  init(_ objects: [LegacyObject], file: CoreDataFile, payload: LegacyPayload) {
    self.objects = objects
    self.file = file
    self.payload = payload
    for (place, object) in objects.enumerated() {
      places[RecordKey.bytes(of: object.identity)] = place
      if object.type.isIdentified, let text = object.row.identifier {
        placesByText[text, default: []].append(place)
      }
    }
  }

  /// Whether the store has an object with that identity.
  func has(_ identity: RecordIdentity) -> Bool { place(of: identity) != nil }

  /// The place of the object with that identity.
  func place(of identity: RecordIdentity) -> Int? { places[RecordKey.bytes(of: identity)] }

  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    let key = keyIdentifier.withUnsafeBytes { RecordKey(tag: tag, identifier: $0).bytes }
    guard let place = places[key] ?? LegacySource.place(of: keyIdentifier, in: objects.indices) else {
      return try body(nil)
    }
    let record = record(place, as: LegacySource.unnamed(place, keyIdentifier, objects[place].identity))
    return try body(record.span.bytes)
  }

  func shapeText(_ digest: UInt64) throws -> [UInt8]? { nil }

  func tagName(_ digest: UInt64) throws -> String? { nil }

  /// The record of an object. If its payload cannot be read, the record is a damaged one: decoding it throws, and objects that
  /// only may refer to it are not affected.
  private func record(_ place: Int, as identity: RecordIdentity) -> [UInt8] {
    if losses.has(place) { return [0] }
    let object = objects[place]
    do {
      let (value, notes) = try self.value(of: place)
      if !notes.strangers.isEmpty { strangers[place] = notes.strangers }
      return try encoder.record(
        of: value, syncStatus: object.syncStatus, referringTo: hints ? hints(notes.texts, except: place) : [],
        as: object.type.type, identity)
    } catch {
      losses.note(place, "\(error)")
      return [0]
    }
  }

  private func value(of place: Int) throws -> (value: ForeignValue, notes: LegacyPayload.Notes) {
    let object = objects[place]
    guard let text = try file.payload(object.row.key) else {
      throw GarageError.storageDataIsNil(object.type.name)
    }
    return try payload.value(of: text)
  }

  /// Reads all payloads of mapped objects once. Their references say what they need; the references of other objects are plain
  /// text.
  private func findNeeding() -> [[Int]] {
    var needing = [[Int]](repeating: [], count: objects.count)
    for (place, object) in objects.enumerated() {
      guard let type = object.type.type as? any MappableObject.Type, !losses.has(place) else { continue }
      do {
        for identity in try value(of: place).value.neededObjects(of: type) {
          if let target = self.place(of: identity) { needing[target].append(place) }
        }
      } catch {
        losses.note(place, "\(error)")
      }
    }
    return needing
  }

  private func findNames() -> [String: [Int]] {
    var names: [String: [Int]] = [:]
    for (place, object) in objects.enumerated() {
      let identifier = object.identity.identifier
      // An error names a very long identifier only by its form in keys.
      let texts: Set = [identifier.description, Identifier.description(ofKeyBytes: identifier.keyBytes)]
      for text in texts { names[text, default: []].append(place) }
    }
    return names
  }

  /// The classes of anonymous objects inside an object that no type of the app has, with advice on each.
  func strangers(in place: Int) -> [(name: String, reason: String)] {
    (strangers[place] ?? []).sorted().map { ($0, payload.types.reasonForNone(named: $0)) }
  }

  private func hints(_ texts: [String], except place: Int) -> [(RecordIdentity, Any.Type)] {
    texts.flatMap { placesByText[$0] ?? [] }.filter { $0 != place }.map {
      (objects[$0].identity, objects[$0].type.type)
    }
  }

  // MARK: - Objects without an identifier of their own

  /// An identity for an object that is identified by its content, or whose identifier cannot be trusted: its place. A record
  /// with such an identity may decode to an object of any identity.
  static func unnamed(_ place: Int, tag: UInt64) -> RecordIdentity? {
    let number = withUnsafeBytes(of: UInt64(place).bigEndian) { Array($0) }
    let bytes = [IdentifierKind.digest.rawValue] + Array("importer".utf8) + number
    return Identifier(bytes: bytes).map { RecordIdentity(tag: tag, identifier: $0) }
  }

  private static func place(of keyIdentifier: RawSpan, in places: Range<Int>) -> Int? {
    let bytes = keyIdentifier.withUnsafeBytes { Array($0) }
    guard bytes.count == 17, bytes.first == IdentifierKind.digest.rawValue,
      bytes[1..<9].elementsEqual("importer".utf8)
    else { return nil }
    let place = bytes[9...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: place).flatMap { places.contains($0) ? $0 : nil }
  }

  private static func unnamed(_ place: Int, _ keyIdentifier: RawSpan, _ identity: RecordIdentity)
    -> RecordIdentity
  {
    guard self.place(of: keyIdentifier, in: place..<(place + 1)) != nil else { return identity }
    return unnamed(place, tag: identity.tag) ?? identity
  }
}
