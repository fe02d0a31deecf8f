#!/usr/bin/env python3
"""Checks of the sources what a reader would otherwise have to.

- Layers: a module imports only the modules below it.
- Rooms: no folder holds more than 20 Swift files, no file more than 500 lines, no function more than 70 lines,
  unless a comment in it says why: "Long because …".
- Names: a file declares the type that it is named after; `Type+Topic.swift` extends it.
- Unsafe code: where the constructs below may stand (Docs/Architecture.md says why).

Public declarations without a doc comment are for `swift format`, see Scripts/check-style.sh.

    check-structure.py              check the project; exit 1 with one line for each complaint
    check-structure.py --self-test  break every rule in a folder of its own, and see each complained about
"""

import os
import re
import sys
import tempfile

MAXIMUM_FILES = 20
MAXIMUM_FILE_LINES = 500
MAXIMUM_FUNCTION_LINES = 70

# Each module of the package, and the ones of the package that it may import.
LAYERS = {
    "GarageCoding": {"CGarage"},
    "GarageDriver": {"CGarage"},
    "GarageMemory": {"GarageDriver"},
    "GarageSQLite": {"GarageDriver", "CSQLite"},
    "GarageLMDB": {"GarageDriver", "CLMDB"},
    "GaragePostgres": {"GarageDriver", "CPostgreSQL"},
    "GarageSealing": {"GarageDriver"},
    "GarageCrypto": {"GarageSealing", "GarageDriver", "Crypto"},
    "GarageConformance": {"GarageDriver"},
    "GarageStorage": {"CGarage", "GarageCoding", "GarageDriver"},
    "GarageLegacy": {"GarageStorage", "GarageSQLite", "GarageDriver", "GarageCoding", "CSQLite"},
    "DebianPackages": {"GarageStorage"},
    "GarageCommand": {
        "GarageStorage", "GarageDriver", "GarageSQLite", "GarageLMDB", "GaragePostgres", "GarageSealing", "GarageCrypto",
        "Crypto", "ArgumentParser", "Hummingbird", "Logging",
    },
    "GarageDemo": {
        "DebianPackages", "GarageStorage", "GarageDriver", "GarageMemory", "GarageSQLite", "GarageLMDB", "GaragePostgres",
        "GarageCoding",
    },
}
# What every module may import besides.
SYSTEM = {
    "Foundation", "FoundationEssentials", "Synchronization", "Observation", "Glibc", "Musl", "Darwin", "Dispatch", "Testing",
    # What Apple's SDK calls SQLite.
    "SQLite3",
}

# Constructs that the compiler does not check, the modules in which they have a room of their own, and that room.
# The drivers and their helpers are not among them: there a C library asks for pointers, each file minds its own.
UNSAFE = {
    "unsafeBitCast": r"\bunsafeBitCast\b",
    "a rebound pointer": r"\b(withMemoryRebound|assumingMemoryBound|bindMemory)\b",
    "an integer made a pointer, or the other way": r"\bU?Int\(bitPattern: *(?!Hasher|hash|Int|UInt)|\bPointer\(bitPattern:",
    "Unmanaged": r"\bUnmanaged\b",
    "unowned(unsafe)": r"\bunowned\(unsafe\)",
    "a pointee behind a pointee": r"\bpointee\.[A-Za-z_.]+\.pointee\b",
    "unsafeDowncast": r"\bunsafeDowncast\b",
}
UNSAFE_ROOMS = {"GarageCoding": "Unsafe", "GarageStorage": "Unsafe", "GarageSealing": "Unsafe"}

# Files that are not named after a type, with the reason.
NAMELESS = {
    "main.swift": "the entry of a program",
    "Package.swift": "the manifest",
    "Exports.swift": "what importing the module brings along",
    "ConformanceTests.swift": "all that the author of a driver writes, as Docs/WritingADriver.md shows it",
}

