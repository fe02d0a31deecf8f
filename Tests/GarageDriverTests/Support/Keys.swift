/// Eight bytes that stand in the order of the numbers.
func key(_ number: Int) -> [UInt8] {
  (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}
