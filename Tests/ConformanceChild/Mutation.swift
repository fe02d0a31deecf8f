/// A rule of the contract that a mutant breaks, and no other.
enum Mutation: String, CaseIterable, Sendable {
  // Transactions
  case bodyRunsTwice
  case changedError
  case lostRollBack
  case lostRollBackOfErrors
  case dirtyRead
  case ignoredPoison
  case swallowedCommitError
  case lastErrorInsteadOfFirst
  case halfACommit

  // Snapshots
  case driftingSnapshot
  case snapshotFromFirstGet
  case readersWaitForTheWriter

  // Nesting
  case nestedWriteDeadlock
  case nestedWriteThroughASecondValue
  case readsWithoutLimit
  case twoWriters

  // Lent bytes
  case aliasedLentBytes
  case changeWhileLent
  case changeWhileNothingIsLent
  case lentForever

  // Keys and values
  case signedByteOrder
  case shortKeysFirst
  case emptyValueIsNone
  case cutKeys
  case cutValues

  // Operations
  case upperBoundIncluded
  case lowerBoundExcluded
  case ignoredDirection
  case ignoredStop
  case crossedBoundsHoldKeys
  case sortedMultiGet
  case forgottenRepetitions
  case emptyValueIsNotContained
  case keyScanGoesForwardOnly
  case keyScanIncludesTheUpperBound
  case missingKeyIsAnError
  case removesOneBlock

  // Life
  case usableAfterItsEnd
  case usableAfterClose
  case closeDoesNotWait
  case closeInsideATransaction
  case unnoticedFork

  // Processes and crashes
  case staleRead
  case unlockedFile
  case unflushedCommit
  case tornCommit

  /// The check that was made for this one.
  var check: String {
    switch self {
    case .bodyRunsTwice: "transaction/write-runs-its-body-once"
    case .changedError: "transaction/write-passes-errors-on"
    case .lostRollBack: "transaction/roll-back-undoes-put"
    case .lostRollBackOfErrors: "transaction/throwing-undoes-put"
    case .dirtyRead: "transaction/nothing-is-seen-before-commit"
    case .ignoredPoison: "poison/by-a-failed-put"
    case .swallowedCommitError: "poison/by-a-failed-remove"
    case .lastErrorInsteadOfFirst: "poison/throws-the-first-error"
    case .halfACommit: "race/one-generation"
    case .driftingSnapshot: "snapshot/lasts-to-the-end"
    case .snapshotFromFirstGet: "snapshot/begins-on-entry"
    case .readersWaitForTheWriter: "snapshot/readers-pass-the-writer"
    case .nestedWriteDeadlock: "nesting/write-in-write"
    case .nestedWriteThroughASecondValue: "nesting/write-in-write-through-a-second-value"
    case .readsWithoutLimit: "nesting/reads-nest-64-deep"
    case .twoWriters: "race/four-writers-through-1-values"
    case .aliasedLentBytes: "lent/two-values-are-distinct"
    case .changeWhileLent: "lent/no-put-in-a-get"
    case .changeWhileNothingIsLent: "lent/no-put-in-a-get-of-nothing"
    case .lentForever: "lent/changes-go-on-after-the-closure"
    case .signedByteOrder: "key/ordered-by-unsigned-bytes"
    case .shortKeysFirst: "key/a-prefix-comes-first"
    case .emptyValueIsNone: "value/an-empty-value-is-a-value"
    case .cutKeys: "key/put-rejects-long-keys"
    case .cutValues: "value/of-1-MiB"
    case .upperBoundIncluded: "scan/forward-excludes-the-upper-bound"
    case .lowerBoundExcluded: "scan/forward-includes-the-lower-bound"
    case .ignoredDirection: "scan/backward"
    case .ignoredStop: "scan/forward-stops-when-told"
    case .crossedBoundsHoldKeys: "scan/forward-crossed-bounds"
    case .sortedMultiGet: "multi-get/unsorted"
    case .forgottenRepetitions: "multi-get/repeated-keys"
    case .emptyValueIsNotContained: "contains/an-empty-value-is-a-value"
    case .keyScanGoesForwardOnly: "contains/keys-backward-stops-when-told"
    case .keyScanIncludesTheUpperBound: "contains/keys-forward"
    case .missingKeyIsAnError: "remove/a-missing-key-is-no-error"
    case .removesOneBlock: "remove/long-ranges"
    case .usableAfterItsEnd: "ended/get-after-read"
    case .usableAfterClose: "life/closed-stores-throw"
    case .closeDoesNotWait: "life/close-waits-for-a-read"
    case .closeInsideATransaction: "life/no-close-inside-read"
    case .unnoticedFork: "life/forked-children-are-refused"
    case .staleRead: "process/its-commits-are-seen-here"
    case .unlockedFile: "process/4-processes-count"
    case .unflushedCommit: "crash/without-close"
    case .tornCommit: "crash/wide-transactions"
    }
  }

  /// Whether the mutant waits for ever, which only time can tell.
  var isDeadlock: Bool {
    switch self {
    case .nestedWriteDeadlock, .nestedWriteThroughASecondValue, .readersWaitForTheWriter: true
    default: false
    }
  }
}
