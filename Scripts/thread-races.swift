import Foundation
import Synchronization

// Races, and what is none but looks like one to a sanitizer that does not see what Swift's own libraries do. Tries whether
// ThreadSanitizer tells them apart with thread-runtime.c beside it, see sanitize.sh. Named by an argument, one at a time.

final class Counter {
  var value = 0
}

/// A part of a value that is copied on write.
final class Leaf {
  let numbers: UnsafeMutablePointer<Int>

  init() {
    numbers = .allocate(capacity: 8)
    numbers.initialize(repeating: 0, count: 8)
  }

  deinit { numbers.deallocate() }

  func copy() -> Leaf {
    let copy = Leaf()
    copy.numbers.update(from: numbers, count: 8)
    return copy
  }
}

struct Tree {
  var leaf = Leaf()

  var number: Int { leaf.numbers.pointee }

  mutating func set(_ number: Int) {
    if !isKnownUniquelyReferenced(&leaf) { leaf = leaf.copy() }
    leaf.numbers.pointee = number
  }
}

/// Holds a leaf, whose numbers are read without taking hold of the leaf itself.
final class Branch {
  let leaf: Leaf
  let numbers: UnsafeMutablePointer<Int>

  init(_ leaf: Leaf) {
    self.leaf = leaf
    numbers = leaf.numbers
  }
}

struct TallTree {
  var branch = Branch(Leaf())

  var number: Int { branch.numbers.pointee }

  /// Whoever lets go of the old branch last lets go of its leaf, which others may have read before.
  mutating func set(_ number: Int) {
    var leaf = branch.leaf
    branch = Branch(Leaf())
    if !isKnownUniquelyReferenced(&leaf) { leaf = leaf.copy() }
    leaf.numbers.pointee = number
    branch = Branch(leaf)
  }
}

final class Shared<Value>: @unchecked Sendable {
  // @unchecked: to be used wrongly.
  var value: Value
  let lock = Mutex(())

  init(_ value: Value) { self.value = value }

  func withLock<R>(_ body: (inout Value) -> R) -> R { lock.withLock { _ in body(&value) } }
}

@main struct Races {
  static let arrived = Atomic(0)

  /// Runs both on threads of their own, which begin at the same time; nothing else orders them.
  static func run(_ one: @escaping @Sendable (Int) -> Void, _ other: @escaping @Sendable (Int) -> Void) {
    let done = DispatchSemaphore(value: 0)
    for body in [one, other] {
      Thread.detachNewThread {
        arrived.add(1, ordering: .relaxed)
        while arrived.load(ordering: .relaxed) < 2 {}
        for number in 0..<20_000 { body(number) }
        done.signal()
      }
    }
    done.wait()
    done.wait()
  }

  static let isResumed = Atomic(false)

  /// Changes an object on another thread and then resumes a task, or the other way round, and then lets the task change it.
  static func resume(_ counter: Shared<Counter>, first: Bool) {
    let done = DispatchSemaphore(value: 0)
    Task {
      for _ in 0..<200 {
        isResumed.store(false, ordering: .relaxed)
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            if first { continuation.resume() }
            counter.value.value += 1
            if !first { continuation.resume() }
            isResumed.store(true, ordering: .relaxed)
          }
          // It comes too late to be woken.
          while !isResumed.load(ordering: .relaxed) {}
        }
        counter.value.value += 1
      }
      done.signal()
    }
    done.wait()
  }

  static func main() {
    let counter = Shared(Counter())
    let tree = Shared(Tree())
    let tallTree = Shared(TallTree())
    let numbers = Shared([Int](repeating: 0, count: 8))
    let buffer = Shared(ManagedBuffer<Int, Int>.create(minimumCapacity: 8) { _ in 0 })
    switch CommandLine.arguments.dropFirst().first {
    // Races.
    case "property": run({ counter.value.value = $0 }, { counter.value.value = -$0 })
    case "property-held":
      // Each takes hold of the object and lets it go again.
      @Sendable func set(_ number: Int) {
        let held = counter.withLock { $0 }
        held.value = number
        withExtendedLifetime(held) {}
      }
      run({ set($0) }, { set(-$0) })
    case "array": run({ numbers.value[3] = $0 }, { _ in _ = numbers.value[3] })
    case "tree": run({ tree.value.set($0) }, { _ in _ = tree.value.number })
    case "tree-in-place":
      // As if nobody else held it.
      run({ number in tree.withLock { $0.leaf.numbers.pointee = number } }, { _ in _ = tree.withLock { $0 }.number })

    case "continuation": resume(counter, first: true)

    // No races: who changes something has it alone.
    case "no-array": run({ number in numbers.withLock { $0[3] = number } }, { _ in _ = numbers.withLock { $0 }[3] })
    case "no-tree":
      run({ number in tree.withLock { $0.set(number) } }, { _ in _ = tree.withLock { $0 }.number })
    case "no-tree-freed":
      run({ _ in tree.withLock { $0 = Tree() } }, { _ in _ = tree.withLock { $0 }.number })
    case "no-tall-tree":
      run({ number in tallTree.withLock { $0.set(number) } }, { _ in _ = tallTree.withLock { $0 }.number })
    case "no-buffer":
      run(
        { number in
          buffer.withLock { buffer in
            if !isKnownUniquelyReferenced(&buffer) { buffer = .create(minimumCapacity: 8) { _ in 0 } }
            buffer.header = number
          }
        }, { _ in _ = buffer.withLock { $0 }.header })
    case "no-continuation": resume(counter, first: false)
    default: fatalError("which one?")
    }
  }
}
