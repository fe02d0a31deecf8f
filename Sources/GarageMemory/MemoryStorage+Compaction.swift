public import GarageDriver

extension MemoryStorage: Compacting {
  /// Has nothing to do: what is removed is given back at once.
  public func compact(progress: (_ completed: Int, _ total: Int) throws -> Void) throws -> CompactionResult {
    try read { _ in CompactionResult(byteCountBefore: 0, byteCountAfter: 0) }
  }
}
