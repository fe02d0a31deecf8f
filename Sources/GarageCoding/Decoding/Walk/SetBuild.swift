/// A set that is built when everything else is there, because building it asks its members for their hashes.
struct SetBuild {
  fileprivate enum Work {
    /// The members are fetched.
    case members(LinkTargets)
    /// Builds a collection, and returns what puts it in its place.
    case make(() -> () -> Void)
  }

  /// The number of the record that holds it.
  let owner: Int
  /// The linked property that it is for, where it is for one.
  fileprivate let link: UnfilledLink?
  fileprivate let work: Work
}

/// Whether a linked property was read before it was filled in: by a hash that must not change any more.
final class LinkProgress {
  fileprivate(set) var wasReadEarly = false
  /// The properties that were read too early, in their order; nil while nobody asks.
  fileprivate var early: [UnfilledLink]?

  func noteRead(of link: UnfilledLink) {
    wasReadEarly = true
    early?.append(link)
  }
}

extension GraphWalk {
  /// Queues the building of a linked set whose members are fetched.
  func buildLater(_ owner: Int, _ link: UnfilledLink, _ members: LinkTargets) {
    builds.append(SetBuild(owner: owner, link: link, work: .members(members)))
  }

  /// Queues the building of a collection of the record with that number. `make` builds it and returns what puts
  /// it in its place.
  ///
  /// - Parameter link: the linked property that it is for, if any.
  func buildLater(_ owner: Int, for link: UnfilledLink? = nil, _ make: @escaping () -> () -> Void) {
    builds.append(SetBuild(owner: owner, link: link, work: .make(make)))
  }

  /// Builds the sets, those of members before those of their owners, as far as the order tells in which they were queued.
  func buildSets() throws {
    if builds.isEmpty { return }
    let builds = builds
    self.builds = []
    var waiting: [Int] = []
    for number in builds.indices.reversed() {
      if try !build(builds[number]) { waiting.append(number) }
    }
    if !waiting.isEmpty { try build(waiting, of: builds) }
  }

  /// Whether the set is in its place now. It is not where a member's hash read a property that is not filled in yet.
  private func build(_ build: SetBuild) throws -> Bool {
    linkProgress.wasReadEarly = false
    switch build.work {
    case .members(let members):
      if let link = build.link, try !link.build(members, self) { return false }
    case .make(let make):
      let place = make()
      if linkProgress.wasReadEarly { return false }
      place()
    }
    return true
  }

  /// Builds sets whose members' hashes read other sets: those other sets are tried first. A set that still reads a property
  /// that is not filled in waits for that. When all that are left wait, they wait for each other.
  @inline(never)
  private func build(_ waiting: [Int], of builds: [SetBuild]) throws {
    var order = SetBuildOrder(waiting, of: builds)
    defer { linkProgress.early = nil }
    while let number = order.next() {
      linkProgress.early = []
      if try build(builds[number]) {
        order.noteBuilt(number)
      } else {
        order.noteWaits(number, for: linkProgress.early ?? [])
      }
    }
    if let stuck = order.firstLeft {
      let owner = name(of: builds[stuck].owner)
      throw GraphCodingError.cycle(path: "\(owner) → a set whose members' hash depends on it → \(owner)")
    }
  }
}

/// The order in which sets are built that wait for others.
private struct SetBuildOrder {
  private let builds: [SetBuild]
  /// The numbers of those to be built.
  private let wanted: [Int]
  private var built: Set<Int> = []
  /// The sets that were tried because another one needs them. They are not tried for that a second time.
  private var wasAskedFor: Set<Int> = []
  /// The number of the set of each property.
  private var numbers: [ObjectIdentifier: Int] = [:]
  /// By the property that they wait for.
  private var waiting: [ObjectIdentifier: [Int]] = [:]
  /// To be tried, the next one last.
  private var path: [Int]

  init(_ wanted: [Int], of builds: [SetBuild]) {
    self.builds = builds
    self.wanted = wanted
    for number in wanted {
      if let link = builds[number].link { numbers[ObjectIdentifier(link)] = number }
    }
    path = wanted.reversed()
  }

  /// The first set, in the order in which they were to be built, that was not built; nil where there is none.
  var firstLeft: Int? { wanted.first { !built.contains($0) } }

  mutating func next() -> Int? {
    while let number = path.popLast() {
      if !built.contains(number) { return number }
    }
    return nil
  }

  mutating func noteBuilt(_ number: Int) {
    built.insert(number)
    guard let link = builds[number].link else { return }
    path += waiting.removeValue(forKey: ObjectIdentifier(link)) ?? []
  }

  /// - Parameter links: what its members' hash read that is not filled in.
  mutating func noteWaits(_ number: Int, for links: [UnfilledLink]) {
    guard let first = links.first else { return }
    var others: [Int] = []
    for link in links {
      if let other = numbers[ObjectIdentifier(link)], wasAskedFor.insert(other).inserted {
        others.append(other)
      }
    }
    if others.isEmpty {
      // It is enough to wait for the first: the hash reads that one as long as it is not filled in, whatever becomes of the
      // others.
      waiting[ObjectIdentifier(first), default: []].append(number)
    } else {
      path.append(number)
      path += others
    }
  }
}
