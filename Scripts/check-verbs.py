#!/usr/bin/env python3
"""Checks that every verb that may wait exists twice under one name: one that blocks, and an async one.

Without the second, async code takes the first without a word, and keeps a task's thread waiting for a disk. A verb is a
public function that throws, of one of TYPES. Its counterpart has the same labels and types of parameters; constraints
that say where it may run (`Sendable` and the like) may differ. What code sees that takes `some GarageReading` or `some
GarageWriting` is checked for both: the protocol's extension and `Garage` itself have to have one.

    check-verbs.py              check the project; exit 1 with one line for each verb that has none
    check-verbs.py --self-test  break the rule in several ways, and see each complained about
"""

import os
import re
import sys

MODULES = ["GarageStorage", "GarageLegacy"]
# Whose functions are verbs, and who has to have the counterpart.
TYPES = {
    "Garage": ["Garage"],
    "GarageReading": ["GarageReading", "Garage"],
    "GarageWriting": ["GarageWriting", "Garage"],
    "Query": ["Query"],
    "Stored": ["Stored"],
    "GarageSalvage": ["GarageSalvage"],
    "GarageStorageImporter": ["GarageStorageImporter"],
}
# Functions that throw and need none, with the reason.
EXEMPT = {
    "withReadAccess": "what verbs are made of",
    "withRepeatableReadAccess": "what verbs are made of",
    "withWriteAccess": "what verbs are made of",
    "identifier(for:)": "computed, without the store",
}
# In these modules a generic function of the protocol's extension, which calls verbs alone, does for Garage, too.
FORWARDING = {"GarageLegacy"}

DECLARATION = re.compile(
    r"^(?P<type>(?:[\w@()]+ +)*(?:extension|class|struct|enum|protocol|actor) +(?P<name>[\w.]+))"
    r"|^ +(?P<head>[^/\n]*?)\bfunc +(?P<function>`?\w+`?)", re.MULTILINE)


def without_comments(source):
    return re.sub(r"//[^\n]*", lambda match: " " * len(match.group(0)), source)


def closing(text, at, opening, ending):
    """Where the bracket ends that opens at `at`."""
    depth = 0
    for place in range(at, len(text)):
        if text[place] == opening:
            depth += 1
        elif text[place] == ending and text[place - 1:place] != "-":
            depth -= 1
            if depth == 0:
                return place
    return len(text)


