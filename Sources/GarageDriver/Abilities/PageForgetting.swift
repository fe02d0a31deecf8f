/// A transaction whose engine maps its file into memory, and can let go of the pages that were read.
package protocol PageForgetting: ReadTransaction {
  /// Takes the pages that were read so far out of the process's memory. They come back when they are read again.
  ///
  /// It is for callers that go through a whole store once. Otherwise the whole file would count as memory of the process.
  func forgetPages()
}
