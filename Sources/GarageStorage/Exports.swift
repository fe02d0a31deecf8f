// Whoever imports GarageStorage names these without importing the modules that declare them.
@_exported public import struct GarageCoding.Reference
@_exported public import struct GarageCoding.Linked
@_exported public import struct GarageCoding.Migratable
@_exported public import protocol GarageCoding.LinkedValue
@_exported public import struct GarageCoding.Identifier
@_exported public import protocol GarageCoding.Interned
@_exported public import protocol GarageCoding.Inlined
@_exported public import protocol GarageCoding.MappableObject
@_exported public import class GarageCoding.ObjectMapping
@_exported public import protocol GarageCoding.Syncable
@_exported public import enum GarageCoding.SyncStatus
@_exported public import protocol GarageCoding.TypeTagged
@_exported public import protocol GarageCoding.Evolving
@_exported public import enum GarageCoding.RecordValue
@_exported public import struct GarageCoding.RecordFields
@_exported public import struct GarageCoding.RecordIdentity
@_exported public import enum GarageCoding.ReferenceKind
@_exported public import struct GarageCoding.UnreadableObject
@_exported public import struct GarageDriver.StorageError

/// `Codable & Identifiable`: a type whose objects are parked under their `id`.
///
/// The name is kept for people who come from GarageStorage.
public typealias Mappable = Codable & Identifiable
