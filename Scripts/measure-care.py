#!/usr/bin/env python3
"""Measures the command on large stores: how fast it verifies, in how much memory, how soon it lists, and whether what it makes is
the same, also where it is ended in the middle.

    measure-care.py [--objects 1000000] [--folder /tmp/...] [--keep] [--archive STORE] [--kills 10]

Builds the command and the program that makes the stores, in release mode. Prints a line for each figure; what has to be equal and
is not ends it with 1. Times are of whole processes, the median of five, with the file in the system's cache.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from trials import ROOT, expect, failures  # noqa: E402 (beside this file)

BUILD = ["swift", "build", "--scratch-path", ".build-command", "--traits", "Command,Crypto", "--configuration", "release"]


class Result:
    """A process that ended: seconds, its memory at the most, and what it wrote."""

    def __init__(self, *arguments):
        started = time.monotonic()
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.anonymous = 0
        reader = os.fdopen(os.dup(process.stdout.fileno()), "rb")
        os.set_blocking(reader.fileno(), False)
        output = b""
        while True:
            output += reader.read() or b""
            self.anonymous = max(self.anonymous, self.memory(process.pid))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.002)
        self.seconds = time.monotonic() - started
        output += reader.read() or b""
        reader.close()
        process.stdout.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.status, self.output, self.resident = process.returncode, output, usage.ru_maxrss / 1024

    @staticmethod
    def memory(pid):
        """What is the process's own, in MB: pages of a file that it maps are the system's."""
        try:
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                for line in file:
                    if line.startswith("RssAnon"):
                        return int(line.split()[1]) / 1024
        except OSError:
            pass
        return 0


def size(store):
    if os.path.isfile(store):
        return os.path.getsize(store)
    # LMDB's file may have holes.
    return sum(os.stat(os.path.join(store, name)).st_blocks * 512 for name in os.listdir(store))


def timed(what, *arguments, status=0, runs=5):
    results = [Result(*arguments) for _ in range(runs)]
    for result in results:
        expect(result.status == status, f"{what}: ended with {result.status}: {result.output[-300:]}")
    seconds = statistics.median(result.seconds for result in results)
    print(
        f"{what}: {seconds * 1000:.0f} ms (at most {max(r.seconds for r in results) * 1000:.0f}), "
        f"memory {max(r.anonymous for r in results):.0f} MB, with what is mapped {max(r.resident for r in results):.0f} MB",
        flush=True)
    return seconds, results[-1]


# What a store says of itself, such as when it was made.
OWN_KEY = b"\x00garage"


def digest(store, leaving_out=None):
    """Of all entries of an SQLite store, in the order of their keys."""
    result = hashlib.sha256()
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    for key, value in database.execute("SELECT key, value FROM entries ORDER BY key"):
        if key == leaving_out:
            continue
        result.update(len(key).to_bytes(4, "big") + key + len(value).to_bytes(8, "big") + value)
    database.close()
    return result.hexdigest()


def measure_reading(garage, store):
    name = os.path.basename(store)
    byte_count = size(store)
    timed(f"{name}: ls", garage, "ls", store, "--json")
    _, result = timed(f"{name}: ls, as text", garage, "ls", store)
    types = json.loads(Result(garage, "ls", store, "--json").output)["types"]
    largest = max(types, key=lambda entry: entry["objects"])["type"]
    _, result = timed(f"{name}: ls of a type", garage, "ls", store, largest, "--json")
    page = json.loads(result.output)
    timed(f"{name}: its second page", garage, "ls", store, largest, "--after", page["next"])
    timed(f"{name}: get", garage, "get", store, largest, page["identifiers"][0])
    timed(f"{name}: stats", garage, "stats", store, runs=1)
    seconds, result = timed(f"{name}: verify", garage, "verify", store, "--json", runs=3)
    report = json.loads(result.output)
    print(
        f"{name}: verify read {byte_count / seconds / 1e6:.0f} MB/s of a file of {byte_count / 1e6:.0f} MB, "
        f"{report['bytes'] / seconds / 1e6:.0f} MB/s of keys and values", flush=True)
    expect(report["isSound"], f"{name} is not sound: {report}")


def measure_copies(garage, fixture, folder, stores, kills):
    first, count = stores[0], 0
    before = digest(first)
    around = [os.path.join(folder, name) for name in ["around.lmdb", "around.sqlite"]]
    source = first
    for target in around:
        # Ended at random points, and gone on with.
        started = time.monotonic()
        while True:
            process = subprocess.Popen(
                [garage, "copy", source, target], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                expect(process.wait(random.uniform(0.05, 3) if count < kills else None) == 0, f"copy to {target} failed")
                break
            except subprocess.TimeoutExpired:
                process.send_signal(random.choice([signal.SIGKILL, signal.SIGINT]))
                process.wait()
                count += 1
                expect(Result(garage, "ls", target).status == 3, f"what is copied in part to {target} is opened")
        print(f"copy {os.path.basename(source)} to {os.path.basename(target)}: {time.monotonic() - started:.1f} s, "
              f"with {count} ends before", flush=True)
        source = target
    expect(digest(around[1]) == before, "SQLite → LMDB → SQLite is not byte-equal")
    lines = os.path.join(folder, "lines.jsonl")
    again = os.path.join(folder, "again.sqlite")
    timed("export", garage, "export", first, lines, runs=1)
    timed("import", garage, "import", lines, again, runs=1)
    timed("diff of what was exported and taken in", garage, "diff", first, again, runs=1)
    expect(digest(again, OWN_KEY) == digest(first, OWN_KEY), "export → import is not record-equal")
    for path in [*around, lines, again]:
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def measure_backup(garage, fixture, folder, store, driver):
    """While somebody commits all the time."""
    writer = subprocess.Popen([fixture, "write", driver, store, "100000000"], stdout=subprocess.PIPE, text=True)
    writer.stdout.readline()
    for name, flags in [("backup", []), ("small", ["--compact"])]:
        target = os.path.join(folder, f"{name}-{driver}")
        timed(f"{name} of {os.path.basename(store)} under a writer", garage, "backup", store, target, *flags, runs=1)
        timed(f"verify of that {name}", garage, "verify", target, runs=1)
        shutil.rmtree(target) if os.path.isdir(target) else os.remove(target)
    expect(writer.poll() is None, "the writer ended")
    writer.send_signal(signal.SIGTERM)
    commits = writer.communicate()[0].split()
    print(f"{os.path.basename(store)}: {commits[-1] if commits else 0} commits meanwhile", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--folder")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--archive", help="another store, which is read alone")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--reading", action="store_true", help="only reading")
    arguments = parser.parse_args()
    for product in ["garage", "InspectorFixture"]:
        # As the Makefile has it.
        environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
        subprocess.run([*BUILD, "--product", product], cwd=ROOT, check=True, stdout=sys.stderr, env=environment)
    binaries = subprocess.run(
        [*BUILD, "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    garage, fixture = (os.path.join(binaries, name) for name in ["garage", "InspectorFixture"])
    folder = arguments.folder or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    stores = []
    for driver in ["sqlite", "lmdb"]:
        store = os.path.join(folder, f"notes-{arguments.objects}.{driver}")
        if not os.path.exists(store):
            started = time.monotonic()
            subprocess.run([fixture, "make", driver, store, str(arguments.objects)], check=True)
            print(f"{os.path.basename(store)}: made in {time.monotonic() - started:.0f} s, {size(store) / 1e6:.0f} MB", flush=True)
        stores.append(store)
    for store in stores + ([arguments.archive] if arguments.archive else []):
        measure_reading(garage, store)
    if not arguments.reading:
        measure_copies(garage, fixture, folder, stores, arguments.kills)
        for store, driver in zip(stores, ["sqlite", "lmdb"]):
            measure_backup(garage, fixture, folder, store, driver)
    if not arguments.keep:
        shutil.rmtree(folder)
    if failures:
        sys.exit(1)


if __name__ == "__main__":
    main()
