#if LIBFUZZER
  import Foundation

  /// The same fuzzers under libFuzzer, which is led by what a case reaches.
  enum LibFuzzer {
    static func run(_ arguments: [String]) -> Never {
      var count = Int32(arguments.count)
      let texts = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
      for (index, argument) in arguments.enumerated() { texts[index] = strdup(argument) }
      texts[arguments.count] = nil
      var vector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = texts
      exit(
        runDriver(&count, &vector) { bytes, count in
          current.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
          return 0
        })
    }
  }

  @_silgen_name("LLVMFuzzerRunDriver")
  private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
  ) -> Int32

  @_silgen_name("LLVMFuzzerMutate")
  private func mutateBytes(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int

  /// Half of the changes know the structure.
  @_cdecl("LLVMFuzzerCustomMutator")
  public func mutateInput(
    _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32
  ) -> Int {
    if seed & 1 == 0 { return mutateBytes(bytes, count, limit) }
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let output = current.mutate(input, InputRandom(seed: UInt64(seed))).prefix(limit)
    for (index, byte) in output.enumerated() { bytes[index] = byte }
    return output.count
  }
#endif
