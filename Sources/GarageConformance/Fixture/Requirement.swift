internal import GarageDriver

/// The facts that a driver must state about itself for a check to have anything to check.
struct Requirement: Sendable {
  /// The reason why there is nothing to check; nil if there is something.
  let reasonToSkip: @Sendable (StorageInfo, ConformanceOptions) -> String?
  /// Whether there can be such a reason.
  var isConditional = true

  init(_ reasonToSkip: @escaping @Sendable (StorageInfo, ConformanceOptions) -> String?) {
    self.reasonToSkip = reasonToSkip
  }

  /// Applies to every driver.
  static let none = {
    var none = Requirement { _, _ in nil }
    none.isConditional = false
    return none
  }()

  static let isDurable = Requirement { info, _ in
    info.isDurable ? nil : "info.isDurable is false: nothing is promised beyond the process"
  }

  static let isNotDurable = Requirement { info, _ in
    info.isDurable ? "info.isDurable is true: other checks hold the driver to that" : nil
  }

  static let isShared = Requirement { info, _ in
    info.isSharedAcrossProcesses ? nil : "info.isSharedAcrossProcesses is false: one process at a time"
  }

  static let readsDuringWrite = Requirement { info, _ in
    info.readsDuringWrite
      ? nil : "info.readsDuringWrite is false: readers and the writer may wait for each other"
  }

  static let readersWait = Requirement { info, _ in
    info.readsDuringWrite ? "info.readsDuringWrite is true: other checks hold the driver to that" : nil
  }

  static let oneWriter = Requirement { info, _ in
    info.writersConflict ? "info.writersConflict is true: other checks hold the driver to that" : nil
  }

  static let writersConflict = Requirement { info, _ in
    info.writersConflict ? nil : "info.writersConflict is false: one writer at a time"
  }

  static let isSealed = Requirement { info, _ in
    info.isSealed ? nil : "info.isSealed is false: values may be stored as they are"
  }

  static let canFork = Requirement { _, _ in
    #if os(Linux) || os(macOS) || os(FreeBSD)
      return nil
    #else
      return "a program on this system cannot fork"
    #endif
  }

  /// Keys that are too long for the driver must still fit into memory.
  static let limitsKeys = Requirement { info, _ in
    info.maximumKeyByteCount < 1 << 28 ? nil : "info.maximumKeyByteCount is beyond what memory holds"
  }

  /// Values that are too large for the driver must still fit into the address space.
  static let limitsValues = Requirement { info, _ in
    info.maximumValueByteCount < 1 << 44 ? nil : "info.maximumValueByteCount is beyond what memory holds"
  }

  /// Without a child executable no second process opens the store. Only a store in memory needs no such executable.
  static let isGuarded = Requirement { info, options in
    if info.isSharedAcrossProcesses { return "info.isSharedAcrossProcesses is true: nobody is kept out" }
    return info.isDurable ? nil : hasChild.reasonToSkip(info, options)
  }

  /// There is a child executable. A driver in memory is not required to have one.
  static let hasChild = Requirement { _, options in
    options.childExecutable == nil ? "ConformanceOptions.childExecutable is nil" : nil
  }

  /// Requires both.
  static func && (left: Requirement, right: Requirement) -> Requirement {
    Requirement { left.reasonToSkip($0, $1) ?? right.reasonToSkip($0, $1) }
  }
}
