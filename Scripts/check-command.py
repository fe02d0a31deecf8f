#!/usr/bin/env python3
"""Builds the command 'garage' and tries what Docs/Command.md says, on stores that the demo makes, on every driver.

Among them what is damaged on purpose: through SQLite itself, below the driver.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = ["swift", "build", "--scratch-path", ".build-command", "--traits", "Command", "--configuration", "release"]
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
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print(f"check-command: FAILED: {what}", file=sys.stderr)


def run(*arguments, status=0):
    result = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    expect(
        result.returncode == status,
        f"{' '.join(arguments[1:])}: ended with {result.returncode}, not {status}: {result.stdout}{result.stderr}")
    return result


def build():
    subprocess.run(BUILD + ["--product", "garage-demo"], cwd=ROOT, check=True, stdout=sys.stderr)
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
    run(garage, "gc", store, status=2)
    run(garage, "keys", store)


def check_copy(garage, folder, store):
    for name in ["copy.garage", "copy.lmdb"]:
        target = os.path.join(folder, os.path.basename(store) + name)
        run(garage, "copy", store, target)
        check_store(garage, target)
        run(garage, "copy", store, target, status=1)


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
        check_damage(garage, os.path.join(folder, "sqlite"))
        # What is not there is not made.
        for missing in ["none", "none/", "none/none"]:
            run(garage, "ls", os.path.join(folder, missing), status=3)
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
    if failures:
        sys.exit(1)
    print("check-command: all as it should be")


if __name__ == "__main__":
    main()
