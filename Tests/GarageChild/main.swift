import Foundation

// The other process of the garage's tests: does one thing with a store and prints what it measured.

do {
  try Command.run(Array(CommandLine.arguments.dropFirst()))
} catch {
  FileHandle.standardError.write(Data("GarageChild: \(error)\n".utf8))
  exit(1)
}
