/// What has to be remembered or done when a transaction has committed.
struct PendingCommit: ~Copyable {
  /// Texts that the transaction found in the store or put there. Until the commit only the transaction may count on them.
  var newTexts: Set<TextName> = []
  /// What runs around the commit.
  var hooks = CommitHooks()
  /// The indexes that records have entries in. Nil until they are asked for, `.some(nil)` where there are none.
  var indexes: IndexCatalog??
  /// How many indexes types had declared when they were asked for.
  var declaredCount = 0
  /// The error of a verb that left some of its changes behind. The transaction must not be committed.
  var failure: (any Error)?
  /// Whether the transaction is repeated if another one came first. It may then count on knowledge that could be out of date.
  var isRepeated = false
  /// The type whose records alone are changed, if that is known beforehand.
  var onlyTag: UInt64?
  /// How many verbs are decoding objects. Such a verb runs `init(from:)`, from which nothing can be changed.
  var decodingDepth = 0
}
