/// A transaction whose engine maps its file into memory, and can let go of what was read of it.
package protocol PageForgetting: ReadTransaction {
  /// Takes the pages that were read so far out of the process's memory. They come back where they are read again.
  ///
  /// For who goes through a whole store once: else all of its file counts as the process's.
  func forgetPages()
}
