/// What runs around the commit of a transaction that changed typed keys.
///
/// Unchecked: it moves with the unsaved changes from the thread that made them to the one that saves them, and
/// nobody else has it.
struct CommitHooks: @unchecked Sendable {
  /// The namespaces whose keys were changed. Nearly always there is one: no array for that.
  private var first: (any Namespace.Type)?
  /// Whether no other namespace is around the first.
  private var firstIsOutermost = false
  // Nil in place of empty arrays, so that no references are counted when this is made or released.
  private var others: [any Namespace.Type]?
  private var actions: [() -> Void]?

  /// Notes that keys in a namespace were changed.
  mutating func note<N: Namespace>(_ namespace: N.Type) { note(namespace, isOutermost: N.isOutermost) }

  /// The same where it is known whether another namespace is around it.
  mutating func note(_ namespace: any Namespace.Type, isOutermost: Bool) {
    guard let first else {
      self.first = namespace
      firstIsOutermost = isOutermost
      return
    }
    if ObjectIdentifier(first) != ObjectIdentifier(namespace) { noteAnother(namespace) }
  }

  private mutating func noteAnother(_ namespace: any Namespace.Type) {
    let isKnown = others?.contains { ObjectIdentifier($0) == ObjectIdentifier(namespace) } ?? false
    if !isKnown { others = (others ?? []) + [namespace] }
  }

  /// Notes what is to be done after the commit, behind the namespaces' hooks.
  mutating func afterCommit(_ action: @escaping () -> Void) {
    var all = actions.take() ?? []
    all.append(action)
    actions = all
  }

  /// Adds what later changes noted.
  mutating func append(_ later: CommitHooks) {
    if let namespace = later.first {
      note(namespace, isOutermost: later.firstIsOutermost)
    }
    for namespace in later.others ?? [] { note(any: namespace) }
    for action in later.actions ?? [] { afterCommit(action) }
  }

  private mutating func note(any namespace: any Namespace.Type) { note(namespace) }

  /// - Throws: what a hook throws. There must be no commit then.
  @inline(__always)
  func runBeforeCommit() throws {
    guard let first else { return }
    if firstIsAlone {
      try passingErrors { try first.preCommitHook() }
    } else {
      for namespace in namespaces { try passingErrors { try namespace.preCommitHook() } }
    }
  }

  @inline(__always)
  func runAfterCommit() {
    if let first {
      if firstIsAlone {
        first.postCommitHook()
      } else {
        for namespace in namespaces { namespace.postCommitHook() }
      }
    }
    if let actions { for action in actions { action() } }
  }

  @inline(__always)
  private var firstIsAlone: Bool { others == nil && firstIsOutermost }

  /// All namespaces in which keys were changed, directly or in namespaces inside them, each once: a namespace before those
  /// around it, and otherwise in the order in which they were changed.
  @inline(never)
  private var namespaces: [any Namespace.Type] {
    var all: [(namespace: any Namespace.Type, depth: Int)] = []
    for changed in [first].compactMap(\.self) + (others ?? []) {
      var chain: [any Namespace.Type] = []
      var next: (any Namespace.Type)? = changed
      while let namespace = next {
        chain.append(namespace)
        next = namespace.outer
      }
      for (index, namespace) in chain.enumerated() {
        let isKnown = all.contains { ObjectIdentifier($0.namespace) == ObjectIdentifier(namespace) }
        if !isKnown { all.append((namespace, chain.count - index)) }
      }
    }
    // Sorted by hand, because the order of equals has to stay.
    return all.enumerated().sorted { a, b in
      a.element.depth != b.element.depth ? a.element.depth > b.element.depth : a.offset < b.offset
    }.map(\.element.namespace)
  }
}
