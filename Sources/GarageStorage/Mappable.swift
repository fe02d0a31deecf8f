/// `Codable & Identifiable`: a type whose objects are parked under their `id`.
///
/// The name is kept for people who come from GarageStorage. It requires nothing more, and the garage nowhere requires it: types
/// that are `Codable & Identifiable` without it are parked in the same way.
public protocol Mappable: Codable, Identifiable {}
