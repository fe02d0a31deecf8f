import GarageStorage
import Observation

/// A book that somebody may have borrowed.
struct Book: Codable, Identifiable, Equatable {
  var id: String
  var title: String
  var borrower: String?
}

/// What a screen shows of a library: a view model to copy from.
///
/// Its verbs wait for no disk on the main actor, and what they change comes back through the two live queries, as does
/// what a sync in the background or another process changes.
@MainActor @Observable
final class LibraryModel {
  /// What is on the shelf, by title.
  let shelf: LiveQuery<Book>
  /// What is borrowed.
  let borrowed: LiveQuery<Book>
  /// What went wrong the last time; for an alert.
  var problem: String?

  @ObservationIgnored private let garage: Garage

  init(in garage: Garage) {
    self.garage = garage
    let books = garage.query(Book.self).sorted(by: \.title)
    shelf = LiveQuery(books.where(\.borrower == nil), in: garage)
    borrowed = LiveQuery(books.where(\.borrower != nil), in: garage)
  }

  func add(_ title: String, id: String) async {
    await reporting { try await self.garage.park(Book(id: id, title: title)) }
  }

  func lend(_ book: Book, to borrower: String) async {
    var book = book
    book.borrower = borrower
    await reporting { [book] in try await self.garage.park(book) }
  }

  func giveAway(_ book: Book) async {
    await reporting { try await self.garage.delete(book) }
  }

  private func reporting(_ change: () async throws -> Void) async {
    do {
      try await change()
      problem = nil
    } catch {
      problem = "\(error)"
    }
  }
}
