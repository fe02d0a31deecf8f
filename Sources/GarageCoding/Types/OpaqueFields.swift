/// A type whose fields only its own `init(from:)` understands: queries decode its objects, and ask these.
///
/// Queries find out which field a property is read from by decoding objects that are made up of values that need not go
/// together. An `init(from:)` that ends the program on such ones (`start...end`, `precondition(used <= total)`), or that
/// changes values which few objects have (an empty name, a number out of bounds), says so by this:
///
/// ```swift
/// struct Booking: Codable, Identifiable, OpaqueFields { … }
/// ```
/// No object of it is made up then, nor a value of it in another object. Its properties have no indexes, and conditions on
/// them take as long as retrieving all objects. The protocol asks for nothing, and what is stored stays as it is.
public protocol OpaqueFields {}
