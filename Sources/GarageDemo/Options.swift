/// The options on the command line.
struct Options: Equatable {
  enum Driver: String, CaseIterable {
    case sqlite, lmdb, memory
    #if PostgreSQL
      case postgresql
    #endif

    /// Whether its stores are on a server, so that `--store` is a URL.
    var isServer: Bool {
      #if PostgreSQL
        self == .postgresql
      #else
        false
      #endif
    }
  }

  enum Input: Equatable {
    /// The package database of this machine, or the sample if there is none.
    case automatic
    case standardInput
    case file(String)
  }

  var driver = Driver.sqlite
  var input = Input.automatic
  /// The place of the store; nil means a temporary folder that is removed at the end.
  var store: String?
  /// The package to retrieve; nil means the one that reaches most others.
  var package: String?
  /// A condition on packages, which are counted and listed; nil for none.
  var condition: PackageCondition?
  /// A package; the packages that need it are listed. Nil for none.
  var neededBy: String?
  var printsJSON = false
  var reusesStore = false
  var printsHelp = false

  static let help = """
    garage-demo parks a Debian package database as a graph of objects, closes the store, opens it again, and
    retrieves one package with everything that it needs. It shows what it did and how fast.

    Usage: garage-demo [options]

      --driver NAME    sqlite (the default), lmdb or memory; postgresql where it was built with that trait
      --input FILE     the package database to read; - is standard input, for instance the output of
                       'apt-cache dumpavail'. Default: /var/lib/dpkg/status, else a small sample
      --store PATH     keep the store at PATH: a file for sqlite, a folder for lmdb, a connection URL for
                       postgresql. Default: a temporary one that is removed at the end
      --reuse          read the store at --store PATH as it is; reads no input
      --package NAME   the package to retrieve, and to find those that need it by the store's index of references.
                       Default: the one that reaches most others, which nobody is asked about
      --where TEST     count and list the packages with such a field: 'section=libs', 'installedSize>=1000'; ^= asks
                       how a text begins, *= what it has in it
      --needs NAME     list the packages that need this one, in the same way
      --json           print one JSON object and nothing else
      --help           print this

    Exit code: 0 when all went well, 64 when the command line is wrong, 1 otherwise.
    """

  init() {}

  /// Whether the packages that need another one are asked for.
  var asksForReferrers: Bool { package != nil || neededBy != nil }

  /// Reads the arguments after the program's name. If an option is given twice, the last one counts.
  init(parsing arguments: [String]) throws {
    var arguments = arguments[...]
    while let argument = arguments.popFirst() {
      var (name, inlineValue) = Options.split(argument)
      func value() throws -> String {
        if let given = inlineValue {
          inlineValue = nil
          return given
        }
        guard let next = arguments.first, !next.hasPrefix("--") else {
          throw DemoError.usage("\(name) needs a value. See garage-demo --help.")
        }
        arguments.removeFirst()
        return next
      }

      switch name {
      case "--driver": driver = try Options.driver(named: value())
      case "--input":
        let path = try value()
        input = path == "-" ? .standardInput : .file(path)
      case "--store": store = try value()
      case "--package": package = try value()
      case "--where": condition = try PackageCondition(value())
      case "--needs": neededBy = try value()
      case "--reuse": reusesStore = true
      case "--json": printsJSON = true
      case "--help", "-h": printsHelp = true
      default: throw DemoError.usage(Options.unknown(name))
      }
      if inlineValue != nil { throw DemoError.usage("\(name) takes no value.") }
    }
    if !printsHelp { try check() }
  }

  /// Splits `--name=value` into its two parts.
  private static func split(_ argument: String) -> (name: String, value: String?) {
    guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
    return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
  }

  private static func driver(named name: String) throws -> Driver {
    if let driver = Driver(rawValue: name.lowercased()) { return driver }
    let names = Driver.allCases.map(\.rawValue).joined(separator: ", ")
    throw DemoError.usage("There is no driver '\(name)'. The drivers are: \(names).")
  }

  private static func unknown(_ argument: String) -> String {
    guard argument.hasPrefix("-") else {
      return "'\(argument)' is no option. To read a file, write --input \(argument)."
    }
    let options = [
      "--driver", "--input", "--store", "--reuse", "--package", "--where", "--needs", "--json", "--help",
    ]
    let hint = NameSuggestions.nearest(to: argument, in: options).first.map { " Did you mean \($0)?" } ?? ""
    return "There is no option \(argument).\(hint) See garage-demo --help."
  }

  /// Throws if options contradict each other.
  private func check() throws {
    if store == "" { throw DemoError.usage("--store needs a path.") }
    if package == "" { throw DemoError.usage("--package needs a name.") }
    if neededBy == "" { throw DemoError.usage("--needs needs a name.") }
    if driver.isServer && store == nil {
      throw DemoError.usage("--driver \(driver.rawValue) needs --store URL, the server's.")
    }
    guard reusesStore else { return }
    if driver == .memory {
      throw DemoError.usage("--reuse needs a store that outlives the program: --driver sqlite or lmdb.")
    }
    if store == nil { throw DemoError.usage("--reuse needs --store PATH, the store to reuse.") }
    if input != .automatic { throw DemoError.usage("--reuse reads no input: leave out --input.") }
  }
}