DECLARATION = re.compile(
    r"\b(?:struct|class|enum|protocol|actor|typealias)\s+`?(\w+)`?|\bextension\s+([\w.]+)|@Suite\b")


def without_text(source):
    """The source with comments and the contents of string literals blanked; line breaks stay."""
    result = []
    at = 0
    length = len(source)

    def blank(text):
        return re.sub(r"[^\n]", " ", text)

    while at < length:
        if source.startswith("//", at):
            end = source.find("\n", at)
            end = length if end < 0 else end
        elif source.startswith("/*", at):
            end = source.find("*/", at)
            end = length if end < 0 else end + 2
        elif source.startswith('"""', at):
            end = source.find('"""', at + 3)
            end = length if end < 0 else end + 3
        elif source[at] == '"':
            end = at + 1
            depth = 0
            while end < length and (depth > 0 or source[end] != '"') and source[end] != "\n":
                if source.startswith("\\(", end):
                    depth += 1
                    end += 2
                    continue
                if source[end] == "\\":
                    end += 2
                    continue
                if depth and source[end] == "(":
                    depth += 1
                elif depth and source[end] == ")":
                    depth -= 1
                end += 1
            end = min(end + 1, length)
        else:
            result.append(source[at])
            at += 1
            continue
        result.append(blank(source[at:end]))
        at = end
    return "".join(result)


FUNCTION = re.compile(r"\b(?:func\s+[^\s(<]+|init[?!]?\s*(?=[(<])|subscript\s*(?=[(<]))")


def functions(code):
    """The functions of code without text: name, first line, and line of the closing brace, from 1."""
    for match in FUNCTION.finditer(code):
        # The body is the first brace outside parentheses; a requirement of a protocol has none before its line ends.
        at = match.end()
        depth = 0
        while at < len(code):
            character = code[at]
            if character in "([":
                depth += 1
            elif character in ")]":
                depth -= 1
                if depth < 0:
                    break
            elif depth == 0 and character in "{}":
                break
            elif depth == 0 and character == "\n" and not re.match(r"\s*(\)|->|where|throws|async|rethrows|\{|&&)", code[at:at + 80]):
                # A header may go on in the next line only so.
                if not code[match.end():at].rstrip().endswith((",", "->", "where", "throws", "&")):
                    break
            at += 1
        if at >= len(code) or code[at] != "{":
            continue
        start = code.count("\n", 0, match.start()) + 1
        depth = 0
        while at < len(code):
            if code[at] == "{":
                depth += 1
            elif code[at] == "}":
                depth -= 1
                if depth == 0:
                    break
            at += 1
        yield match.group(0).split()[-1], start, code.count("\n", 0, at) + 1


def swift_files(root, folders):
    for folder in folders:
        for path, subfolders, names in os.walk(os.path.join(root, folder)):
            subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
            for name in sorted(names):
                if name.endswith(".swift"):
                    yield os.path.relpath(os.path.join(path, name), root)


def check_layers(path, code):
    parts = path.split(os.sep)
    if parts[0] != "Sources":
        return
    allowed = LAYERS.get(parts[1])
    if allowed is None:
        yield f"{path}: the module {parts[1]} has no layer; add it to LAYERS in Scripts/check-structure.py"
        return
    for match in re.finditer(r"^\s*(?:@\S+\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+"
                             r"(?:(?:struct|class|func|enum|protocol)\s+)?(\w+)", code, re.MULTILINE):
        if match.group(1) not in allowed | SYSTEM | {parts[1]}:
            yield f"{path}: {parts[1]} imports {match.group(1)}, which is not below it"


