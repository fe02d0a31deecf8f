/// `Codable & Identifiable`: a type whose objects are parked under their `id`.
///
/// The name is kept for people who come from GarageStorage. It asks for nothing more, and the garage asks for it
/// nowhere: types that are `Codable & Identifiable` without it are parked just the same.
public protocol Mappable: Codable, Identifiable {}
