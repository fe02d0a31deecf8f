import GarageConformance
import GaragePostgres
import PostgresStacks

let arguments = CommandLine.arguments
if arguments.count == 5, arguments[1] == "transfer" {
  // One of many processes that move amounts between the same accounts: the store, how often, and a seed.
  var options = PostgreSQLStorage.Options()
  options.name = arguments[2]
  let storage = try PostgreSQLStorage(PostgresStack.serverURL(), options: options)
  print(try Transfers.run(in: storage, count: Int(arguments[3]) ?? 0, seed: UInt64(arguments[4]) ?? 0))
  try storage.close()
} else {
  // The second process of the conformance suite. Its first argument names the stack.
  let stack = arguments.count > 1 ? PostgresStack.named(arguments[1]) : nil
  Conformance.runChild { place in
    guard let stack else { throw UnknownStack() }
    return try stack.open(place)
  }
}

struct UnknownStack: Error {}
