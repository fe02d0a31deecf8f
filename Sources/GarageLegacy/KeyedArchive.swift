internal import Foundation

/// Reads an archive of `NSKeyedArchiver` without `NSKeyedUnarchiver`, which ends the process on classes that it was not told
/// about, and on some damaged archives.
final class KeyedArchive {
  /// The reason why an archive is not read.
  struct Fault: Error, CustomStringConvertible {
    let description: String
    static let damaged = Fault(description: "it is a damaged archive")
  }

  private let objects: [PropertyListValue]
  private let root: Int
  /// The objects of classes other than Foundation's, by place, so that a shared object is made once.
  private var made: [Int: NSObject] = [:]
  /// How many objects may still be made. Without a limit, shared objects could make a small archive a vast one.
  private var budget: Int

  private static let maximumDepth = 128

  /// Nil if the data are no keyed archive.
  init?(_ data: Data) {
    guard let list = BinaryPropertyList.value(data), list["$archiver"]?.string == "NSKeyedArchiver",
      let objects = list["$objects"]?.array, let root = list["$top"]?["root"]?.reference
    else { return nil }
    self.objects = objects
    self.root = root
    budget = 64 + data.count
  }

  // MARK: - Classes

  /// The classes of an object, its own first.
  private func classes(of object: PropertyListValue) throws -> [String] {
    guard let place = object["$class"]?.reference, objects.indices.contains(place),
      let name = objects[place]["$classname"]?.string
    else { throw Fault.damaged }
    let names = objects[place]["$classes"]?.array?.compactMap(\.string) ?? []
    return names.first == name ? names : [name] + names
  }

  /// The name of the root's class, if the root is an object with fields.
  func rootClass() throws -> String? {
    guard objects.indices.contains(root) else { throw Fault.damaged }
    guard case .dictionary = objects[root] else { return nil }
    return try classes(of: objects[root]).first
  }

  /// The names of all classes in the archive.
  ///
  /// - Throws: ``Fault`` if a reference in it leads nowhere, or back to its own object.
  func checkedClasses() throws -> Set<String> {
    var names: Set<String> = []
    try checkReferences()
    for object in objects {
      guard case .dictionary(let fields) = object else { continue }
      if let name = fields["$classname"] {
        guard let name = name.string, fields["$classes"]?.array?.first?.string == name else {
          throw Fault.damaged
        }
        names.insert(name)
      } else {
        names.insert(try classes(of: object)[0])
      }
    }
    return names
  }

  /// The places that a value refers to.
  private func places(in value: PropertyListValue) -> [Int] {
    switch value {
    case .reference(let place): [place]
    case .array(let elements): elements.flatMap(places)
    case .dictionary(let fields): fields.values.flatMap(places)
    default: []
    }
  }

  /// Checks the references, because unarchiving objects that refer to each other in a circle, or in a long chain, exhausts the
  /// stack.
  private func checkReferences() throws {
    var depths: [Int?] = Array(repeating: nil, count: objects.count)
    var isOpen = Array(repeating: false, count: objects.count)
    func visit(_ place: Int, _ level: Int) throws -> Int {
      guard objects.indices.contains(place), !isOpen[place], level < KeyedArchive.maximumDepth else {
        throw Fault.damaged
      }
      if let depth = depths[place] { return depth }
      isOpen[place] = true
      defer { isOpen[place] = false }
      var depth = 0
      for other in places(in: objects[place]) { depth = max(depth, try visit(other, level + 1) + 1) }
      guard depth < KeyedArchive.maximumDepth else { throw Fault.damaged }
      depths[place] = depth
      return depth
    }
    for place in objects.indices { _ = try visit(place, 0) }
  }

  // MARK: - Objects of Foundation

  /// The classes whose objects ``rootObject()`` makes, including the mutable ones.
  static let readsItself: Set<String> = Set(
    ["String", "Data", "Array", "Set", "OrderedSet", "Dictionary"].flatMap { ["NS\($0)", "NSMutable\($0)"] }
      + ["NSDate", "NSUUID", "NSURL"])

  /// The root, made of strings, numbers, dates, data, URLs, UUIDs, arrays, sets and dictionaries, and of objects that
  /// ``makesOthers`` makes.
  ///
  /// - Throws: ``Fault``, which names a class that is none of these.
  func rootObject() throws -> NSObject { try object(root, depth: 0) }

  /// Makes an object of another class. Nil if there are no such objects.
  var makesOthers: ((_ className: String, _ fields: PropertyListValue, _ depth: Int) throws -> NSObject)?

