/// The fields of a map in a ``RecordValue``: values by key, in the order of the keys.
///
/// Two are equal when they hold the same values under the same keys, in whatever order.
public struct RecordFields: Sendable {
  /// The keys in their order.
  public private(set) var keys: [String] = []
  private var values: [String: RecordValue] = [:]
  /// The fields whose keys are the same text as a key in `values`, and have other bytes ("é" in one scalar and in two). A type may
  /// have written both, and tells them apart when it reads them.
  private var twins: [(key: String, value: RecordValue)] = []
  /// The keys of the shape that a map was read with, also those without a value. For an object of a mapped class a key without
  /// a value is not the same as an unknown key. A key that is taken out later is not among them any more.
  private(set) var shapedKeys: [String] = []
  /// The same as they were when it was read.
  private(set) var readKeys: [String] = []

  /// No fields.
  public init() {}

  /// No fields, in a map of that shape.
  init(shapedKeys: [String]) { (self.shapedKeys, readKeys) = (shapedKeys, shapedKeys) }

  /// No fields, in a map of the shape of another one.
  init(shapeOf other: RecordFields) { (shapedKeys, readKeys) = (other.shapedKeys, other.readKeys) }

  /// How many fields there are.
  public var count: Int { keys.count }

  /// Whether there are none.
  public var isEmpty: Bool { keys.isEmpty }

  /// Whether two keys are the same text in other bytes.
  var hasTwins: Bool { !twins.isEmpty }

  /// The value under a key; nil where there is none. A new key comes last; setting nil removes the field.
  ///
  /// A key finds its value also where that stands under the same text in other bytes. Where both are there, it is the one with
  /// the same bytes.
  public subscript(key: String) -> RecordValue? {
    get { twins.isEmpty ? values[key] : twin(key).map { twins[$0].value } ?? values[key] }
    set {
      if !twins.isEmpty && setTwin(key, newValue) { return }
      let before = values[key]
      values[key] = newValue
      if before == nil, newValue != nil { keys.append(key) }
      if before != nil, newValue == nil { keys.removeAll { $0 == key } }
      if newValue == nil, !shapedKeys.isEmpty { shapedKeys.removeAll { $0 == key } }
    }
  }

  /// Adds a field as it was read: another one whose key is the same text in other bytes stays.
  mutating func add(_ key: String, _ value: RecordValue) {
    if values[key] != nil, twin(key) == nil, !keys.contains(where: { $0.utf8.elementsEqual(key.utf8) }) {
      twins.append((key, value))
      keys.append(key)
    } else {
      self[key] = value
    }
  }

  /// The place of a key among the twins.
  private func twin(_ key: String) -> Int? { twins.firstIndex { $0.key.utf8.elementsEqual(key.utf8) } }

  /// Sets a field that is, or has, a twin; returns whether that is all.
  private mutating func setTwin(_ key: String, _ value: RecordValue?) -> Bool {
    if let place = twin(key) {
      if let value {
        twins[place].value = value
      } else {
        twins.remove(at: place)
        keys.removeAll { $0.utf8.elementsEqual(key.utf8) }
      }
      return true
    }
    guard value == nil, let place = twins.firstIndex(where: { $0.key == key }) else { return false }
    // A twin takes the place of the field that goes.
    let rest = twins.remove(at: place)
    let other = twins.filter { $0.key == key }.map(\.key) + [rest.key]
    keys.removeAll { held in held == key && !other.contains { $0.utf8.elementsEqual(held.utf8) } }
    values[key] = nil
    values[rest.key] = rest.value
    return true
  }

  /// Gives the field another key, in its place. A field that has that key already is replaced; where there is
  /// no field to rename nothing happens.
  public mutating func rename(_ key: String, to newKey: String) {
    guard key != newKey else { return }
    if hasTwins, let value = self[key] {
      // The other field of that text keeps its key.
      self[key] = nil
      self[newKey] = value
      return renameShaped(key, to: newKey)
    }
    guard let value = values[key] else {
      // A key without a value has none under its new name, either.
      if values[newKey] == nil, isWithoutValue(key) { renameShaped(key, to: newKey) }
      return
    }
    self[newKey] = nil
    values[key] = nil
    values[newKey] = value
    if let place = keys.firstIndex(of: key) { keys[place] = newKey }
    renameShaped(key, to: newKey)
  }

  private mutating func renameShaped(_ key: String, to newKey: String) {
    if !shapedKeys.contains(key) { return }
    shapedKeys.removeAll { $0 == newKey }
    shapedKeys = shapedKeys.map { $0 == key ? newKey : $0 }
  }

  /// Whether the map had the key, and no value there.
  func isWithoutValue(_ key: String) -> Bool { values[key] == nil && shapedKeys.contains(key) }
}

extension RecordFields: Hashable {
  /// Whether both hold the same values under the same keys.
  public static func == (left: RecordFields, right: RecordFields) -> Bool {
    if !left.hasTwins && !right.hasTwins { return left.values == right.values }
    return left.count == right.count
      && left.allSatisfy { key, value in
        right.contains { $0.key.utf8.elementsEqual(key.utf8) && $0.value == value }
      }
  }

  /// Hashes keys and values, whatever their order.
  public func hash(into hasher: inout Hasher) {
    if hasTwins { hasher.combine(count) } else { hasher.combine(values) }
  }
}

extension RecordFields: Sequence {
  /// Goes through the fields in the order of the keys.
  public func makeIterator() -> AnyIterator<(key: String, value: RecordValue)> {
    var next = 0
    return AnyIterator {
      while next < keys.count {
        defer { next += 1 }
        if let value = self[keys[next]] { return (keys[next], value) }
      }
      return nil
    }
  }
}

extension RecordFields: ExpressibleByDictionaryLiteral {
  /// The fields in the order of the literal; of equal keys the last counts.
  public init(dictionaryLiteral elements: (String, RecordValue)...) {
    for (key, value) in elements { self[key] = value }
  }
}