def split(text):
    """The parts between the commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or character == ">" and text[place - 1] != "-":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in parts + [text[start:]] if part.strip()]


def canonical(generics, parameters, where):
    """What two kinds of one verb have in common: labels, types, and what is asked of these."""
    names, constraints = {}, []
    for number, part in enumerate(split(generics)):
        name, _, constraint = part.partition(":")
        names[name.strip()] = f"#{number}"
        constraints += [f"{name.strip()}: {each.strip()}" for each in constraint.split("&") if each.strip()]
    for part in split(where):
        name, sign, constraint = re.match(r"([\w.]+)\s*(:|==)\s*(.*)", part, re.DOTALL).groups()
        constraints += [f"{name}{sign} {each.strip()}" for each in constraint.split("&")]
    ignored = re.compile(r"\b(SendableMetatype|Sendable)$")
    constraints = sorted(each for each in constraints if not ignored.search(each))
    labels = []
    for part in split(parameters):
        name, _, kind = part.partition(":")
        # What stands behind the default is no matter; neither is what closures promise of threads.
        kind = re.sub(r"(?<![=!<>])=(?!=).*", "", kind, flags=re.DOTALL)
        kind = re.sub(r"@escaping|@Sendable|\bsending\b|nonisolated\(nonsending\)|\basync\b", "", kind)
        # The name of a progress that is told across threads.
        kind = re.sub(r"\b(?:Garage\.)?Progress\b", "(CareProgress) throws -> Void", kind)
        labels.append(name.split()[0] + ":" + re.sub(r"\s+", "", kind))
    text = ",".join(labels) + " | " + ";".join(re.sub(r"\s+", "", each) for each in constraints)
    return re.sub(r"\b\w+\b", lambda match: names.get(match.group(0), match.group(0)), text)


def functions(source):
    """The public functions: the type, the name, what identifies it, whether it throws and whether it is async."""
    code = without_comments(source)
    current, is_public = "", False
    for match in DECLARATION.finditer(code):
        if match.group("type"):
            current = match.group("name")
            is_public = "public" in match.group("type") and "extension" in match.group("type")
            continue
        # Attributes may stand on lines of their own.
        start = code.rfind("\n\n", 0, match.start()) + 1
        before = code[max(start, code.rfind("}", 0, match.start()) + 1):match.start("function")]
        if not re.search(r"\bpublic\b", match.group("head")) and not is_public or "unavailable" in before:
            continue
        if re.search(r"\b(static|mutating|private|package|fileprivate)\b", match.group("head")):
            continue
        at = match.end()
        generics = ""
        if code[at] == "<":
            end = closing(code, at, "<", ">")
            generics, at = code[at + 1:end], end + 1
        end = closing(code, at, "(", ")")
        parameters = code[at + 1:end]
        tail = code[end + 1:code.find("{", end)]
        head, _, where = tail.partition(" where ")
        effects = head.partition("->")[0]
        yield (current, match.group("function").strip("`"), canonical(generics, parameters, where.strip()),
               "throws" in effects, "async" in effects)


def complaints(files):
    """One line for each verb without counterpart. `files` has triples of module, path and source."""
    blocking, asynchronous = [], set()
    for module, path, source in files:
        for owner, name, signature, throws, is_async in functions(source):
            if is_async:
                asynchronous.add((owner, name, signature))
            elif throws and owner in TYPES:
                blocking.append((module, path, owner, name, signature))
    for module, path, owner, name, signature in blocking:
        labels = "".join(part.split(":")[0] + ":" for part in split(signature.split(" | ")[0]))
        if name in EXEMPT or f"{name}({labels})" in EXEMPT:
            continue
        places = TYPES[owner][:1] if module in FORWARDING else TYPES[owner]
        for place in places:
            if (place, name, signature) not in asynchronous:
                yield f"{path}: {owner}.{name}({labels}) has no async counterpart on {place}"


def sources(root):
    for module in MODULES:
        for path, folders, names in os.walk(os.path.join(root, "Sources", module)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".swift"):
                    full = os.path.join(path, name)
                    with open(full, encoding="utf-8") as file:
                        yield module, os.path.relpath(full, root), file.read()


SYNC = "extension Garage {\n  public func park<T: Codable & Identifiable>(_ object: T) throws {}\n}\n"
ASYNC = ("extension Garage {\n  nonisolated(nonsending)\n    public func park<T: Codable & Identifiable & "
         "SendableMetatype>(_ object: T) async throws\n  {\n  }\n}\n")


def self_test():
    """Breaks the rule and keeps it, so that the check does not go blind."""
    cases = [
        ("none", SYNC, 1),
        ("kept", SYNC + ASYNC, 0),
        ("of another type", SYNC + ASYNC.replace("extension Garage", "extension Query"), 1),
        ("another label", SYNC + ASYNC.replace("_ object", "any object"), 1),
        ("another type of a parameter", SYNC + ASYNC.replace("object: T)", "object: [T])"), 1),
        ("another constraint", SYNC + ASYNC.replace("Identifiable", "Hashable"), 1),
        ("renamed", SYNC + ASYNC.replace("<T:", "<U:").replace("object: T", "it: U"), 0),
        ("not public", SYNC + ASYNC.replace("public ", ""), 1),
        ("does not throw", SYNC.replace("throws ", ""), 0),
        ("unavailable", SYNC.replace("  public", "  @available(*, unavailable, message: \"no\")\n  public"), 0),
        ("exempt", SYNC.replace("park", "withReadAccess"), 0),
        ("of a protocol", SYNC.replace("Garage", "GarageReading") + ASYNC, 1),
        ("of a protocol, both", SYNC.replace("Garage", "GarageReading") + ASYNC
         + ASYNC.replace("Garage", "GarageReading"), 0),
        ("a closure", SYNC.replace("_ object: T", "_ body: (T) throws -> Void = { _ in }")
         + ASYNC.replace("_ object: T", "_ body: @escaping @Sendable (T) throws -> Void"), 0),
        ("where", SYNC.replace("throws {", "throws where T.ID: Codable {")
         + ASYNC.replace("throws\n", "throws\n  where T.ID: Codable "), 0),
        ("another where", SYNC.replace("throws {", "throws where T.ID: Codable {") + ASYNC, 1),
    ]
    failures = 0
    for name, source, expected in cases:
        found = list(complaints([("GarageStorage", "A.swift", source)]))
        if len(found) != expected:
            failures += 1
            print(f"self-test: {name}: expected {expected} complaints, found {found}", file=sys.stderr)
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if sys.argv[1:]:
        sys.exit("usage: check-verbs.py [--self-test]")
    found = list(complaints(sources(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))))
    for line in found:
        print(f"verbs: {line}", file=sys.stderr)
    if found:
        sys.exit(1)
    print("verbs: no complaints")


main()