  func object(_ place: Int, depth: Int) throws -> NSObject {
    budget -= 1
    guard budget >= 0, depth < KeyedArchive.maximumDepth, objects.indices.contains(place) else {
      throw Fault.damaged
    }
    switch objects[place] {
    case .string(let text):
      if text == "$null", place == 0 { throw Fault(description: "it is an archive of nothing") }
      return NSString(string: text)
    case .bool(let value): return NSNumber(value: value)
    case .integer(let value): return NSNumber(value: value)
    case .unsigned(let value): return NSNumber(value: value)
    case .real(let value): return NSNumber(value: value)
    case .data(let data): return NSData(data: data)
    case .date(let seconds): return NSDate(timeIntervalSinceReferenceDate: seconds)
    case .dictionary:
      if let object = made[place] { return object }
      let object = try instance(objects[place], depth)
      made[place] = object
      return object
    case .null, .reference, .array: throw Fault.damaged
    }
  }

  private func instance(_ fields: PropertyListValue, _ depth: Int) throws -> NSObject {
    let classes = try classes(of: fields)
    for name in classes {
      switch name {
      case "NSString": return NSString(string: try text(fields))
      case "NSData": return NSData(data: try data(fields, ["NS.data", "NS.bytes"]))
      case "NSDate": return NSDate(timeIntervalSinceReferenceDate: try seconds(fields))
      case "NSUUID": return try uuid(fields)
      case "NSURL": return try url(fields, depth)
      case "NSArray": return NSArray(array: try elements(fields, depth))
      case "NSSet": return NSSet(array: try distinct(elements(fields, depth)))
      case "NSOrderedSet": return NSOrderedSet(array: try distinct(elements(fields, depth)))
      case "NSDictionary": return try dictionary(fields, depth)
      default: continue
      }
    }
    guard let makesOthers else { throw Fault(description: "it is an archive of a \(classes[0])") }
    return try makesOthers(classes[0], fields, depth)
  }

  private func text(_ fields: PropertyListValue) throws -> String {
    if let text = fields["NS.string"]?.string { return text }
    guard let text = String(validating: try data(fields, ["NS.bytes"]), as: UTF8.self) else {
      throw Fault.damaged
    }
    return text
  }

  func data(_ fields: PropertyListValue, _ names: [String]) throws -> Data {
    for name in names {
      switch fields[name] {
      case .data(let data): return data
      case .reference(let place):
        if objects.indices.contains(place), case .data(let data) = objects[place] { return data }
      default: continue
      }
    }
    throw Fault.damaged
  }

  private func seconds(_ fields: PropertyListValue) throws -> Double {
    switch fields["NS.time"] {
    case .real(let seconds): return seconds
    case .integer(let seconds): return Double(seconds)
    default: throw Fault.damaged
    }
  }

  private func uuid(_ fields: PropertyListValue) throws -> NSUUID {
    let bytes = [UInt8](try data(fields, ["NS.uuidbytes"]))
    guard bytes.count == 16 else { throw Fault.damaged }
    return NSUUID(uuidBytes: bytes)
  }

  private func url(_ fields: PropertyListValue, _ depth: Int) throws -> NSURL {
    guard let relative = fields["NS.relative"]?.reference,
      let text = try object(relative, depth: depth + 1) as? NSString
    else { throw Fault.damaged }
    var base: URL?
    if let place = fields["NS.base"]?.reference, place != 0 {
      base = (try object(place, depth: depth + 1) as? NSURL) as URL?
    }
    guard let url = URL(string: "\(text)", relativeTo: base) else { throw Fault.damaged }
    return url.absoluteURL as NSURL
  }

  private func elements(_ fields: PropertyListValue, _ depth: Int) throws -> [NSObject] {
    if let places = fields["NS.objects"]?.array {
      return try places.map { place in
        guard let place = place.reference else { throw Fault.damaged }
        return try object(place, depth: depth + 1)
      }
    }
    var elements: [NSObject] = []
    while let place = fields["NS.object.\(elements.count)"]?.reference {
      elements.append(try object(place, depth: depth + 1))
    }
    return elements
  }

  /// Without texts that are there before, be it in other bytes. Such ones of Foundation are equal and may hash differently on Linux,
  /// where a set or dictionary that gets both can end the process.
  private func distinct(_ elements: [NSObject]) -> [NSObject] {
    var texts: Set<String> = []
    return elements.filter { element in
      (element as? NSString).map { texts.insert("\($0)").inserted } ?? true
    }
  }

  private func dictionary(_ fields: PropertyListValue, _ depth: Int) throws -> NSDictionary {
    guard let keys = fields["NS.keys"]?.array, let places = fields["NS.objects"]?.array,
      keys.count == places.count
    else { throw Fault.damaged }
    // By texts of Swift first, for the same reason.
    var values: [String: NSObject] = [:]
    for (key, value) in zip(keys, places) {
      guard let key = key.reference, let value = value.reference,
        let name = try object(key, depth: depth + 1) as? NSString
      else { throw Fault(description: "it is an archive of a dictionary whose keys are no text") }
      values["\(name)"] = try object(value, depth: depth + 1)
    }
    let dictionary = NSMutableDictionary()
    for (key, value) in values { dictionary[NSString(string: key)] = value }
    return dictionary
  }
}
