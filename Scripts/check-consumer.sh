#!/bin/sh
# Builds and runs the apps in Tests/Consumer, which use GarageStorage and GarageSQLite as any app would, one of them
# with everything on the main actor, and fails if that resolved, downloaded or built anything but this package's own
# modules. Then looks at what does not compile, and at what the compiler says about it.
set -eu
cd "$(dirname "$0")/.."

scratch=.build-consumer
in_consumer() {
  command=$1
  shift
  swift "$command" --package-path Tests/Consumer --scratch-path "$scratch" "$@"
}
fail() {
  echo "consumer: $*" >&2
  exit 1
}

in_consumer build
[ "$(in_consumer run --skip-build Consumer)" = "Sam has a brother, Nick." ] || fail "the app does not do its job"
[ "$(in_consumer run --skip-build MainActorConsumer)" = "The main actor's objects come back." ] ||
  fail "the app on the main actor does not do its job"

# Resolved: the app and this package, nothing behind them.
packages=$(in_consumer package show-dependencies --format flatlist | tr -d ' ' | sort -u)
[ "$(printf '%s\n' "$packages" | grep -c .)" -eq 1 ] || fail "more packages than Garage are resolved: $packages"

# Downloaded: nothing.
for folder in checkouts repositories registry artifacts; do
  if [ -n "$(ls -A "$scratch/$folder" 2>/dev/null)" ]; then fail "$scratch/$folder is not empty"; fi
done
if [ -e Tests/Consumer/Package.resolved ]; then fail "Package.resolved lists a dependency"; fi

# Built: exactly these modules. (An app that wants one driver builds one driver.) A module that was only
# planned has a folder but no object file in it.
built=$(cd "$(in_consumer build --show-bin-path)" &&
  find . -path './*.build/*.o' | sed 's|^\./||; s|\.build/.*||' | sort -u)
for module in $built; do
  case $module in
  Consumer | MainActorConsumer | GarageStorage | GarageCoding | GarageDriver | GarageSQLite | CGarage) ;;
  *) fail "the app built the module $module" ;;
  esac
done

# What cannot work does not compile; what stands beside it does.
binaries=$(in_consumer build --show-bin-path)
# What the compiler says about a statement, beside a few types.
compile() {
  {
    echo 'import Foundation'
    echo 'import GarageStorage'
    echo 'struct Shapeless: Codable { var x = 1 }'
    echo 'struct Shaped: Codable, Hashable { var x = 1 }'
    echo 'struct Named: Codable, Identifiable { var id = 1 }'
    echo 'final class Texted: Codable, Identifiable { var id = ""; init() {} }'
    echo 'struct Uncodable { var x = 1 }'
    echo "func check(_ garage: Garage) throws { $1 }"
  } >"$scratch/check.swift"
  swiftc -typecheck -swift-version 6 -I "$binaries/Modules" \
    -Xcc "-fmodule-map-file=$binaries/CGarage.build/module.modulemap" "$scratch/check.swift" 2>&1
}
compiles() { compile "$1" >/dev/null; }
for statement in 'try garage.park(Shaped())' 'try garage.park(Named())' 'try garage.park(any: Shapeless())' \
  '_ = Reference(to: Named())' 'try garage.delete(Named.self, identifier: 1)' \
  'let _: Named? = try garage.retrieve(Named.self, identifier: garage.identifier(for: Named()))' \
  'let _: Int? = Reference(Named.self, identifier: 1).id' \
  'let _: String? = Reference(Texted.self, identifier: "Sam").id' \
  'func open(_ driver: any StorageDriver) throws -> Garage { try Garage(driver) }' \
  'struct S: Codable { @Linked var texted: Texted?; @Linked var all: [Texted] }'; do
  compiles "$statement" || fail "does not compile: $statement"
