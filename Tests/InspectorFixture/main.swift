import Foundation
import GarageLMDB
import GarageSQLite
import GarageStorage

// inspector-fixture make sqlite|lmdb PATH COUNT    a store with COUNT notes and something of everything
// inspector-fixture change sqlite|lmdb PATH TITLE  another title for the note 5, and one note more
// inspector-fixture write sqlite|lmdb PATH COUNT   up to COUNT commits, each of one note; prints their number at times

let arguments = CommandLine.arguments
guard arguments.count == 5 else { exit(2) }
let url = URL(filePath: arguments[3])
let storage: any StorageDriver =
  arguments[2] == "lmdb" ? try LMDBStorage(at: url) : try SQLiteStorage(at: url)
let garage = try Garage(storage)

func note(_ number: Int, _ title: String) -> Note {
  Note(
    id: number, title: title, isDone: number % 3 == 0, weight: Double(number % 97) / 4,
    due: Date(timeIntervalSince1970: Double(1_800_000_000 + number * 60)),
    remark: number % 10 == 0 ? "ten" : nil, list: Reference(NoteList.self, identifier: "list \(number % 7)"),
    tags: ["a", "b"])
}

switch arguments[1] {
case "make":
  let count = Int(arguments[4]) ?? 0
  // Not all in one: a million would take gigabytes.
  for first in stride(from: 1, through: count, by: 50_000) {
    try garage.parkAll((first...min(first + 49_999, count)).map { note($0, "note \($0)") })
  }
  try garage.parkAll(
    (0..<7).map {
      NoteList(id: "list \($0)", name: "List \($0)", place: NoteList.Place(city: "Bree", rooms: [1, $0]))
    })
  let friends = ["Ann", "Bob", "Cem"].enumerated().map { Friend($0.element, age: 20 + $0.offset) }
  for (place, friend) in friends.enumerated() { friend.friend = friends[(place + 1) % friends.count] }
  try garage.parkAll(friends)
  for friend in friends { friend.friend = nil }
  try garage.parkAll([
    Intruder(
      id: Intruder.image, text: Intruder.script,
      fields: [Intruder.image: Intruder.image, "__proto__": "x", "constructor": "y"])
  ])
  try garage.park(Color(red: 255, name: "red"))
  try garage.park(Dog(id: 1, name: "Rex"))
  try garage.parkAll(
    (0..<2).map { Measure(id: $0, large: 9_007_199_254_740_992 + $0, small: 0.1 * Float($0), wide: 1 << 100) }
  )
  try garage.set(.theme, value: "dark")
  try garage.set(.intruder, value: Intruder.script)
case "change":
  try garage.write { writer in
    try writer.park(note(5, arguments[4]))
    let count = try writer.count(Note.self)
    try writer.park(note(count + 1, "one more"))
  }
case "write":
  for number in 1...(Int(arguments[4]) ?? 1) {
    try garage.park(note(number % 1000 + 1, "written \(number)"))
    if number % 100 == 1 { FileHandle.standardOutput.write(Data("\(number)\n".utf8)) }
  }
default: exit(2)
}
try garage.close()
