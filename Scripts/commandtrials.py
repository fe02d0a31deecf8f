"""Trials of the command 'garage' beside what each of its commands does: watching, keys, damage, what describes it."""

import json
import os
import pty
import random
import re
import shutil
import signal
import sqlite3
import subprocess

from trials import ROOT, Lines, expect, run, statuses

PACKAGE = "GarageDemo.Package"


def data_file(store):
    return os.path.join(store, "data.mdb") if os.path.isdir(store) else store


def copied(garage, store, folder, name):
    """A store of the same kind with the same entries."""
    other = os.path.join(folder, f"{name}-{os.path.basename(store)}")
    run(garage, "copy", store, other + ("/" if os.path.isdir(store) else ""))
    return other


# MARK: Watching


def check_watch(garage, folder, store):
    """What other processes commit, each as it comes."""
    other = copied(garage, store, folder, "watched")
    lines = os.path.join(folder, f"watched-{os.path.basename(store)}.jsonl")
    run(garage, "export", other, lines)
    watch = Lines(garage, "watch", other, "--json")
    text = Lines(garage, "watch", other, "--count", "3")
    beginning = json.loads(watch.next() or "{}")
    expect(beginning == {"watching": other, "objects": 4, "keys": 0}, f"watch begins with {beginning}")
    expect("4 objects" in text.next(text.errors), "watch does not say what it watches")
    nothing = {"added": [], "changed": [], "deleted": [], "keysRemoved": [], "keysSet": [], "keyCount": 0, "objectCount": 1}

    def expect_change(what, **parts):
        change = json.loads(watch.next() or "{}")
        at = change.pop("at", "")
        expect(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", at), f"watch: {what}: at {at}")
        expect(change == {**nothing, **parts}, f"watch: {what}: {change}")

    run(garage, "set", other, "Package", "b", "version", "9", "--write")
    expect_change("a change", changed=[{"type": PACKAGE, "id": "b"}])
    expect("1 changed" in text.next() and text.next() == f'  ~ {PACKAGE} "b"', "a change, as text")
    run(garage, "delete", other, "Package", "alone", "--write")
    expect_change("a deletion", deleted=[{"type": PACKAGE, "id": "alone"}])
    expect("1 deleted" in text.next() and text.next() == f'  - {PACKAGE} "alone"', "a deletion, as text")
    # Import puts all of them again, of which those two are not what was there.
    run(garage, "import", lines, other)
    expect_change(
        "an import", added=[{"type": PACKAGE, "id": "alone"}], changed=[{"type": PACKAGE, "id": "b"}], objectCount=2)
    expect("1 new, 1 changed" in text.next(), "an import, as text")
    expect(text.process.wait(30) == 0, "watch --count 3 ends with the third")
    expect(watch.end(signal.SIGINT) == 0, "told to end, watch does not end with 0")
    expect(watch.lines.empty(), "watch said more than there was")
    statuses["watch"] = statuses.get("watch", set()) | {0}
    run(garage, "watch", other, "--count", "0", status=2)


# MARK: Keys


def check_rekey(garage, folder, plain):
    """Another key for a sealed store: the old one opens nothing afterwards."""
    keys = {}
    for name, content in [("old", b"0123456789abcdef" * 4), ("new", b"fedcba9876543210" * 4), ("short", b"0" * 16), ("bad", b"x")]:
        keys[name] = os.path.join(folder, f"key-{name}")
        with open(keys[name], "wb") as file:
            file.write(content)
    store = os.path.join(folder, "rekeyed-" + os.path.basename(plain))
    run(garage, "copy", "--seal", "--key-file", keys["old"], plain, store + ("/" if os.path.isdir(plain) else ""))

    def rekey(old, new, status, *flags, place=store):
        arguments = ["--key-file", keys[old]] if old else []
        arguments += ["--new-key-file", keys[new]] if new else []
        return run(garage, "rekey", place, *arguments, *flags, status=status)

    expect("--new-key-file" in rekey("old", None, 3).stderr, "rekey does not say that the new key is missing")
    expect("--key-file" in rekey(None, "new", 3).stderr, "rekey does not say that the old key is missing")
    rekey("old", "old", 2)
    rekey("old", "bad", 3)
    rekey("bad", "new", 3)
    rekey("short", "new", 3)
    rekey("old", "new", 3, place=plain)
    rekey("old", "new", 3, place=store + "-none")
    expect(not os.path.exists(store + "-none"), "rekey made a store")
    types = json.loads(run(garage, "ls", store, "--key-file", keys["old"], "--json").stdout)["types"]
    result = json.loads(rekey("old", "new", 0, "--json").stdout)
    expect(result["isComplete"] and result["resealed"] == result["entries"] > 4 and result["failed"] == 0, f"rekey: {result}")
    run(garage, "ls", store, "--key-file", keys["old"], status=3)
    expect(json.loads(run(garage, "ls", store, "--key-file", keys["new"], "--json").stdout)["types"] == types, "a new key")
    expect(json.loads(rekey("old", "new", 0, "--json").stdout)["resealed"] == 0, "rekey again seals nothing")
    environment = {**os.environ, "GARAGE_KEY": "fedcba9876543210" * 4, "GARAGE_NEW_KEY": "0123456789abcdef" * 4}
    text = run(garage, "rekey", store, env=environment).stdout
    expect("not needed any more" in text, f"rekey as text: {text}")
    run(garage, "verify", store, "--key-file", keys["old"])
    if os.path.isfile(store):
        database = sqlite3.connect(store)
        with database:
            (key, value), = database.execute(
                "SELECT key, value FROM entries WHERE substr(key, 1, 1) = x'10' AND substr(key, -1) = x'63'")
            database.execute("UPDATE entries SET value = ? WHERE key = ?", (value[:-1] + bytes([value[-1] ^ 1]), key))
        database.close()
        result = json.loads(rekey("old", "new", 1, "--json").stdout)
        expect(result["failed"] == 1 and len(result["failures"]) == 1 and not result["isComplete"], f"rekey of damage: {result}")
        found = json.loads(run(garage, "find", store, "Package", 'name != "x"', "--key-file", keys["new"], "--json", status=1).stdout)
        expect([o["id"] for o in found] == ["a", "alone", "b"], f"find beside a value that does not open: {found}")
        types = json.loads(run(garage, "ls", store, "--key-file", keys["new"], "--json").stdout)["types"]
        expect(types[0]["objects"] == 4, f"ls beside a value that does not open: {types}")


# MARK: Damage


def check_damaged_record(garage, folder, store):
    """One object that cannot be read keeps nobody from the others."""
    other = os.path.join(folder, "one-damaged")
    run(garage, "copy", store, other)
    database = sqlite3.connect(other)
    with database:
        (key, value), = database.execute(
            "SELECT key, value FROM entries WHERE substr(key, 1, 1) = x'10' AND substr(key, -1) = x'63'")
        database.execute("UPDATE entries SET value = ? WHERE key = ?", (value[:-1] + bytes([value[-1] ^ 1]), key))
        # Entries of others in the spaces of records, texts and typed keys.
        for key in [b"\x10", b"\x10abc", b"\x10" + b"z" * 8, b"\x01x", b"\x20", b"\x21\x01", b"\x30", b"\x30\x01no"]:
            database.execute("INSERT INTO entries (key, value) VALUES (?, ?)", (key, b"nonsense"))
    database.close()
    result = run(garage, "find", other, "Package", 'not (name = "x")', "--json", status=1)
    expect([o["id"] for o in json.loads(result.stdout)] == ["a", "alone", "b"], f"find beside damage: {result}")
    expect('"c"' in result.stderr and "damaged" in result.stderr, f"find says what it could not read: {result.stderr}")
    types = json.loads(run(garage, "ls", other, "--json").stdout)["types"]
    expect([(t["type"], t["objects"]) for t in types] == [(PACKAGE, 4)], f"ls beside damage: {types}")
    page = json.loads(run(garage, "ls", other, "Package", "--json").stdout)["identifiers"]
    expect(page == ["a", "alone", "b", "c"], f"ls of a type beside damage: {page}")
    objects = json.loads(run(garage, "get", other, "Package", "a", "--depth", "2", "--json").stdout)
    expect([o["id"] for o in objects] == ["a", "b"], f"get beside damage: {objects}")
    expect("damaged" in run(garage, "get", other, "Package", "a", "--depth", "2").stdout, "get, as text, beside damage")
    drawing = json.loads(run(garage, "graph", other, "Package", "a", "--json").stdout)
    expect([(n["id"], n["exists"]) for n in drawing["nodes"]] == [("a", True), ("b", True), ("c", True)], f"graph: {drawing}")
    differences = json.loads(run(garage, "diff", store, other, "--json", status=1).stdout)
    found = {(d["kind"], d.get("id") or d.get("key")) for d in differences}
    expect(("damaged", "c") in found and ("damaged", "no") in found and len(found) == 3, f"diff beside damage: {found}")
    result = run(garage, "keys", other, "--json", status=1)
    expect(json.loads(result.stdout) == {"keys": []} and "no" in result.stderr, f"keys beside damage: {result}")
    run(garage, "stats", other)
    run(garage, "verify", other, status=1)
    run(garage, "get", other, "Package", "c", status=1)
    expect("cannot be told" in run(garage, "delete", other, "Package", "c", "--write").stderr, "delete beside damage")
    expect(len(json.loads(run(garage, "ls", other, "Package", "--json").stdout)["identifiers"]) == 3, "a damaged object stays")


def check_lost_names(garage, folder, store):
    """A type whose name is lost is named by digits, in what is said and in what is asked."""
    other = os.path.join(folder, "lost-names")
    run(garage, "copy", store, other)
    database = sqlite3.connect(other)
    with database:
        database.execute("DELETE FROM entries WHERE substr(key, 1, 1) = x'01'")
    database.close()
    name = json.loads(run(garage, "ls", other, "--json").stdout)["types"][0]["type"]
    expect(re.fullmatch("[0-9a-f]{16}", name), f"a type without a name: {name}")
    objects = json.loads(run(garage, "get", other, name, "a", "--json").stdout)
    expect(objects[0]["value"]["depends"][0]["$reference"]["type"] == name, f"what it refers to: {objects}")
    garbage = json.loads(run(garage, "gc", other, "--roots", f"{name}:c", "--json").stdout)["objects"]
    expect(garbage == [{"type": name, "id": identifier} for identifier in ["a", "alone", "b"]], f"gc: {garbage}")
    deletion = json.loads(run(garage, "delete", other, name, "c", "--json").stdout)
    expect(deletion["referrers"] == [{"type": name, "id": "a"}], f"delete: {deletion}")


def damages(data, page, other):
    """Contents of a store's file with a page that is not as it was."""
    start, end = page * 4096, page * 4096 + 4096
    yield "zeroed", data[:start] + bytes(4096) + data[end:]
    yield "garbled", data[:start] + bytes(b ^ 0x5A for b in data[start:end]) + data[end:]
    yield "random", data[:start] + random.randbytes(4096) + data[end:]
    yield "swapped", data[:start] + data[other * 4096:other * 4096 + 4096] + data[end:]
    yield "cut", data[:start]


def check_damaged_pages(garage, folder, store):
    """Whatever page of a store is damaged, every command ends by itself, and says what to do."""
    whole = os.path.join(folder, "pages-" + os.path.basename(store))
    run(garage, "backup", store, whole)
    with open(data_file(whole), "rb") as file:
        data = file.read()
    seed = random.randrange(1 << 32)
    random.seed(seed)
    place = os.path.join(folder, "damaged-pages")
    target = os.path.join(folder, "from-damaged")
    crashes = 0
    commands = [
        ["ls"], ["ls", "Package"], ["get", "Package", "a"], ["keys"], ["stats"], ["verify"], ["find", "Package", 'name = "a"'],
        ["graph", "Package", "a"], ["gc", "--roots", "Package"], ["backup", target], ["export", target], ["copy", target],
        ["salvage", target], ["repair"], ["compact"], ["set", "Package", "b", "version", "9", "--write"],
        ["delete", "Package", "c", "--write"], ["watch", "--count", "1"], ["diff", whole]]
    pages = len(data) // 4096
    for page in range(pages):
        for damage, content in damages(data, page, random.randrange(pages)):
            if content == data:
                continue
            for command in random.sample(commands, 6):
                shutil.rmtree(place, ignore_errors=True)
                for left in [place, place + "-wal", place + "-shm", target, target + "-wal", target + "-shm"]:
                    if os.path.isdir(left):
                        shutil.rmtree(left)
                    elif os.path.exists(left):
                        os.remove(left)
                if os.path.isdir(whole):
                    os.mkdir(place)
                with open(data_file(place) if os.path.isdir(place) else place, "wb") as file:
                    file.write(content)
                what = f"{' '.join(command)} of {os.path.basename(store)} with page {page} of {pages} {damage}, seed {seed}"
                if command[0] == "watch":
                    watch = subprocess.Popen([garage, "watch", place], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    try:
                        result = subprocess.CompletedProcess(command, watch.wait(1), "", watch.stderr.read())
                    except subprocess.TimeoutExpired:
                        watch.send_signal(signal.SIGTERM)
                        result = subprocess.CompletedProcess(command, watch.wait(30), "", watch.stderr.read())
                else:
                    try:
                        result = subprocess.run(
                            [garage, command[0], place, *command[1:]], capture_output=True, text=True, check=False, timeout=60)
                    except subprocess.TimeoutExpired:
                        expect(False, f"{what}: does not end")
                        continue
                expect(result.returncode in (0, 1, 3), f"{what}: ends with {result.returncode}: {result.stderr}")
                if result.returncode == 3:
                    expect("garage: " in result.stderr and len(result.stderr) > 30, f"{what}: does not say why: {result.stderr}")
                crashes += "gave up in the middle" in result.stderr
    print(f"{os.path.basename(store)}: {pages} pages damaged; {crashes} times the engine gave up, and that was said")


# MARK: What is nothing, and what is no garage


def check_nothing_is_made(garage, folder, packages):
    """Commands that write make no store where there is none, and leave alone what is another's."""
    empty = os.path.join(folder, "empty-file")
    foreign = os.path.join(folder, "foreign.sqlite")
    database = sqlite3.connect(foreign)
    with database:
        database.execute("CREATE TABLE notes (text)")
    database.close()
    with open(empty, "wb"):
        pass
    for place in [empty, foreign, packages]:
        with open(place, "rb") as file:
            before = file.read()
        for command in [
                ["ls"], ["compact"], ["repair"], ["gc", "--roots", "Package", "--write"], ["set", "T", "1", "f", "v", "--write"],
                ["delete", "T", "1", "--write"], ["watch"], ["stats"], ["verify"], ["keys"]]:
            run(garage, command[0], place, *command[1:], status=3)
            with open(place, "rb") as file:
                expect(file.read() == before, f"{command[0]} changed {place}")
            for left in ["-wal", "-shm", ".partial"]:
                expect(not os.path.exists(place + left), f"{command[0]} left {place}{left}")
    lines = os.path.join(folder, "no-export.jsonl")
    with open(lines, "w", encoding="utf-8") as file:
        file.write('{"garage": "export", "version": 1}\n{"tag": "T"}\n')
    for name in ["not-imported", "not-imported.lmdb"]:
        target = os.path.join(folder, name)
        run(garage, "import", lines, target, status=1)
        expect(not os.path.exists(target), f"a failed import leaves {name}")


# MARK: What describes the command


def subcommands(garage):
    """The commands and their long options, as the command itself knows them."""
    help_text = run(garage, "--experimental-dump-help").stdout
    statuses.pop("--experimental-dump-help", None)
    result = {}
    for command in json.loads(help_text)["command"]["subcommands"]:
        if command["commandName"] == "help":
            continue
        names = [n["name"] for a in command.get("arguments", []) for n in a.get("names", []) if n["kind"] == "long"]
        result[command["commandName"]] = [name for name in names if name not in ("help", "version")]
    return result


def check_descriptions(garage, prefix):
    """Every command and option is in the man page, in the documentation and in the completions."""
    with open(os.path.join(ROOT, "Docs", "garage.1"), encoding="utf-8") as file:
        page = file.read().replace("\\-", "-")
    with open(os.path.join(ROOT, "Docs", "Command.md"), encoding="utf-8") as file:
        documentation = file.read()
    texts = {
        "the man page": page, "Docs/Command.md": documentation, "--help": run(garage, "--help").stdout}
    for name, text in texts.items():
        text = " ".join(text.split())
        for fact in ["postgresql://", "[Ss]tandard output cannot be written", "any other error|another error", "cannot be opened"]:
            expect(re.search(fact, text), f"{name} does not say: {fact}")
    completions = {}
    for shell, path in [
            ("bash", "share/bash-completion/completions/garage"), ("zsh", "share/zsh/site-functions/_garage"),
            ("fish", "share/fish/vendor_completions.d/garage.fish")]:
        completions[shell] = os.path.join(prefix, path)
        if shutil.which(shell):
            run(shell, "-n", completions[shell])
            statuses.pop("-n", None)
    for command, options in subcommands(garage).items():
        expect(re.search(rf"^\.B garage {command}$", page, re.MULTILINE), f"{command} is not in the man page's synopsis")
        expect(re.search(rf"^\.(TP\n\.)?B {command}$", page, re.MULTILINE), f"{command} is not described in the man page")
        expect(re.search(rf"^\| `garage {command}[ `]", documentation, re.MULTILINE), f"{command} is not in Docs/Command.md")
        for option in options:
            expect(f"--{option}" in page, f"{command}: --{option} is not in the man page")
            expect(option in ("json", "key-file") or f"--{option}" in documentation, f"{command}: --{option} is not in Docs/Command.md")
        expect("json" in options, f"{command} has no --json")
        for shell, path in completions.items():
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for word in [command, *options]:
                expect(re.search(rf"\b{re.escape(word)}\b", text), f"{shell} does not complete {command}: {word}")
    if shutil.which("groff"):
        result = run("groff", "-man", "-Tutf8", "-ww", "-z", os.path.join(ROOT, "Docs", "garage.1"))
        expect(result.stderr == "", f"groff complains of the man page: {result.stderr}")
        statuses.pop("-man", None)
    script = f"""
        source {completions['bash']}
        COMP_WORDS=(garage "$@"); COMP_CWORD=$#; COMP_LINE="garage $*"; COMP_POINT=${{#COMP_LINE}}; COMPREPLY=()
        $(complete -p garage | sed 's/.*-F *\\([^ ]*\\).*/\\1/') garage "${{!#}}" garage
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    for words, wanted in [(["ver"], "verify"), (["re"], "rekey"), (["verify", "--js"], "--json"), (["ls", "--l"], "--limit")]:
        found = subprocess.run(
            ["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=False, cwd=prefix)
        expect(wanted in found.stdout.split(), f"bash completes {words} to {found}")


def check_statuses(garage, folder, with_inspector):
    """Every command ends with 2 where its words are wrong, and with 3 where there is no store: and each was seen to end well."""
    missing = os.path.join(folder, "no-such-store")
    with_arguments = {
        "ls": [missing], "get": [missing, "T", "1"], "keys": [missing], "stats": [missing], "verify": [missing],
        "gc": [missing, "--roots", "T"], "copy": [missing, missing + "-to"], "backup": [missing, missing + "-to"],
        "compact": [missing], "export": [missing, missing + "-to"], "import": [missing, missing + "-to"],
        "salvage": [missing, missing + "-to"], "repair": [missing], "find": [missing, "T", "a = 1"],
        "graph": [missing, "T", "1"], "diff": [missing, missing], "watch": [missing], "rekey": [missing], "serve": [missing],
        "set": [missing, "T", "1", "f", "v"], "delete": [missing, "T", "1"],
    }
    commands = subcommands(garage)
    expect(set(commands) == set(with_arguments), f"commands without a trial: {set(commands) ^ set(with_arguments)}")
    for command, arguments in with_arguments.items():
        run(garage, command, status=2)
        run(garage, command, *arguments, "--no-such-option", status=2)
        run(garage, command, *arguments, status=3 if with_inspector or command != "serve" else 2)
        for left in [missing, missing + "-to", missing + "-to.partial"]:
            expect(not os.path.exists(left), f"{command} made {left}")
        expect(0 in statuses[command] or command == "serve", f"{command} was never seen to end well")
    # What is wrong with a command line is said on standard error, with how it is used.
    expect("Usage: garage ls" in run(garage, "ls", status=2).stderr, "ls without a store does not say how it is used")


def check_terminal(garage, store):
    """How far a command is, is for terminals alone."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([garage, "verify", store], stdout=subprocess.PIPE, stderr=follower)
    process.wait(30)
    os.close(follower)
    shown = os.read(leader, 10_000)
    os.close(leader)
    expect(b"100 %" in shown, f"on a terminal verify shows {shown!r}")
    expect(run(garage, "verify", store).stderr == "", "progress was shown where there is no terminal")


def check_streams(garage, folder, store):
    """Where nothing can be said, the command says so, and nothing that it says is written elsewhere."""
    other = copied(garage, store, folder, "streams")
    with open("/dev/full", "w", encoding="ascii") as full:
        result = subprocess.run([garage, "ls", other], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    expect(result.returncode == 1 and "standard output" in result.stderr, f"ls to a full disk: {result}")
    # A store that is opened without them must not get their places.
    for command in [["ls"], ["repair"], ["set", "Package", "b", "version", "9", "--write"], ["get", "Package", "none"]]:
        for closed in ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"]:
            words = [garage, command[0], other, *command[1:]]
            result = subprocess.run(
                ["bash", "-c", f'"$@" {closed}', "bash", *words], capture_output=True, text=True, check=False)
            expect(result.returncode in (0, 1), f"{command} with {closed}: {result}")
            run(garage, "verify", other)