def check_lengths(path, source, code):
    count = source.count("\n")
    if count > MAXIMUM_FILE_LINES:
        yield f"{path}: {count} lines, {MAXIMUM_FILE_LINES} are the limit"
    lines = source.split("\n")
    for name, start, end in functions(code):
        if end - start + 1 <= MAXIMUM_FUNCTION_LINES:
            continue
        # Said in the function or in the comment before it.
        before = start - 1
        while before > 0 and lines[before - 1].lstrip().startswith(("//", "@")):
            before -= 1
        if "Long because" not in "\n".join(lines[before:end]):
            yield (f"{path}:{start}: {name} has {end - start + 1} lines, {MAXIMUM_FUNCTION_LINES} are the limit "
                   "without a comment that begins with 'Long because'")


def check_name(path, code):
    name = os.path.basename(path)
    if name in NAMELESS:
        return
    stem = name[: -len(".swift")].split("+")
    declared = set()
    extended = set()
    for match in DECLARATION.finditer(code):
        if match.group(1):
            declared.add(match.group(1))
        if match.group(2):
            extended.add(match.group(2).split(".")[-1])
            extended.add(match.group(2))
    if len(stem) > 1:
        # `Garage+Park.swift` may extend GarageWriting as well.
        if not any(each.startswith(stem[0]) for each in declared | extended):
            yield f"{path}: neither declares nor extends {stem[0]}"
    elif stem[0] not in declared:
        # Tests and benchmarks have files of models and helpers, too; what tests has the name of its suite.
        if path.startswith("Sources" + os.sep) or stem[0].endswith("Tests"):
            yield (f"{path}: declares no type {stem[0]}; a file is named after its main type, or Type+Topic.swift "
                   "where it extends one")


def check_unsafe(path, code):
    parts = path.split(os.sep)
    if parts[0] != "Sources" or parts[1] not in UNSAFE_ROOMS or UNSAFE_ROOMS[parts[1]] in parts[2:-1]:
        return
    for what, pattern in UNSAFE.items():
        for match in re.finditer(pattern, code):
            line = code.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {what} outside of {parts[1]}/{UNSAFE_ROOMS[parts[1]]}"


def check_suites(root, suites):
    """Sources and pages name suites of tests as witnesses: each has to be there."""
    if not suites:
        return
    for folder, _, names in sorted(os.walk(root)):
        top = os.path.relpath(folder, root).split(os.sep)[0]
        for name in sorted(names):
            if top not in ("Sources", "Docs") or not name.endswith((".swift", ".md")):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    for suite in re.findall(r"`([A-Z]\w*Tests)[`.]", line):
                        if suite not in suites:
                            yield f"{os.path.relpath(path, root)}:{number}: there are no tests called {suite}"


def complaints(root):
    counts = {}
    suites = set()
    for path in swift_files(root, ["Sources", "Tests", "Benchmarks/Sources", "Benchmarks/Benchmarks"]):
        folder = os.path.dirname(path)
        counts[folder] = counts.get(folder, 0) + 1
        with open(os.path.join(root, path), encoding="utf-8") as file:
            source = file.read()
        code = without_text(source)
        yield from check_layers(path, code)
        yield from check_lengths(path, source, code)
        yield from check_name(path, code)
        yield from check_unsafe(path, code)
        if path.startswith("Tests" + os.sep):
            suites.update(re.findall(r"\b(?:struct|class|enum)\s+(\w+Tests)\b", code))
            # Whole targets, too.
            suites.add(path.split(os.sep)[1])
    yield from check_suites(root, suites)
    for folder, count in sorted(counts.items()):
        if count > MAXIMUM_FILES:
            yield f"{folder}: {count} files, {MAXIMUM_FILES} are the limit: give some of them a room of their own"


