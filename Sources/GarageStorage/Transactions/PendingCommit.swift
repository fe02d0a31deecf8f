/// What is to be known or done when a transaction has committed.
struct PendingCommit {
  /// Texts that the transaction found in the store or put there: until then they are known inside it only.
  var newTexts: Set<TextName> = []
  /// What runs around the commit.
  var hooks = CommitHooks()
  /// How many verbs are decoding objects. Such a verb runs `init(from:)`, from which nothing can be changed.
  var decodingDepth = 0
}