done
for statement in 'try garage.park(Shapeless())' 'try garage.parkAll([Shapeless()])' 'try garage.delete(Shapeless())' \
  '_ = Reference(to: Shaped())' '_ = Reference(Shaped.self, identifier: 1)' \
  'let _: Named? = try garage.retrieve(Named.self, identifier: [1])' 'try garage.park(Uncodable())' \
  'let _: Identifier = "x"' 'let _: Identifier = 1' 'try garage.setSyncStatus(.synced, for: Named())' \
  'try garage.delete(Named.self, identifier: [1])' 'let _: Garage<Named> = garage'; do
  if compiles "$statement"; then fail "compiles, but must not: $statement"; fi
done

# What runs elsewhere may hand out objects that are not Sendable; what belongs to an actor is not decoded there.
elsewhere() {
  {
    echo 'import GarageStorage'
    echo 'final class Plain: Codable, Identifiable { var id = ""; init() {} }'
    echo '@MainActor final class Card: @MainActor Codable, @MainActor Identifiable { var id = 1; init() {} }'
    echo "@MainActor func check(_ garage: Garage) async throws { $1 }"
  } >"$scratch/check.swift"
  swiftc -c -parse-as-library -module-name Check -o "$scratch/check.o" -swift-version 6 -I "$binaries/Modules" \
    -Xcc "-fmodule-map-file=$binaries/CGarage.build/module.modulemap" "$scratch/check.swift" >/dev/null 2>&1
}
for verb in 'retrieve(TYPE.self, identifier: garage.identifier(for: TYPE()))' 'retrieveAll(TYPE.self)' \
  'retrieveAll(TYPE.self) { _ in }' 'query(TYPE.self).retrieveAll()' 'query(TYPE.self).first()' \
  'query(TYPE.self).page(size: 1)' 'retrieveReferrers(TYPE.self, of: Plain.self, identifier: "")'; do
  for transaction in read write; do
    statement="_ = try await garage.$transaction { transaction in try transaction.$(echo "$verb" | sed 's/TYPE/Plain/g') }"
    elsewhere "$statement" || fail "does not compile: $statement"
    statement="_ = try await garage.$transaction { transaction in try transaction.$(echo "$verb" | sed 's/TYPE/Card/g') }"
    if elsewhere "$statement"; then fail "compiles, but must not: $statement"; fi
  done
done

for verb in 'park(object)' 'parkAll([object])' 'delete(object)' 'delete(object, referrers: .leave)' 'deleteGraph(object)'; do
  statement="try await garage.write { writer in let object = Plain(); try writer.$verb }"
  elsewhere "$statement" || fail "does not compile: $statement"
  statement="let object = Card(); try await garage.write { writer in try writer.$verb }"
  if elsewhere "$statement"; then fail "compiles, but must not: $statement"; fi
done

# The compiler's first error says what to do.
says() {
  words=$1
  statement=$2
  first=$(compile "$statement" | grep -m 1 'error: ' || true)
  case $first in
  *"$words"*) ;;
  *) fail "does not say \"$words\" first about: $statement: $first" ;;
  esac
}
for statement in 'try garage.park(Uncodable())' 'try garage.park(Shapeless())' 'try garage.parkAll([Uncodable()])' \
  'try garage.parkAll([Shapeless()])' 'try garage.delete(Shapeless())' \
  'func f<T: Codable>(_ value: T) throws { try garage.park(value) }'; do
  says 'Codable, and Identifiable or Hashable' "$statement"
done
for verb in retrieve contains delete; do
  says "type of the object's id" "_ = try garage.$verb(Named.self, identifier: [1])"
done
says 'unwrap it first' 'let texted: Texted? = nil; try garage.park(texted)'
for statement in 'final class C: Codable { @Linked var texted: Texted; init(_ texted: Texted) { self.texted = texted } }' \
  'struct S: Codable, Identifiable { var id = 1; @Linked var texted: Texted }' \
  'struct S: Codable { @Linked var texted = Texted() }' 'struct S { @Linked var number: Int }'; do
  says 'make it optional' "$statement"
done

# One line for people, and the one that test reports count.
echo "consumer: the apps build $(printf '%s ' $built)and nothing else"
