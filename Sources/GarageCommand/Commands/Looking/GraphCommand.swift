#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage graph STORE TYPE ID`
  struct GraphCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "graph", abstract: "Draw what an object refers to, and what that refers to in turn.",
      discussion: "Writes the drawing to standard output: for Graphviz, for Mermaid, or as a picture (SVG).")

    enum Form: String, EnumerableFlag { case dot, mermaid, svg }

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Argument(help: "The type, whole or what stands behind its last dots.") var type: String
    @Argument(help: "The identifier, as ls prints it.") var identifier: String
    @Option(help: "How many references deep.") var depth = 3
    @Option(help: "How many objects at most, the nearest first.") var limit = 200
    @Flag(help: "In which form.") var form = Form.dot
    @Flag(help: "Nodes and edges as JSON.") var json = false

    func validate() throws {
      if depth < 0 || limit < 1 { throw ValidationError("--depth has to be 0 at least, and --limit 1.") }
    }

    func run() throws {
      let garage = try access.open(store)
      defer { try? garage.close() }
      let name = try garage.typeName(matching: type)
      let drawing = try garage.read { reader in
        guard let root = try reader.identity(describedAs: identifier, ofTypeNamed: name) else {
          throw CommandFailure.missing(
            "There is no \(name) \"\(identifier)\". garage ls lists those there are.")
        }
        return try GraphDrawing(from: root, depth: depth, limit: limit, reader)
      }
      if json { return try Output.json(drawing) }
      switch form {
      case .dot: Output.write(drawing.dot)
      case .mermaid: Output.write(drawing.mermaid)
      case .svg: Output.write(drawing.svg)
      }
      if drawing.isCut { Output.complain("there are more objects: --limit \(limit * 10)") }
    }
  }
#endif
