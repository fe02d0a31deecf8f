internal import CGarage

/// How a key path gets its value.
enum PropertyForm {
  /// By reading it from where it is stored, in the object or in a value stored in it.
  case stored
  /// By code that also has a setter: a stored property of a class that others may inherit from, one that is observed or
  /// wrapped, or a computed one that can be set.
  case settable
  /// By code only, which belongs to an enum without payload: its raw value, or another property of its cases.
  case ofCase
  /// By other code only, by a subscript, or through an optional that must not be nil.
  case computed

  /// The form of a key path from an object to a value.
  init<Root, Value>(_ keyPath: KeyPath<Root, Value>) {
    if PropertyForm.isLayoutKnown {
      self = PropertyForm(reading: keyPath) ?? .computed
    } else if MemoryLayout<Root>.offset(of: keyPath) != nil {
      self = .stored
    } else {
      self = keyPath is WritableKeyPath<Root, Value> ? .settable : .computed
    }
  }

  /// Reads the form from the components in the key path's object (Swift ABI, `KeyPath.h`); nil if they are not understood.
  private init?(reading keyPath: AnyKeyPath) {
    let word = MemoryLayout<UInt>.size
    let object = UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
    // They begin behind the object's head and the name for key-value coding, and are aligned to words.
    let byteCount = Int(object.load(fromByteOffset: 3 * word, as: UInt32.self) & 0xFF_FFFF)
    var place = 4 * word
    let end = place + byteCount
    func isThere(_ count: Int) -> Bool { place + count <= end }
    func align() { place = (place + word - 1) & ~(word - 1) }
    self = .stored
    var type: UnsafeRawPointer?
    while isThere(4) {
      let head = object.load(fromByteOffset: place, as: UInt32.self)
      place += 4
      let payload = head & 0x7F_FFFF
      switch head >> 24 & 0x7F {
      case 1, 3:
        // A property stored in a structure or a class. An offset that is large, or was unknown at compile time, stands in the
        // next bytes.
        if payload == 0x7F_FFFF { place += 4 }
      case 2:
        let isSettable = head & 0x40_0000 != 0
        align()
        // The component's identity, a getter, and a setter.
        place += (isSettable ? 3 : 2) * word
        var isSubscript = false
        if head & 0x8_0000 != 0 {
          // Generic arguments, or these and a subscript's arguments: first their size in bytes, and the functions that copy
          // them.
          guard isThere(2 * word) else { return nil }
          let count = object.load(fromByteOffset: place, as: Int.self)
          let witnesses = object.load(fromByteOffset: place + word, as: UnsafeRawPointer.self)
          isSubscript = witnesses != garage_generic_key_path_witnesses()
          place += (head & 0x10 != 0 ? 3 : 2) * word + count
        }
        if isSettable && !isSubscript {
          if self != .ofCase { self = .settable }
        } else if let type, !isSubscript, TypeAddress(at: type).plainCaseCount != nil {
          self = .ofCase
        } else {
          self = .computed
          return
        }
      case 4:
        // 0 is optional chaining, 1 makes an optional of the result, 2 is forced unwrapping.
        if payload > 1 {
          self = .computed
          return
        }
      default: return nil
      }
      if place == end { return }
      // The type of the component's value.
      align()
      if isThere(word) { type = object.load(fromByteOffset: place, as: UnsafeRawPointer.self) }
      place += word
    }
    return nil
  }

  // MARK: - The layout

  /// Whether key paths have the expected layout. Checked once, with key paths whose form is known.
  static let isLayoutKnown: Bool = {
    let expected: [(AnyKeyPath, PropertyForm)] = [
      (\Sample.text, .stored), (\Sample.constant, .stored), (\Sample.inner.number, .stored),
      (\Sample.computed, .computed), (\Sample.both, .settable), (\Sample.observed, .settable),
      (\Sample.inner.computed, .computed), (\Sample.optional?.number, .stored),
      (\Sample.kind.rawValue, .ofCase), (\Sample.object.kind?.rawValue, .ofCase),
      (\Sample.kind.rawValue.count, .computed), (\Sample.optional?.computed, .computed),
      (\Sample.optional!.number, .computed),
      (\Sample.list[0], .computed), (\Sample.list.count, .computed), (\Sample.object.number, .stored),
      (\Sample.object.next?.next?.number, .stored), (\Sample.object.next?.both, .settable),
      (\Sample.object.next?.computed, .computed), (\SampleObject.constant, .stored),
      (generic(Sample.self), .settable),
    ]
    return expected.allSatisfy { PropertyForm(reading: $0) == $1 }
  }()

  /// Generic, so that the key path has the type as an argument.
  @inline(never)
  private static func generic<T: Numbered>(_ type: T.Type) -> AnyKeyPath { \T.both }

  private protocol Numbered {
    var both: Int { get set }
  }

  private enum Kind: String { case one, two }

  private struct Inner {
    var number = 0
    var computed: Int { number + 1 }
  }

  private struct Sample: Numbered {
    var text = ""
    let constant = 0
    var kind = Kind.one
    var inner = Inner()
    var optional: Inner?
    var list: [Int] = []
    var object = SampleObject()
    var observed = 0 { didSet { inner.number = observed } }
    var computed: Int { inner.number + 1 }
    var both: Int {
      get { inner.number + 1 }
      set { inner.number = newValue - 1 }
    }
  }

  private final class SampleObject {
    let constant = 0
    var number = 0
    var kind: Kind?
    var next: SampleObject?
    var computed: Int { number + 1 }
    var both: Int {
      get { number + 1 }
      set { number = newValue - 1 }
    }
  }
}
