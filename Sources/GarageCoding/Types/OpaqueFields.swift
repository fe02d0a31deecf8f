/// A type whose fields only its own `init(from:)` understands: queries decode its objects, and ask these.
///
/// Queries find out which field a property is read from by decoding made-up objects, whose values need not go together. Conform
/// a type to this if its `init(from:)` ends the program on such values (`start...end`, `precondition(used <= total)`), or
/// changes values that few objects have (an empty name, a number out of bounds):
///
/// ```swift
/// struct Booking: Codable, Identifiable, OpaqueFields { … }
/// ```
/// No object of it is made up then, nor a value of it in another object. Its properties have no indexes, and conditions on
/// them take as long as retrieving all objects. The protocol asks for nothing, and what is stored stays as it is.
public protocol OpaqueFields {}