def self_test():
    """Breaks every rule once and keeps it once, so that no check goes blind."""
    long_body = "".join(f"    work({number})\n" for number in range(80))
    cases = [
        ("layer", "Sources/GarageDriver/A.swift", "import GarageCoding\nstruct A {}\n", "which is not below it"),
        ("layer kept", "Sources/GarageMemory/A.swift", "public import GarageDriver\nstruct A {}\n", None),
        ("unknown module", "Sources/GarageNew/A.swift", "struct A {}\n", "has no layer"),
        ("file", "Sources/GarageDriver/A.swift", "struct A {}\n" + "\n" * 600, "500 are the limit"),
        ("function", "Sources/GarageDriver/A.swift",
         "struct A {\n  func a<T>(\n    _ b: T\n  ) -> Int where T: B {\n" + long_body + "  }\n}\n", "a has 84 lines"),
        ("initializer", "Sources/GarageDriver/A.swift",
         "struct A {\n  init(b: Int = 3) {\n" + long_body + "  }\n}\n", "init has 82 lines"),
        ("function with a reason", "Sources/GarageDriver/A.swift",
         "struct A {\n  // Long because it is a table.\n  func a() {\n" + long_body + "  }\n}\n", None),
        ("requirement", "Sources/GarageDriver/A.swift",
         "protocol A {\n  func a()\n  func b() -> Int\n}\nstruct B {\n" + long_body + "}\n", None),
        ("name", "Sources/GarageDriver/A.swift", "struct B {}\n// struct A {}\nlet a = \"struct A {}\"\n", "no type A"),
        ("name of a suite", "Tests/GarageDriverTests/ATests.swift", "struct B {}\n", "no type ATests"),
        ("models", "Tests/GarageDriverTests/A.swift", "struct B {}\n", None),
        ("topic", "Sources/GarageDriver/A+B.swift", "extension C {}\n", "nor extends A"),
        ("topic kept", "Sources/GarageDriver/A+B.swift", "extension A {}\n", None),
        ("folder", "Sources/GarageDriver/A.swift", None, "21 files"),
        ("a witness", "Tests/GarageDriverTests/ATests.swift", "struct ATests {}\n", "no tests called BTests"),
    ]
    for what, text in [("unsafeBitCast", "unsafeBitCast(1, to: Int.self)"), ("a rebound", "p.assumingMemoryBound(to: A.self)"),
                       ("Unmanaged", "Unmanaged.passRetained(b)"), ("unowned(unsafe)", "unowned(unsafe) let b: B"),
                       ("a pointee", "p.pointee.output.frame.pointee.x"), ("unsafeDowncast", "unsafeDowncast(a, to: B.self)"),
                       ("an integer", "UInt(bitPattern: pointer)")]:
        cases.append((what, "Sources/GarageCoding/A.swift", f"struct A {{}}\nlet a = {text}\n", what))
        cases.append((what + " in its room", "Sources/GarageCoding/Unsafe/A.swift", f"struct A {{}}\nlet a = {text}\n", None))
        cases.append((what + " in a comment", "Sources/GarageCoding/A.swift", f"struct A {{}}\n// {text}\n", None))
    failures = 0
    for name, path, text, expected in cases:
        with tempfile.TemporaryDirectory() as root:
            folder = os.path.join(root, os.path.dirname(path))
            os.makedirs(folder)
            files = {path: text} if text is not None else {
                f"{os.path.dirname(path)}/A{number}.swift": f"struct A{number} {{}}\n" for number in range(21)}
            if name == "a witness":
                os.makedirs(os.path.join(root, "Docs"))
                files["Docs/A.md"] = "`ATests` and `GarageDriverTests` show it, `BTests.one` does not.\n"
            for each, content in files.items():
                with open(os.path.join(root, each), "w", encoding="utf-8") as file:
                    file.write(content)
            found = list(complaints(root))
        holds = any(expected in line for line in found) and len(found) == 1 if expected else not found
        if not holds:
            failures += 1
            print(f"self-test: {name}: expected {expected!r}, found {found}", file=sys.stderr)
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    if sys.argv[1:]:
        sys.exit("usage: check-structure.py [--self-test]")
    found = list(complaints(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")))
    for line in found:
        print(f"structure: {line}", file=sys.stderr)
    if found:
        sys.exit(1)
    print("structure: no complaints")


main()
