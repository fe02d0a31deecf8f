// example: child
import GarageConformance
import MyStorage

Conformance.runChild { place in ArrayStorage(named: place.name) }
// end
