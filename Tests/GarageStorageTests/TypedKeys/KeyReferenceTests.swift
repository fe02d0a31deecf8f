import GarageStorage
import Testing

/// Keys whose values are objects, or hold some: what is stored under the key stays the same while the objects change.
@Suite struct KeyReferenceTests {
  private struct User: Codable, Identifiable, Equatable {
    var id = 1
    var logins = 0
  }

  private struct Profile: Codable, Equatable {
    var title = ""
    var users: [User] = []
  }

  private let me = Key<GlobalNamespace, User>(id: "me", defaultValue: User())
  private let profile = Key<GlobalNamespace, Profile>(id: "profile", defaultValue: Profile())

  /// Many tasks change one object through its key: nothing is lost.
  @Test(arguments: Backend.engines) func updatesAddUp(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let me = me
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<24 {
        group.addTask { try await garage.update(me) { $0.logins += 1 } }
      }
      try await group.waitForAll()
    }
    #expect(try await garage.get(me).logins == 24)
  }

  /// An object that the value holds was changed, or deleted, by itself while the closure ran: it runs again.
  @Test(arguments: Backend.allCases, [true, false])
  func whatTheValueHoldsMayNotHaveChanged(_ backend: Backend, autosaves: Bool) async throws {
    let garage = try Place(backend).garage()
    garage.isAutosaveEnabled = autosaves
    try await garage.set(me, value: User(id: 1, logins: 1))
    try await garage.set(profile, value: Profile(users: [User(id: 1, logins: 1), User(id: 2, logins: 2)]))
    try await garage.save()
    var runs = 0
    func othersCome(_ change: () throws -> Void) rethrows {
      runs += 1
      if runs == 1 { try change() }
    }
    try await garage.update(me) { user in
      try othersCome { try garage.park(User(id: 1, logins: 10)) }
      user.logins += 1
    }
    #expect(runs == 2)
    #expect(try await garage.get(me) == User(id: 1, logins: 11))

    runs = 0
    try await garage.update(profile) { profile in
      try othersCome { try garage.park(User(id: 2, logins: 20)) }
      profile.users[1].logins += 1
    }
    #expect(runs == 2)
    #expect(try await garage.get(profile).users == [User(id: 1, logins: 11), User(id: 2, logins: 21)])

    // Changes of what it does not hold are no matter.
    runs = 0
    try await garage.update(profile) { profile in
      try othersCome { try garage.park(User(id: 3)) }
      profile.title = "new"
    }
    #expect(runs == 1)
    runs = 0
    try await garage.update(profile) { profile in
      try othersCome { try garage.set(profileTitle, value: "other") }
      profile.title = "newer"
    }
    #expect(runs == 1)
    #expect(try await garage.get(profile).title == "newer")
  }

  private let profileTitle = Key<GlobalNamespace, String>(id: "title", defaultValue: "")
}
