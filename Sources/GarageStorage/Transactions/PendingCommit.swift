/// What is to be known or done when a transaction has committed.
struct PendingCommit: ~Copyable {
  /// Texts that the transaction found in the store or put there: until then they are known inside it only.
  var newTexts: Set<TextName> = []
  /// What runs around the commit.
  var hooks = CommitHooks()
  /// The indexes that records have entries in, once they were asked for; nil within where there are none.
  var indexes: IndexCatalog??
  /// Why the changes must not be committed, although the verb that threw it left some behind.
  var failure: (any Error)?
  /// Whether the transaction is made again where another one came first: then it may count on what is only remembered.
  var isRepeated = false
  /// The type whose records are all that is changed, if that is known beforehand.
  var onlyTag: UInt64?
  /// How many verbs are decoding objects. Such a verb runs `init(from:)`, from which nothing can be changed.
  var decodingDepth = 0
}
