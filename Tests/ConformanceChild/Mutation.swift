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
  case visitorsErrorPoisons
  case retryableMistakes
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
  case aliasedLongMultiGets
  case changeWhileLent
  case changeWhileNothingIsLent
  case lentForever
  case samePutWhileLent
  case missingRemovalWhileLent
  case emptyRangeWhileLent

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
  case lostMissingAtTheEnd
  case wrongKeysFirst
  case emptyValueIsNotContained
  case keyScanGoesForwardOnly
  case keyScanIncludesTheUpperBound
  case lostLastOfAll
  case keptFirstOfEqualKeys
  case noneOfAllWhileLent
  case missingKeyIsAnError
  case removesOneBlock
  case endlessMultiGet
  case endlessScan
  case endlessStop

  // What only shows when there is much of it
  case pagesOf100
  case pagesOf256
  case pagesOf10000
  case pagesOfMultiGets
  case lostRemovalBeyond130
  case lostRemovalBeyond300
  case lostRemovalBeyond1000
  case removesFewOwnPuts
  case removes10000Keys
  case scanOf2000OwnPuts
  case backwardFromTheLastCommit
  case keptFirstPutOf5000
  case keptFirstPutOf100KB
  case lostPutBeyond30000
  case scanOf65536Keys
  case pagesOfKeyScans
  case endlessKeyStop
  case keyScanOf1000Keys
  case keyScanOf2000OwnPuts
  case containsOf2000OwnPuts
  case dirtyReadBeyond5000
  case dirtyReadBeyond20MB
  case readersWaitBeyond5000
  case removeAllKeepsLargeOnes
  case putAllKeepsLargeOnes
  case putAllOf1024
  case putAllOfAnySize
  case lostOverwriteOfTheSameLength

  // Life
  case usableAfterItsEnd
  case usableAfterClose
  case closeDoesNotWait
  case closeInsideATransaction
  case unnoticedFork
  case emptyRangeAfterItsEnd
  case leakedDescriptor
  case registryOfPaths

  // What a driver says of itself
  case claimsToForget
  case claimsToWait
  case claimsToSeal
  case claimsToBeAlone
  case claimsToReadOnly
  case readOnlyAfterTheBody
  case readOnlyMakesAStore
  case claimsLongKeys

  // Several writers
  case snapshotWriters
  case readCommittedWriters
  case unseenRanges
  case unseenBlindWrites
  case refusesAtWhim

  // Processes and crashes
  case staleRead
  case unlockedFile
  case unflushedCommit
  case tornCommit

  // Signals
  case unsignalledCommit
  case signalledOwnCommit
  case markBehindTheWriter

  // What a driver may offer besides
  case deferredReadWithoutSnapshot
  case deferredReadAfterClose
  case backupOfTwoStates
  case backupInItsPlace
  case compactingLosesAnEntry
  case complainsOfSoundStores

  // No room
  case unnotedEngineError
  case endsTheProcess

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
    case .visitorsErrorPoisons: "poison/not-by-a-visitors-error"
    case .retryableMistakes: "info/mistakes-are-not-retryable"
    case .halfACommit: "race/one-generation"
    case .driftingSnapshot: "snapshot/lasts-to-the-end"
    case .snapshotFromFirstGet: "snapshot/begins-on-entry"
    case .readersWaitForTheWriter: "snapshot/readers-pass-the-writer"
    case .nestedWriteDeadlock: "nesting/write-in-write"
    case .nestedWriteThroughASecondValue: "nesting/write-in-write-through-a-second-value"
    case .readsWithoutLimit: "nesting/reads-nest-64-deep"
    case .twoWriters: "race/four-writers-through-1-values"
    case .aliasedLentBytes: "lent/two-values-are-distinct"
    case .aliasedLongMultiGets: "lent/multi-got-values-outlast-long-multi-gets"
    case .changeWhileLent: "lent/no-put-in-a-get"
    case .changeWhileNothingIsLent: "lent/no-put-in-a-get-of-nothing"
    case .lentForever: "lent/changes-go-on-after-the-closure"
    case .samePutWhileLent: "lent/no-put-of-the-same-value-in-a-get"
    case .missingRemovalWhileLent: "lent/no-remove-of-a-missing-key-in-a-get"
    case .emptyRangeWhileLent: "lent/no-remove-all-of-crossed-bounds-in-a-scan"
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
    case .lostMissingAtTheEnd: "multi-get/missing-keys-anywhere"
    case .wrongKeysFirst: "multi-get/a-wrong-key-throws-in-its-turn"
    case .emptyValueIsNotContained: "contains/an-empty-value-is-a-value"
    case .keyScanGoesForwardOnly: "contains/keys-backward-stops-when-told"
    case .keyScanIncludesTheUpperBound: "contains/keys-forward"
    case .lostLastOfAll: "put-all/puts-all"
    case .keptFirstOfEqualKeys: "put-all/the-last-of-equal-keys-stays"
    case .noneOfAllWhileLent: "put-all/no-change-while-bytes-are-lent"
    case .missingKeyIsAnError: "remove/a-missing-key-is-no-error"
    case .removesOneBlock: "remove/long-ranges"
    case .endlessMultiGet: "multi-get/an-error-ends-it-anywhere"
    case .endlessScan: "scan/forward-ends-when-told-anywhere"
    case .endlessStop: "scan/backward-ends-when-told-anywhere"
    case .pagesOf100, .pagesOf10000: "snapshot/forward-scans-show-one-commit"
    case .pagesOf256: "snapshot/backward-scans-show-one-commit"
    case .pagesOfMultiGets: "snapshot/multi-gets-show-one-commit"
    case .lostRemovalBeyond130, .lostRemovalBeyond300, .lostRemovalBeyond1000:
      "large/removals-between-many-puts"
    case .removesFewOwnPuts, .removes10000Keys: "large/ranges-of-own-and-committed-keys"
    case .scanOf2000OwnPuts, .backwardFromTheLastCommit, .lostPutBeyond30000:
      "large/a-write-of-100000-changes"
    case .keptFirstPutOf5000: "large/roll-backs-of-every-size"
    case .keptFirstPutOf100KB: "large/roll-backs-of-many-bytes"
    case .scanOf65536Keys: "large/140000-keys"
    case .pagesOfKeyScans: "snapshot/forward-scans-of-keys-show-one-commit"
    case .keyScanOf1000Keys: "snapshot/backward-scans-of-keys-show-one-commit"
    case .endlessKeyStop: "contains/keys-backward-ends-when-told-anywhere"
    case .keyScanOf2000OwnPuts, .containsOf2000OwnPuts, .dirtyReadBeyond5000, .readersWaitBeyond5000:
      "large/a-write-of-100000-changes"
    case .dirtyReadBeyond20MB: "large/a-write-of-64-MiB-is-unseen"
    case .removeAllKeepsLargeOnes: "remove/ranges-of-large-values"
    case .putAllKeepsLargeOnes: "put-all/other-sizes-take-their-places"
    case .putAllOf1024: "put-all/puts-all"
    case .putAllOfAnySize: "put-all/rejects-too-large-ones"
    case .lostOverwriteOfTheSameLength: "value/an-overwrite-of-the-same-length"
    case .usableAfterItsEnd: "ended/get-after-read"
    case .usableAfterClose: "life/closed-stores-throw"
    case .closeDoesNotWait: "life/close-waits-for-a-read"
    case .closeInsideATransaction: "life/no-close-inside-read"
    case .unnoticedFork: "life/forked-children-are-refused"
    case .emptyRangeAfterItsEnd: "ended/scan-of-crossed-bounds-after-read"
    case .leakedDescriptor: "life/opening-and-closing-leak-nothing"
    case .registryOfPaths: "life/one-store-through-a-linked-folder"
    case .claimsToForget: "claim/what-passes-is-in-no-file"
    case .claimsToWait: "claim/waiting-readers-wait"
    case .claimsToSeal: "claim/sealed-values-are-in-no-file"
    case .claimsToBeAlone: "process/unshared-stores-are-guarded"
    case .claimsToReadOnly: "info/is-not-read-only"
    case .readOnlyAfterTheBody: "read-only/write-throws-before-its-body"
    case .readOnlyMakesAStore: "read-only/opening-makes-nothing"
    case .claimsLongKeys: "key/the-longest-keys"
    case .snapshotWriters: "conflict/no-write-skew-by-gets"
    case .readCommittedWriters: "conflict/a-lost-update-is-refused"
    case .unseenRanges: "conflict/no-phantoms-by-scans-of-1-ranges"
    case .unseenBlindWrites: "conflict/readers-see-the-order-of-writes"
    case .refusesAtWhim: "conflict/who-writes-alone-is-hardly-refused"
    case .staleRead: "process/its-commits-are-seen-here"
    case .unlockedFile: "process/4-processes-count"
    case .unflushedCommit: "crash/without-close"
    case .tornCommit: "crash/wide-transactions"
    case .unsignalledCommit: "signal/others-commits-change-the-mark"
    case .signalledOwnCommit: "signal/own-commits-leave-the-mark"
    case .markBehindTheWriter: "signal/asking-waits-for-nobody"
    case .deferredReadWithoutSnapshot: "deferred/lasts-to-the-end"
    case .deferredReadAfterClose: "deferred/closed-stores-throw"
    case .backupOfTwoStates: "care/a-backup-is-of-one-commit"
    case .backupInItsPlace: "care/a-backup-that-is-ended-leaves-nothing"
    case .compactingLosesAnEntry: "care/compacting-changes-nothing"
    case .complainsOfSoundStores: "care/a-sound-store-has-no-complaints"
    case .unnotedEngineError: "room/no-room-swallowed-with-300000-bytes"
    case .endsTheProcess: "room/no-room-for-large-values"
    }
  }

  /// How much there has to be of it until the mutant breaks its rule: puts, keys, bytes or visits.
  var threshold: Int {
    switch self {
    case .removesOneBlock, .putAllOf1024: 1024
    case .lostMissingAtTheEnd, .aliasedLongMultiGets: 8
    case .endlessMultiGet, .pagesOf256, .pagesOfMultiGets, .pagesOfKeyScans: 256
    case .endlessScan, .pagesOf100: 100
    case .endlessStop, .endlessKeyStop: 128
    case .pagesOf10000, .removes10000Keys: 10_000
    case .lostRemovalBeyond130: 130
    case .lostRemovalBeyond300, .backwardFromTheLastCommit: 300
    case .lostRemovalBeyond1000, .keyScanOf1000Keys: 1000
    case .removesFewOwnPuts: 200
    case .scanOf2000OwnPuts, .keyScanOf2000OwnPuts, .containsOf2000OwnPuts: 2000
    case .keptFirstPutOf5000, .dirtyReadBeyond5000, .readersWaitBeyond5000: 5000
    case .keptFirstPutOf100KB: 100_000
    case .lostPutBeyond30000: 30_000
    case .scanOf65536Keys: 65_536
    case .lostOverwriteOfTheSameLength, .removeAllKeepsLargeOnes, .putAllKeepsLargeOnes: 40_000
    case .dirtyReadBeyond20MB: 20 << 20
    default: 0
    }
  }

  /// Whether the mutant reads the pages of a scan from one commit after another.
  var readsInPages: Bool { [.pagesOf100, .pagesOf256, .pagesOf10000].contains(self) }

  /// Whether the mutant is one of a driver whose writers run beside each other.
  var hasSeveralWriters: Bool {
    [.snapshotWriters, .readCommittedWriters, .unseenRanges, .unseenBlindWrites, .refusesAtWhim]
      .contains(self)
  }

  /// Whether the mutant waits for ever, which only time can tell.
  var isDeadlock: Bool {
    switch self {
    case .nestedWriteDeadlock, .nestedWriteThroughASecondValue, .readersWaitForTheWriter, .registryOfPaths:
      true
    default: false
    }
  }
}
