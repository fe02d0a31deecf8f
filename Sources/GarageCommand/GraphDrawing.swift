#if Command
  import GarageStorage

  /// The objects around one object, and how they refer to each other.
  struct GraphDrawing: Encodable {
    struct Node: Encodable {
      var type: String
      var id: String
      /// How many references away from the first object it is.
      var distance: Int
      /// Whether the store has it.
      var exists: Bool
    }

    struct Edge: Encodable {
      /// Positions among the nodes.
      var from: Int
      var to: Int
      var kind: String
    }

    private(set) var nodes: [Node] = []
    private(set) var edges: [Edge] = []
    /// Whether there are more nodes than the number asked for.
    private(set) var isCut = false

    init(from root: RecordIdentity, depth: Int, limit: Int, _ reader: some GarageReading) throws {
      var numbers: [RecordIdentity: Int] = [:]
      var waiting = [root]
      numbers[root] = 0
      nodes.append(Node(type: "", id: "\(root.identifier)", distance: 0, exists: true))
      var place = 0
      while place < waiting.count {
        let (number, identity) = (place, waiting[place])
        place += 1
        let look = try reader.look(at: identity)
        nodes[number].type = look.object?.type ?? reader.listedName(of: identity)
        if case .nothing = look { nodes[number].exists = false }
        guard let object = look.object, nodes[number].distance < depth else { continue }
        for (target, kind) in object.value.referencesWithKinds {
          if numbers[target] == nil {
            if nodes.count == limit {
              isCut = true
              continue
            }
            numbers[target] = nodes.count
            nodes.append(
              Node(type: "", id: "\(target.identifier)", distance: nodes[number].distance + 1, exists: true))
            waiting.append(target)
          }
          if let to = numbers[target] { edges.append(Edge(from: number, to: to, kind: "\(kind)")) }
        }
      }
    }

    private static func label(_ node: Node) -> String {
      let type = node.type.split(separator: ".").last.map(String.init) ?? node.type
      let id = node.id.count > 40 ? node.id.prefix(39) + "…" : node.id
      return "\(type) \(id)"
    }

    /// Whether an edge is drawn as a dotted line: its target is not loaded with the object.
    private static func isDotted(_ edge: Edge) -> Bool { edge.kind == "lazy" }

    /// The drawing as text for Graphviz.
    var dot: String {
      func quoted(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
          switch scalar {
          case "\"", "\\": result += "\\\(scalar)"
          case _ where scalar.properties.generalCategory == .control: result += " "
          default: result.unicodeScalars.append(scalar)
          }
        }
        return "\"\(result)\""
      }
      let boxes = nodes.indices.map {
        "  n\($0) [label=\(quoted(Self.label(nodes[$0])))\(nodes[$0].exists ? "" : ", style=dashed")]"
      }
      let lines = edges.map { "  n\($0.from) -> n\($0.to)\(Self.isDotted($0) ? " [style=dotted]" : "")" }
      return (["digraph {", "  rankdir=LR; node [shape=box]"] + boxes + lines + ["}"]).joined(separator: "\n")
    }

    /// The drawing as text for Mermaid.
    var mermaid: String {
      let boxes = nodes.indices.map { "  n\($0)[\"\(Self.escaped(Self.label(nodes[$0])))\"]" }
      let lines = edges.map { "  n\($0.from) \(Self.isDotted($0) ? "-.->" : "-->") n\($0.to)" }
      return (["flowchart LR"] + boxes + lines).joined(separator: "\n")
    }

    /// The drawing as a picture, with a column for each distance.
    var svg: String {
      let (width, height, gap) = (220, 28, 60)
      var rows: [Int: Int] = [:]
      let places = nodes.map { node in
        let row = rows[node.distance, default: 0]
        rows[node.distance] = row + 1
        return (x: 10 + node.distance * (width + gap), y: 10 + row * (height + 12))
      }
      let total = (
        x: (places.map(\.x).max() ?? 0) + width + 10, y: (places.map(\.y).max() ?? 0) + height + 10
      )
      let lines = edges.map { edge -> String in
        let (from, to) = (places[edge.from], places[edge.to])
        let (x1, y1, x2, y2) = (from.x + width, from.y + height / 2, to.x, to.y + height / 2)
        let dotted = Self.isDotted(edge) ? " stroke-dasharray=\"2 3\"" : ""
        return
          "<path d=\"M\(x1) \(y1) C\(x1 + 30) \(y1) \(x2 - 30) \(y2) \(x2) \(y2)\" fill=\"none\" stroke=\"#666\" marker-end=\"url(#a)\"\(dotted)/>"
      }
      let boxes = nodes.indices.map { index -> String in
        let (place, node) = (places[index], nodes[index])
        let dashed = node.exists ? "" : " stroke-dasharray=\"4 3\""
        return """
          <rect x="\(place.x)" y="\(place.y)" width="\(width)" height="\(height)" rx="4" fill="#fff" stroke="#333"\(dashed)/>\
          <text x="\(place.x + 8)" y="\(place.y + 18)" font-family="sans-serif" font-size="12">\
          \(Self.escaped(String(Self.label(node).prefix(32))))</text>
          """
      }
      let head = """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(total.x)" height="\(total.y)" viewBox="0 0 \(total.x) \(total.y)">
        <defs><marker id="a" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">\
        <path d="M0 0 L8 4 L0 8 z" fill="#666"/></marker></defs>
        """
      return ([head] + lines + boxes + ["</svg>"]).joined(separator: "\n")
    }

    /// Text in which nothing is markup, and nothing controls a terminal.
    private static func escaped(_ text: String) -> String {
      var result = ""
      for scalar in text.unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case _ where scalar.properties.generalCategory == .control: result += " "
        default: result.unicodeScalars.append(scalar)
        }
      }
      return result
    }
  }

  extension RecordValue {
    /// The objects that it refers to, with the kinds of the references, in the order of its fields.
    var referencesWithKinds: [(RecordIdentity, ReferenceKind)] {
      switch self {
      case .reference(let identity, let kind): [(identity, kind)]
      case .array(let elements): elements.flatMap(\.referencesWithKinds)
      case .map(let fields): fields.flatMap { $0.value.referencesWithKinds }
      case .versioned(_, let value), .withSyncStatus(_, let value): value.referencesWithKinds
      default: []
      }
    }
  }
#endif
