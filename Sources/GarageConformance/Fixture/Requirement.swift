internal import GarageDriver

/// What a driver has to say of itself for a check to have anything to check.
struct Requirement: Sendable {
  /// Why there is nothing to check, or nil where there is.
  let reasonToSkip: @Sendable (StorageInfo, ConformanceOptions) -> String?
  /// Whether there can be a reason.
  var isConditional = true

  init(_ reasonToSkip: @escaping @Sendable (StorageInfo, ConformanceOptions) -> String?) {
    self.reasonToSkip = reasonToSkip
  }

  /// Binds every driver.
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

  /// Keys so long that they are refused have to fit into memory.
  static let limitsKeys = Requirement { info, _ in
    info.maximumKeyByteCount < 1 << 28 ? nil : "info.maximumKeyByteCount is beyond what memory holds"
  }

  /// Values so large that they are refused have to fit into the address space.
  static let limitsValues = Requirement { info, _ in
    info.maximumValueByteCount < 1 << 44 ? nil : "info.maximumValueByteCount is beyond what memory holds"
  }

  /// Without a second executable there is none to guard against, and only a store in memory needs none.
  static let isGuarded = Requirement { info, options in
    if info.isSharedAcrossProcesses { return "info.isSharedAcrossProcesses is true: nobody is kept out" }
    return info.isDurable ? nil : hasChild.reasonToSkip(info, options)
  }

  /// An executable, for what a driver in memory is not asked for without one.
  static let hasChild = Requirement { _, options in
    options.childExecutable == nil ? "ConformanceOptions.childExecutable is nil" : nil
  }

  /// Both.
  static func && (left: Requirement, right: Requirement) -> Requirement {
    Requirement { left.reasonToSkip($0, $1) ?? right.reasonToSkip($0, $1) }
  }
}
