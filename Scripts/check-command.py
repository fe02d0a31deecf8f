#!/usr/bin/env python3
"""Builds the command 'garage' and tries what Docs/Command.md says, on stores that the demo makes, on every driver.

Among them what is damaged on purpose: through SQLite itself, below the driver.

GARAGE_COMMAND is where the command is, with the demo beside it, if they were built in release mode already.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
import commandtrials  # noqa: E402 (beside this file)
from trials import ROOT, expect, failures, run  # noqa: E402

# As the Makefile has it; TRAITS=Command,Crypto,PostgreSQL tries stores in a database, too.
TRAITS = os.environ.get("TRAITS", "Command,Crypto")
HAS_POSTGRES = "PostgreSQL" in TRAITS.split(",")
BUILD = ["swift", "build", "--scratch-path", ".build-command", "--traits", TRAITS, "--configuration", "release"]
SERVER = os.path.join(ROOT, "Scripts", "postgres-server.sh")
SAMPLE = """Package: a
Version: 1
Depends: b, c

Package: b
Version: 2
Depends: a
Description: "quoted" \x1b[31mred

Package: c

Package: alone
Version: 4
"""


def build():
    if "GARAGE_COMMAND" not in os.environ:
        # As the Makefile has it, so that the command is not compiled with traits in another order.
        environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
        subprocess.run(
            BUILD + ["--product", "garage-demo"], cwd=ROOT, check=True, stdout=sys.stderr, env=environment)
    lines = subprocess.run(
        ["make", "--silent", "garage"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    command = lines[-1]
    expect(os.access(command, os.X_OK), f"'make garage' ends with the command's path, not with {command}")
    return command, os.path.join(os.path.dirname(command), "garage-demo")


def check_store(garage, store):
    types = json.loads(run(garage, "ls", store, "--json").stdout)["types"]
    expect([(t["type"], t["objects"]) for t in types] == [("GarageDemo.Package", 4)], f"ls: {types}")
    expect(types[0]["bytes"] > 100, f"ls: {types}")
    expect("GarageDemo.Package" in run(garage, "ls", store).stdout, "ls as text")
    page = json.loads(run(garage, "ls", store, "Package", "--limit", "3", "--json").stdout)
    expect(page["identifiers"] == ["a", "alone", "b"] and page["next"] == "b", f"ls of a type: {page}")
    rest = json.loads(run(garage, "ls", store, "Package", "--after", page["next"], "--json").stdout)
    expect(rest["identifiers"] == ["c"] and "next" not in rest, f"the second page: {rest}")
    objects = json.loads(run(garage, "get", store, "Package", "a", "--depth", "2", "--json").stdout)
    expect([o["id"] for o in objects] == ["a", "b", "c"], f"get: {objects}")
    reference = objects[0]["value"]["depends"][0]["$reference"]
    expect(reference == {"type": "GarageDemo.Package", "id": "b", "kind": "linked"}, f"a reference: {reference}")
    text = run(garage, "get", store, "Package", "b").stdout
    expect("\x1b" not in text and '"2"' in text, f"text of a store steers the terminal: {text!r}")
    run(garage, "get", store, "Package", "none", status=1)
    run(garage, "get", store, "Nothing", "a", status=1)
    stats = json.loads(run(garage, "stats", store, "--json").stdout)
    expect(stats["objects"] == 4 and stats["types"][0]["referencesOut"] == {"linked": 3}, f"stats: {stats}")
    report = json.loads(run(garage, "verify", store, "--json").stdout)
    expect(report["isSound"] and report["findings"] == [] and report["objects"] == 4, f"verify: {report}")
    garbage = json.loads(run(garage, "gc", store, "--roots", "Package", "--json").stdout)
    expect(garbage == {"objects": [], "deleted": 0}, f"gc: {garbage}")
    reached = json.loads(run(garage, "gc", store, "--roots", "Package:b", "--json").stdout)
    expect(reached["objects"] and {"type": "GarageDemo.Package", "id": "b"} not in reached["objects"], "gc by an object")
    run(garage, "gc", store, "--roots", "Package:nothing", status=1)
    run(garage, "gc", store, status=2)
    run(garage, "keys", store)


def check_copy(garage, folder, store):
    for name in ["copy.garage", "copy.lmdb"]:
        target = os.path.join(folder, os.path.basename(store) + name)
        run(garage, "copy", store, target)
        check_store(garage, target)
        run(garage, "copy", store, target, status=1)


def check_care(garage, folder, store):
    """Backups, exports, what is taken in, and what is found in a store that nothing is wrong with."""
    base = os.path.join(folder, os.path.basename(store))
    for name, flags in [("backup", []), ("small", ["--compact"])]:
        target = f"{base}-{name}"
        result = json.loads(run(garage, "backup", store, target, "--json", *flags).stdout)
        expect(result["bytes"] > 1000, f"backup: {result}")
        check_store(garage, target)
        expect(json.loads(run(garage, "diff", store, target, "--json").stdout) == [], "a backup differs")
        run(garage, "backup", store, target, status=1)
        expect(not os.path.exists(target + ".partial"), "a backup left something")
    result = json.loads(run(garage, "compact", target, "--json").stdout)
    expect(set(result) == {"bytesBefore", "bytesAfter"}, f"compact: {result}")
    check_store(garage, target)
    lines = f"{base}.jsonl"
    result = json.loads(run(garage, "export", store, lines, "--json").stdout)
    expect(result["objects"] == 4 and result["bytes"] == os.path.getsize(lines), f"export: {result}")
    with open(lines, encoding="utf-8") as file:
        records = [line for line in map(json.loads, file) if "type" in line]
    expect([r["id"] for r in records] == ["a", "alone", "b", "c"], "the lines of an export")
    run(garage, "export", store, lines, status=1)
    for name in ["import.garage", "import.lmdb"]:
        target = f"{base}-{name}"
        run(garage, "import", lines, target)
        check_store(garage, target)
        run(garage, "import", lines, target)
        salvaged = f"{base}-saved-{name}"
        result = json.loads(run(garage, "salvage", target, salvaged, "--json").stdout)
        expect(result["objects"] == 4 and result["notes"] == [], f"salvage: {result}")
        check_store(garage, salvaged)
        run(garage, "diff", target, salvaged)
        result = json.loads(run(garage, "repair", salvaged, "--json").stdout)
        expect(result["indexes"] == [] and result["addedSyncStatuses"] == 0, f"repair: {result}")
    with open(lines, "r+b") as file:
        file.truncate(os.path.getsize(lines) - 10)
    expect("line" in run(garage, "import", lines, f"{base}-import.garage", status=1).stderr, "a cut export")


def check_looking(garage, folder, store):
    found = json.loads(run(garage, "find", store, "Package", 'version = "2"', "--json").stdout)
    expect([o["id"] for o in found] == ["b"], f"find: {found}")
    found = run(garage, "find", store, "Package", 'not (version is nil) and name starts with "a"').stdout.split()
    expect(found == ["a", "alone"], f"find: {found}")
    expect(run(garage, "find", store, "Package", 'name != "a"', "--limit", "1").stdout.split() == ["alone"], "find, limited")
    run(garage, "get", store, "Package", "--", "-5", status=1)
    for nonsense in ["version =", "= 2", '(name = "a"', 'name = "a', "name is 3", 'name = "a" name',
                     "(" * 60_000 + 'name = "a"' + ")" * 60_000, "not " * 30_000 + 'name = "a"']:
        run(garage, "find", store, "Package", nonsense, status=2)
    run(garage, "find", store, "Package", "(" * 150 + 'name = "a"' + ")" * 150)
    # As many as can be, and as deep.
    largest = str((1 << 63) - 1)
    page = json.loads(run(garage, "ls", store, "Package", "--limit", largest, "--json").stdout)
    expect(len(page["identifiers"]) == 4 and "next" not in page, f"ls without a limit: {page}")
    objects = json.loads(run(garage, "get", store, "Package", "a", "--depth", largest, "--json", seconds=30).stdout)
    expect([o["id"] for o in objects] == ["a", "b", "c"], f"get of any depth: {objects}")
    drawing = json.loads(run(garage, "graph", store, "Package", "a", "--json").stdout)
    expect([n["id"] for n in drawing["nodes"]] == ["a", "b", "c"], f"graph: {drawing}")
    expect([(e["from"], e["to"]) for e in drawing["edges"]] == [(0, 1), (0, 2), (1, 0)], f"graph: {drawing}")
    expect(run(garage, "graph", store, "Package", "a").stdout.startswith("digraph {"), "a graph for Graphviz")
    expect("n0 --> n1" in run(garage, "graph", store, "Package", "a", "--mermaid").stdout, "a graph for Mermaid")
    picture = run(garage, "graph", store, "Package", "a", "--svg").stdout
    xml.etree.ElementTree.fromstring(picture)
    run(garage, "graph", store, "Package", "none", status=1)
    other = os.path.join(folder, "other-" + os.path.basename(store))
    run(garage, "copy", store, other + ("/" if os.path.isdir(store) else ""))
    run(garage, "gc", other, "--roots", "Package", "--write")
    run(garage, "diff", store, other)


def check_changing(garage, folder, store):
    """Fields that are changed, and objects that are deleted: each only where --write says so."""
    other = os.path.join(folder, "changed-" + os.path.basename(store))
    run(garage, "copy", store, other + ("/" if os.path.isdir(store) else ""))

    def version():
        return json.loads(run(garage, "get", other, "Package", "b", "--json").stdout)[0]["value"]["version"]

    change = json.loads(run(garage, "set", other, "Package", "b", "version", "9", "--json").stdout)
    expect(change == {"kind": "string", "before": "2", "after": "9", "isMade": False}, f"set: {change}")
    expect(version() == "2", "set changed something without --write")
    run(garage, "set", other, "Package", "b", "version", "9", "--write")
    expect(version() == "9", "set changed nothing")
    differences = json.loads(run(garage, "diff", store, other, "--json", status=1).stdout)
    expect([(d["kind"], d["id"]) for d in differences] == [("changed", "b")], f"set changed {differences}")
    run(garage, "verify", other)
    for arguments in [["b", "name", "x"], ["b", "nothing", "x"], ["a", "depends", "x"], ["a", "depends.0", "x"], ["none", "version", "x"]]:
        run(garage, "set", other, "Package", *arguments, "--write", status=1)
    run(garage, "set", other, "Package", "b", status=2)
    deletion = json.loads(run(garage, "delete", other, "Package", "c", "--json").stdout)
    expect(deletion == {"referrers": [{"type": "GarageDemo.Package", "id": "a"}], "isMade": False}, f"delete: {deletion}")
    run(garage, "get", other, "Package", "c")
    run(garage, "delete", other, "Package", "c", "--write")
    run(garage, "get", other, "Package", "c", status=1)
    run(garage, "delete", other, "Package", "c", "--write", status=1)
    expect("TRAITS=Inspector" in run(garage, "serve", other, status=2).stderr, "serve does not say where the inspector is")


def check_sealed(garage, folder, store):
    """Sealing on the way, with a key in a file and one in the environment."""
    key = os.path.join(folder, "key")
    with open(key, "w", encoding="ascii") as file:
        file.write("0123456789abcdef" * 4 + "\n")
    wrong = os.path.join(folder, "wrong")
    with open(wrong, "wb") as file:
        file.write(bytes(32))
    sealed = os.path.join(folder, "sealed")
    expect("--key-file" in run(garage, "copy", "--seal", store, sealed, status=2).stderr, "--seal asks for no key")
    run(garage, "copy", "--seal", "--unseal", "--key-file", key, store, sealed, status=2)
    expect(not os.path.exists(sealed), "a copy was made that is not sealed")
    run(garage, "copy", "--seal", "--key-file", key, store, sealed)
    for arguments in [[], ["--key-file", wrong], ["--key-file", os.path.join(folder, "none")]]:
        run(garage, "ls", sealed, *arguments, status=3)
    types = json.loads(run(garage, "ls", sealed, "--key-file", key, "--json").stdout)["types"]
    expect(types[0]["objects"] == 4, f"a sealed store: {types}")
    os.environ["GARAGE_KEY"] = "0123456789abcdef" * 4
    try:
        check_store(garage, sealed)
        copy = os.path.join(folder, "sealed-copy")
        run(garage, "copy", sealed, copy)
        run(garage, "backup", sealed, os.path.join(folder, "sealed-backup"))
        run(garage, "salvage", sealed, os.path.join(folder, "sealed-saved"))
        check_store(garage, os.path.join(folder, "sealed-saved"))
        run(garage, "copy", "--unseal", sealed, os.path.join(folder, "unsealed"))
    finally:
        del os.environ["GARAGE_KEY"]
    for name in ["sealed-copy", "sealed-backup", "sealed-saved"]:
        run(garage, "ls", os.path.join(folder, name), status=3)
    check_store(garage, os.path.join(folder, "unsealed"))


def check_ambiguous_keys(garage, folder, store):
    """A file that may be two keys opens what either has sealed, and seals nothing."""
    digits = "00112233445566778899aabbccddeeff"
    paths = {}
    texts = {"both": digits, "decoded": digits + "\n", "plain": digits.encode().hex() + "\n", "new": "f" * 64}
    for name, text in texts.items():
        paths[name] = os.path.join(folder, f"key-{name}")
        with open(paths[name], "w", encoding="ascii") as file:
            file.write(text)
    target = os.path.join(folder, "of-two-keys")
    for place in [target, target + "/"]:
        result = run(garage, "copy", "--seal", "--key-file", paths["both"], store, place, status=2)
        expect("hexadecimal" in result.stderr and not os.path.exists(target), f"sealed with one of two keys: {result.stderr}")
    open(target, "w", encoding="ascii").close()
    run(garage, "copy", "--seal", "--key-file", paths["both"], store, target, status=2)
    for name in ["decoded", "plain"]:
        sealed = os.path.join(folder, f"sealed-{name}")
        run(garage, "copy", "--seal", "--key-file", paths[name], store, sealed)
        types = json.loads(run(garage, "ls", sealed, "--key-file", paths["both"], "--json").stdout)["types"]
        expect(types[0]["objects"] == 4, f"a store sealed with the {name} key: {types}")
        saved = os.path.join(folder, f"saved-{name}")
        run(garage, "salvage", sealed, saved, "--key-file", paths["both"], status=2)
        run(garage, "rekey", sealed, "--key-file", paths["new"], "--new-key-file", paths["both"], status=2)
        run(garage, "rekey", sealed, "--key-file", paths["both"], "--new-key-file", paths["new"])
        run(garage, "ls", sealed, "--key-file", paths["both"], status=3)
        run(garage, "ls", sealed, "--key-file", paths["new"])


def check_steering(garage, demo, folder):
    """Nothing of what a store or a command line holds steers the terminal."""
    packages, store = os.path.join(folder, "odd-packages"), os.path.join(folder, "odd")
    with open(packages, "w", encoding="utf-8") as file:
        file.write("Package: a\nVersion: 1\nDepends: \x1b[2Jb\n\nPackage: \x1b[2Jb\nVersion: 2\n")
    run(demo, "--driver", "sqlite", "--input", packages, "--store", store)
    for arguments, status in [
            (["get", store, "Package", "a", "--depth", "1"], 0), (["get", store, "Package", "\x1b[2Jx"], 1),
            (["get", store, "\x1b[2JPackage", "a"], 1), (["ls", store + "\x1b[2J"], 3), (["verify", store], 0)]:
        result = run(garage, *arguments, status=status)
        expect("\x1b" not in result.stdout + result.stderr, f"{arguments} steers the terminal: {result}")
    expect("[2Jb" in run(garage, "get", store, "Package", "\x1b[2Jb").stdout, "the odd name is not there")


def check_deep(garage, demo, folder):
    """A long way of references is shown to its end on a small stack."""
    packages, store = os.path.join(folder, "deep-packages"), os.path.join(folder, "deep")
    count = 500
    with open(packages, "w", encoding="utf-8") as file:
        for number in range(count):
            depends = f"Depends: p{number + 1}\n" if number + 1 < count else ""
            file.write(f"Package: p{number}\nVersion: 1\n{depends}\n")
    run(demo, "--driver", "sqlite", "--input", packages, "--store", store)
    result = subprocess.run(
        ["sh", "-c", 'ulimit -s 512; exec "$0" "$@"', garage, "get", store, "Package", "p0", "--depth", "1000"],
        capture_output=True, text=True)
    shown = result.stdout.count("(parked ")
    expect(result.returncode == 0 and shown == count, f"get of a long way: status {result.returncode}, {shown} objects")


def check_rescue(garage, folder, store):
    """A store with a page that is gone: found, and the rest brought over, for either engine."""
    data = os.path.join(store, "data.mdb") if os.path.isdir(store) else store
    damaged = os.path.join(folder, "damaged-" + os.path.basename(store))
    run(garage, "backup", store, damaged)
    data = os.path.join(damaged, "data.mdb") if os.path.isdir(damaged) else damaged
    with open(data, "r+b") as file:
        size = os.path.getsize(data)
        file.seek((size // 4096 - 1) * 4096)
        file.write(bytes(4096))
    result = subprocess.run([garage, "verify", damaged, "--json"], capture_output=True, text=True, check=False)
    expect(result.returncode in (1, 3), f"verify of a damaged file: {result}")
    linked = damaged + "-linked"
    os.symlink(damaged, linked)
    for place in [damaged, linked, os.path.join(folder, ".", os.path.basename(damaged))]:
        run(garage, "salvage", damaged, place, status=2)
    saved = os.path.join(folder, "saved-" + os.path.basename(store))
    result = subprocess.run([garage, "salvage", damaged, saved, "--json"], capture_output=True, text=True, check=False)
    expect(result.returncode in (0, 1) and "objects" in json.loads(result.stdout), f"salvage of a damaged file: {result}")


def check_damage(garage, store):
    database = sqlite3.connect(store)
    (key, value), = database.execute(
        "SELECT key, value FROM entries WHERE substr(key, 1, 1) = x'10' AND substr(key, -1) = x'63'")
    damaged = value[:-1] + bytes([value[-1] ^ 1])
    with database:
        database.execute("UPDATE entries SET value = ? WHERE key = ?", (damaged, key))
    database.close()
    report = json.loads(run(garage, "verify", store, "--json", status=1).stdout)
    expect(
        not report["isSound"] and [(f["id"], f["severity"]) for f in report["findings"]] == [("c", "damage")],
        f"verify of damage: {report}")
    expect("damage" in run(garage, "verify", store, status=1).stdout, "verify of damage, as text")
    run(garage, "get", store, "Package", "c", status=1)


def check_archive_on_server(demo, folder, url):
    """The archive that apt knows, where it knows one: the same counts as on SQLite, which check-archive.sh compares."""
    archive = os.path.join(folder, "archive")
    with open(archive, "wb") as file:
        subprocess.run("command -v apt-cache >/dev/null && apt-cache dumpavail", shell=True, stdout=file, check=False)
    with open(archive, "rb") as file:
        if sum(line.startswith(b"Package:") for line in file) < 10000:
            print("check-command: apt knows no archive here: none is parked on the server", file=sys.stderr)
            return
    found = []
    for store in [["--driver", "sqlite"], ["--driver", "postgresql", "--store", url]]:
        text = run(demo, "--json", "--input", archive, *store).stdout
        print(f"check-command: {text.strip()}", file=sys.stderr)
        found.append({k: v for k, v in json.loads(text).items() if k not in ("bytes", "driver", "seconds")})
    expect(found[0] == found[1], f"the archive's counts on SQLite and on the server: {found}")


def check_server(garage, demo, folder, packages):
    """A store in a database, on a server that this starts; without libpq, what is said of that."""
    if not HAS_POSTGRES:
        message = run(garage, "ls", "postgresql://garage:secret@127.0.0.1:1/postgres", status=3).stderr
        expect("built without PostgreSQL" in message and "secret" not in message, f"a URL without the trait: {message}")
        expect("TRAITS=Command,Crypto,PostgreSQL" in message, f"how to build the command with PostgreSQL: {message}")
        message = run(garage, "ls", "postgresql://a@127.0.0.1:1/b?sslpassword=secret&password=secret#c", status=3).stderr
        expect("sslpassword=***&password=***#c" in message and "secret" not in message, f"passwords among parameters: {message}")
        return
    gone = run(garage, "ls", "postgresql://garage:secret@127.0.0.1:1/postgres", status=3).stderr
    expect("connection" in gone and "secret" not in gone, f"a server that is not there: {gone}")
    if subprocess.run([SERVER, "binaries"], capture_output=True, check=False).returncode != 0:
        print("check-command: no PostgreSQL server is installed: nothing is tried on one", file=sys.stderr)
        return
    place = tempfile.mkdtemp()
    port = subprocess.run([SERVER, "port"], capture_output=True, text=True, check=True).stdout.strip()
    try:
        subprocess.run([SERVER, "start", place, port, "fsync=off"], check=True)
        url = f"postgresql://garage@127.0.0.1:{port}/postgres"
        # What is not there is not made.
        for command in [["ls"], ["repair"], ["gc", "--roots", "Package", "--write"]]:
            run(garage, command[0], url, *command[1:], status=3)
        tables = subprocess.run(
            [SERVER, "sql", port, "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'garage%'"],
            capture_output=True, text=True, check=True).stdout.strip()
        expect(tables == "0", f"looking made {tables} tables")
        run(demo, "--driver", "postgresql", "--input", packages, "--store", url)
        check_store(garage, url)
        run(garage, "find", url, "Package", 'version = "2"')
        run(garage, "graph", url, "Package", "a")
        file = os.path.join(folder, "from-server")
        run(garage, "copy", url, file)
        check_store(garage, file)
        run(garage, "copy", file, url + "#second%20one")
        check_store(garage, url + "#second%20one")
        run(garage, "copy", file, url + "#second%20one", status=1)
        run(garage, "diff", url, url + "#second%20one")
        lines = os.path.join(folder, "from-server.jsonl")
        run(garage, "export", url, lines)
        run(garage, "import", lines, url + "#third")
        check_store(garage, url + "#third")
        run(garage, "repair", url)
        run(garage, "backup", url, os.path.join(folder, "no-backup"), status=1)
        run(garage, "compact", url, status=1)
        for path_only in [["salvage", url, os.path.join(folder, "no-salvage")]]:
            run(garage, *path_only, status=3)
        run(garage, "ls", url + "#nothing", status=3)
        subprocess.run([SERVER, "sql", port, "CREATE DATABASE archive"], check=True)
        check_archive_on_server(demo, folder, url.replace("/postgres", "/archive"))
    finally:
        subprocess.run([SERVER, "stop", place, "immediate"], check=False)
        shutil.rmtree(place, ignore_errors=True)


def main():
    garage, demo = build()
    with tempfile.TemporaryDirectory() as folder:
        packages = os.path.join(folder, "packages")
        with open(packages, "w", encoding="utf-8") as file:
            file.write(SAMPLE)
        for driver in ["sqlite", "lmdb"]:
            store = os.path.join(folder, driver)
            run(demo, "--driver", driver, "--input", packages, "--store", store)
            check_store(garage, store)
            check_copy(garage, folder, store)
            check_care(garage, folder, store)
            check_looking(garage, folder, store)
            check_changing(garage, folder, store)
            check_rescue(garage, folder, store)
            commandtrials.check_watch(garage, folder, store)
            commandtrials.check_rekey(garage, folder, store)
            commandtrials.check_damaged_pages(garage, folder, store)
            commandtrials.check_terminal(garage, store)
            commandtrials.check_streams(garage, folder, store)
        check_sealed(garage, folder, os.path.join(folder, "sqlite"))
        check_ambiguous_keys(garage, folder, os.path.join(folder, "sqlite"))
        check_steering(garage, demo, folder)
        check_deep(garage, demo, folder)
        commandtrials.check_damaged_record(garage, folder, os.path.join(folder, "sqlite"))
        commandtrials.check_lost_names(garage, folder, os.path.join(folder, "sqlite"))
        commandtrials.check_nothing_is_made(garage, folder, packages)
        check_damage(garage, os.path.join(folder, "sqlite"))
        check_server(garage, demo, folder, packages)
        run(garage, "ls", "mysql://127.0.0.1/app", status=3)
        # What is not there is not made.
        for missing in ["none", "none/", "none/none"]:
            for command in [["ls"], ["compact"], ["repair"], ["backup", "to"], ["export", "to"], ["salvage", "to"]]:
                target = [os.path.join(folder, "nothing")] if command[1:] else []
                run(garage, command[0], os.path.join(folder, missing), *target, status=3)
                expect(not os.path.exists(os.path.join(folder, "nothing")), f"{command[0]} made something of nothing")
            run(garage, "import", os.path.join(folder, missing), os.path.join(folder, "nothing"), status=3)
            expect(not os.path.exists(os.path.join(folder, "nothing")), "import made something of nothing")
            expect(not os.path.exists(os.path.join(folder, "none")), "a store was made by looking at it")
        os.mkdir(os.path.join(folder, "empty"))
        run(garage, "verify", os.path.join(folder, "empty"), status=3)
        expect(os.listdir(os.path.join(folder, "empty")) == [], "a store was made by looking at a folder")
        run(garage, "ls", packages, status=3)
        run(garage, "ls", status=2)
        run(garage, "nonsense", status=2)
        run(garage, "--help")
        run(garage, "ls", "--help")
        prefix = os.path.join(folder, "prefix")
        run("make", "--silent", "install", f"PREFIX={prefix}")
        for path in [
                "bin/garage", "share/man/man1/garage.1", "share/bash-completion/completions/garage",
                "share/zsh/site-functions/_garage", "share/fish/vendor_completions.d/garage.fish"]:
            expect(os.path.getsize(os.path.join(prefix, path)) > 0, f"{path} was not installed")
        run(os.path.join(prefix, "bin/garage"), "ls", os.path.join(folder, "lmdb"))
        commandtrials.check_descriptions(garage, prefix)
        commandtrials.check_statuses(garage, folder, with_inspector="Inspector" in TRAITS.split(","))
    if failures:
        sys.exit(1)
    print("check-command: all as it should be")


if __name__ == "__main__":
    main()
