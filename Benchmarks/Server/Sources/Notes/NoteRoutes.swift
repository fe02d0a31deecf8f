public import Hummingbird

/// The server's interface:
///
///     GET    /notes       all notes
///     GET    /notes/7     one of them, or 404
///     PUT    /notes/7     keeps a note; its id is that of the address
///     POST   /notes       keeps a note under the id that it has
///     DELETE /notes/7     204, or 404
public func noteRoutes(on store: some NoteStore) -> Router<BasicRequestContext> {
  let router = Router(context: BasicRequestContext.self)
  router.get("notes") { _, _ in try await store.notes() }
  router.get("notes/:id") { _, context in
    guard let note = try await store.note(context.parameters.require("id", as: Int.self)) else {
      throw HTTPError(.notFound)
    }
    return note
  }
  router.post("notes") { request, context in
    let note = try await request.decode(as: Note.self, context: context)
    try await store.keep(note)
    return EditedResponse(status: .created, response: note)
  }
  router.put("notes/:id") { request, context in
    var note = try await request.decode(as: Note.self, context: context)
    note.id = try context.parameters.require("id", as: Int.self)
    try await store.keep(note)
    return note
  }
  router.delete("notes/:id") { _, context in
    let isRemoved = try await store.remove(context.parameters.require("id", as: Int.self))
    return isRemoved ? HTTPResponse.Status.noContent : .notFound
  }
  return router
}
