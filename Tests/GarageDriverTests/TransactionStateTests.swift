import GarageDriver
import Testing

/// A transaction refuses what comes after its end, while bytes are lent, and after a failure.
struct TransactionStateTests {
  @Test func anEndedTransactionIsClosedAndNotPoisoned() throws {
    var state = TransactionState(driver: "Test")
    try state.beginRead(.get)
    try state.beginChange(.put)
    state.end()
    try expectError(.transactionClosed) { try state.beginRead(.scan) }
    let error = try expectError(.transactionClosed) { try state.beginChange(.remove) }
    #expect(error.operation == .remove && error.driver == "Test")
    #expect(state.firstError == nil)
  }

  @Test func nothingChangesWhileBytesAreLent() throws {
    var state = TransactionState(driver: "Test")
    state.lend()
    state.lend()
    state.takeBack()
    try state.beginRead(.get)
    try expectError(.mutationWhileLent) { try state.beginChange(.put) }
    state.takeBack()
    try state.beginChange(.put)
    #expect(state.firstError?.kind == .mutationWhileLent)
  }

  @Test func theFirstFailureStays() throws {
    var state = TransactionState(driver: "Test")
    let bytes = [UInt8](repeating: 0, count: 12)
    try state.checkKey(bytes.span.bytes, .get, limit: 12)
    try state.checkValue(bytes.span.bytes, limit: 12)
    try expectError(.valueTooLarge) { try state.checkValue(bytes.span.bytes, limit: 11) }
    try expectError(.invalidKey) { try state.checkKey(bytes.span.bytes, .put, limit: 11) }
    try expectError(.invalidKey) { try state.checkKey([UInt8]().span.bytes, .remove, limit: 11) }
    let other = StorageError(.io, during: .scan, driver: "Test", message: "Later.")
    #expect(state.failed(other) == other)
    #expect(state.firstError?.kind == .valueTooLarge)
  }
}
