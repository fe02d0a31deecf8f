import GarageConformance

// The second process of the conformance suite. Its first argument names the driver, or the stack of drivers.
let stack = CommandLine.arguments.count > 1 ? Stack(named: CommandLine.arguments[1]) : nil
Conformance.runChild { place in
  guard let stack else { throw UnknownStack() }
  return try stack.open(place)
}

struct UnknownStack: Error {}
