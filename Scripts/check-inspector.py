#!/usr/bin/env python3
"""Tries the inspector: over HTTP what it answers and refuses, in Chromium what it shows and lets people do.

    check-inspector.py GARAGE FIXTURE [--pictures FOLDER]
"""

import glob
import http.client
import http.server
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
import devtools  # noqa: E402 (beside this file)

COUNT = 10_000
INTRUDER = "Tests.\"'><img src=x onerror=\"window.intruded=2\">"
SCRIPT = "<script>window.intruded = 1</script>"
failures = []
checks = 0


def expect(condition, what):
    global checks
    checks += 1
    if not condition:
        failures.append(what)
        print(f"check-inspector: FAILED: {what}", file=sys.stderr)


def quoted(text):
    return urllib.parse.quote(text, safe="")


class Inspector:
    """A server, and requests to it."""

    def __init__(self, garage, store, *flags):
        self.process = subprocess.Popen(
            [garage, "serve", store, "--json", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        text = ""
        while not text.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"garage serve ended: {self.process.stderr.read()}")
            text += line
        answer = json.loads(text)
        self.address, self.token = answer["address"], answer["token"]
        self.base = self.address.split("/#")[0]
        self.port = int(self.base.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(20)
        expect(status == 0, f"told to end, the inspector ends with {status}: {self.process.stderr.read()}")
        expect(time.monotonic() - started < 10, "the inspector ends soon")

    def ask(self, path, method="GET", body=None, token=True, **headers):
        """Status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        all_headers = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        if token:
            all_headers.setdefault("Authorization", f"Bearer {self.token}")
        connection.putrequest(method, path, skip_host="Host" in all_headers)
        if body is not None:
            all_headers.setdefault("Content-Length", str(len(body)))
        for name, value in all_headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), content

    def get(self, path):
        status, headers, content = self.ask(path)
        expect(status == 200 and headers["Content-Type"] == "application/json", f"{path}: {status} {content[:300]}")
        return json.loads(content)

    def refuses(self, what, status, path, **arguments):
        found, headers, content = self.ask(path, **arguments)
        expect(found == status, f"{what}: {found} {content[:200]}, and not {status}")
        if found == status and status != 204:
            expect(len(json.loads(content)["error"]) > 10, f"{what}: says why: {content}")
        return headers


# MARK: Over HTTP


def check_refusals(inspector):
    """Who may ask, and what."""
    port = inspector.port
    for host in ["example.com", f"example.com:{port}", "127.0.0.1.example.com", f"[::1]:{port}", f"192.168.0.1:{port}", ""]:
        inspector.refuses(f"the host {host!r}", 403, "/api/store", Host=host)
        inspector.refuses(f"the host {host!r} for the page", 403, "/", Host=host, token=False)
    expect(inspector.ask("/api/store", Host=f"localhost:{port}")[0] == 200, "the name localhost")
    for origin in ["http://example.com", "null", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}", "http://127.0.0.1"]:
        inspector.refuses(f"the origin {origin}", 403, "/api/store", Origin=origin)
    expect(inspector.ask("/api/store", Origin=f"http://127.0.0.1:{port}")[0] == 200, "its own origin")
    for site in ["cross-site", "same-site"]:
        inspector.refuses(f"a page that is {site}", 403, "/api/store", Sec_Fetch_Site=site)
    expect(inspector.ask("/", Sec_Fetch_Site="cross-site", token=False)[0] == 200, "a link to the page may be followed")
    headers = inspector.refuses("no token", 401, "/api/store", token=False)
    expect(headers.get("Www-Authenticate", headers.get("WWW-Authenticate")) == "Bearer", f"401 says how: {headers}")
    for wrong in [inspector.token[:-1], inspector.token + "0", "0" * 64, ""]:
        inspector.refuses("a wrong token", 401, "/api/store", token=False, Authorization=f"Bearer {wrong}")
    inspector.refuses("a token in the address", 400, f"/api/store?token={inspector.token}")
    for path in ["/nothing", "/api", "/api/", "/api/store/", "/../etc/passwd", "/api/Store", "//api/store"]:
        inspector.refuses(f"the path {path}", 404, path)
    for method in ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]:
        status, headers, _ = inspector.ask("/api/store", method=method)
        expect(status == 405 and headers.get("Allow") == "GET", f"{method} of the store: {status} {headers}")
    for query in [
            "", "?type=x", "?key=20", "?type=x&key=20&id=1", "?type=x&key=20&more=1", "?type=x&type=y&key=20",
            "?type=x&key=zz", "?type=x&key=2", "?type=%ff&key=20"]:
        inspector.refuses(f"the query {query!r}", 400, f"/api/object{query}")
    for query in ["type=x&id=1", "type=x&key=208101", "type=InspectorFixture.Note&id=nobody"]:
        inspector.refuses(f"what is not there: {query}", 404, f"/api/object?{query}")
    inspector.refuses("a type that is not there", 404, "/api/objects?type=x")
    notes = "/api/objects?type=InspectorFixture.Note"
    for query in ["&limit=0", "&limit=201", "&limit=x", "&offset=-1", "&descending=1", "&filter=" + quoted("age >"), "&x=1"]:
        inspector.refuses(f"the query {query}", 400, notes + query)
    # A store that is open for reading only is not changed.
    note = "/api/object?type=InspectorFixture.Note&id=7"
    change = json.dumps({"path": ["title"], "before": "note 7", "kind": "string", "text": "changed"}).encode()
    inspector.refuses("a change without --write", 403, note, method="PATCH", body=change, Content_Type="application/json")
    inspector.refuses("a deletion without --write", 403, note, method="DELETE")
    for path in ["/", "/inspector.js", "/inspector.css", "/icon.svg", "/api/store", "/nothing"]:
        headers = inspector.ask(path)[1]
        policy = headers.get("Content-Security-Policy", "")
        expect(
            "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
            and "frame-ancestors 'none'" in policy and headers.get("X-Content-Type-Options") == "nosniff"
            and headers.get("Cache-Control") == "no-store" and "Access-Control-Allow-Origin" not in headers,
            f"the headers of {path}: {headers}")
    page = inspector.ask("/", token=False)[2].decode()
    expect("<script src=" in page and "<script>" not in page and "onclick" not in page and "style=" not in page,
           "the page has no script and no style in itself")


def check_answers(inspector, store):
    facts = inspector.get("/api/store")
    types = {entry["type"]: entry["objects"] for entry in facts["types"]}
    expect(
        types == {"InspectorFixture.Note": COUNT, "InspectorFixture.NoteList": 7, "InspectorFixture.Friend": 3,
                  INTRUDER: 1, "InspectorFixture.Color": 1, "InspectorFixture.Measure": 2, "InspectorFixture.Animal": 1}, f"the types: {types}")
    expect(facts["path"] == store and facts["keys"] == 2 and not facts["isWritable"] and facts["bytes"] > 0, f"facts: {facts}")
    notes = "/api/objects?type=InspectorFixture.Note"
    page = inspector.get(notes + "&offset=9990&limit=50")
    expect(page["total"] == COUNT and [row["id"] for row in page["rows"]] == [str(n) for n in range(9991, 10001)],
           f"the last page: {page['total']} {[row['id'] for row in page['rows']]}")
    cells = page["rows"][0]["cells"]
    expect(cells["title"] == {"kind": "string", "text": "note 9991"} and cells["isDone"]["text"] == "false"
           and cells["list"]["target"]["id"] == "list 2" and cells["tags"]["text"] == "2 elements", f"cells: {cells}")
    expect(set(page["columns"]) >= {"title", "isDone", "weight", "due", "remark", "list", "tags"}, f"columns: {page['columns']}")
    found = inspector.get(notes + "&filter=" + quoted('weight >= 24 and title starts with "note 9"'))
    expected = [n for n in range(1, COUNT + 1) if (n % 97) / 4 >= 24 and str(n).startswith("9")]
    expect([int(row["id"]) for row in found["rows"]] == expected[:100] and found["total"] == len(expected), "a filter")
    for condition in ["large = 9007199254740993", "small = 0.1", "small > 0 and wide > 1e30 and id = 1.0",
                      f"id = 1 and wide = {1 << 100} and not (wide = {(1 << 100) + 1})"]:
        rows = inspector.get("/api/objects?type=InspectorFixture.Measure&filter=" + quoted(condition))["rows"]
        expect([row["id"] for row in rows] == ["1"], f"the numbers that {condition}: {rows}")
    for offset in [0, 300, 5000, COUNT - 7]:
        rows = inspector.get(notes + f"&offset={offset}&limit=30")["rows"]
        expected = list(range(1, COUNT + 1))[offset:offset + 30]
        expect([int(row["id"]) for row in rows] == expected, f"the rows from {offset}")
        rows = inspector.get(notes + f"&offset={offset}&limit=30&sort=$id&descending=true")["rows"]
        expected = list(range(COUNT, 0, -1))[offset:offset + 30]
        expect([int(row["id"]) for row in rows] == expected, f"the rows from {offset}, downwards")
    for field, key in [("weight", lambda n: n % 97), ("title", lambda n: f"note {n}"), ("isDone", lambda n: n % 3 == 0),
                       ("due", lambda n: n), ("remark", lambda n: n % 10 == 0), ("$id", lambda n: n)]:
        for descending in [False, True]:
            rows = inspector.get(notes + f"&sort={quoted(field)}&descending={str(descending).lower()}&limit=200")["rows"]
            expected = sorted(range(1, COUNT + 1), key=key)
            if descending:
                expected.reverse()
            expect([int(row["id"]) for row in rows] == expected[:200], f"sorted by {field}, descending {descending}")
    first = inspector.get(notes + "&limit=1")["rows"][0]
    for name in [f"key={first['key']}", "id=1"]:
        note = inspector.get(f"/api/object?type=InspectorFixture.Note&{name}")
        fields = {field["key"]: field["value"] for field in note["value"]["fields"]}
        expect(note["id"] == "1" and fields["weight"] == {"kind": "double", "text": "0.25"}
               and fields["due"]["text"].startswith("2027-01-15T08:01:00"), f"a note: {note}")
    around = inspector.get("/api/neighbours?type=InspectorFixture.Friend&id=Ann")
    expect([one["object"]["id"] for one in around["targets"]] == ["Bob"] and around["targets"][0]["kinds"] == ["linked"]
           and [one["object"]["id"] for one in around["referrers"]] == ["Cem"], f"around Ann: {around}")
    around = inspector.get("/api/neighbours?type=InspectorFixture.NoteList&id=list%203")
    expected = sum(1 for n in range(1, COUNT + 1) if n % 7 == 3)
    expect(around["referrerCount"] == expected and len(around["referrers"]) == 200, f"{around['referrerCount']} referrers")
    keys = {entry["key"]: entry["value"]["text"] for entry in inspector.get("/api/keys")}
    expect(keys["settings:theme"] == "dark" and keys['settings:<svg onload="window.intruded=4">'] == SCRIPT, f"keys: {keys}")
    statistics = inspector.get("/api/statistics")
    expect(statistics["objects"] == COUNT + 15 and statistics["keys"] == 2, f"statistics: {statistics}")
    report = inspector.get("/api/verification")
    expect(report["isSound"] and report["findings"] == [], f"verification: {report}")
    # What tries to be more than data is data.
    row = inspector.get(f"/api/objects?type={quoted(INTRUDER)}")["rows"][0]
    expect(row["cells"]["text"]["text"] == SCRIPT and row["id"] == INTRUDER[6:], f"the intruder: {row}")


def check_changes(garage, fixture, driver, store):
    """A commit of another process is told, and what was listed before is not served again."""
    with Inspector(garage, store) as inspector:
        connection = http.client.HTTPConnection("127.0.0.1", inspector.port, timeout=30)
        connection.request("GET", "/api/changes", headers={"Authorization": f"Bearer {inspector.token}"})
        answer = connection.getresponse()
        expect(answer.getheader("Content-Type") == "text/event-stream", "the changes are events")
        first = answer.readline() + answer.readline()
        expect(first == b"data: 0\n\n", f"the first number: {first}")
        path = "/api/objects?type=InspectorFixture.Note&sort=title&limit=1"
        total = inspector.get(path)["total"]
        for turn in range(1, 3):
            subprocess.run([fixture, "change", driver, store, f"turn {turn}"], check=True)
            number = int((answer.readline() + answer.readline()).split()[1])
            expect(number >= turn, f"the number after {turn} changes: {number}")
            deadline = time.monotonic() + 10
            while inspector.get(path)["total"] != total + turn and time.monotonic() < deadline:
                time.sleep(0.05)
            expect(inspector.get(path)["total"] == total + turn, f"the list after change {turn}")
            title = inspector.get("/api/object?type=InspectorFixture.Note&id=5")["value"]["fields"]
            expect(any(field["value"].get("text") == f"turn {turn}" for field in title), f"note 5: {title}")
        connection.close()


def check_sealed(garage, store):
    """A sealed store, where the command was built with ciphers: as any other, with its key."""
    with tempfile.TemporaryDirectory() as folder:
        key, sealed = os.path.join(folder, "key"), os.path.join(folder, "sealed")
        with open(key, "wb") as file:
            file.write(bytes(range(32)))
        result = subprocess.run(
            [garage, "copy", "--seal", "--key-file", key, store, sealed], capture_output=True, text=True, check=False)
        if "without ciphers" in result.stderr:
            print("check-inspector: built without ciphers: nothing is tried on a sealed store", file=sys.stderr)
            return
        expect(result.returncode == 0, f"a sealed copy: {result}")
        refused = subprocess.run([garage, "serve", sealed], capture_output=True, text=True, check=False)
        expect(refused.returncode == 3 and "sealed" in refused.stderr, f"serve without the key: {refused}")
        with Inspector(garage, sealed, "--key-file", key) as inspector:
            check_answers(inspector, sealed)
            path = "/api/objects?type=InspectorFixture.Note&filter=" + quoted('title = "told"')
            expect(inspector.get(path)["total"] == 0, "nothing is told yet")
            subprocess.run(
                [garage, "set", sealed, "Note", "9", "title", "told", "--write", "--key-file", key], check=True,
                stdout=subprocess.DEVNULL)
            deadline = time.monotonic() + 10
            while inspector.get(path)["total"] != 1 and time.monotonic() < deadline:
                time.sleep(0.05)
            expect(inspector.get(path)["total"] == 1, "a commit to the sealed store appears")


def check_lost_names(garage, store):
    """Types whose names are lost are listed by digits, which lead to their objects, and to those around them."""
    with tempfile.TemporaryDirectory() as folder:
        lost = os.path.join(folder, "lost")
        subprocess.run([garage, "copy", store, lost], check=True, stdout=subprocess.DEVNULL)
        database = sqlite3.connect(lost)
        with database:
            database.execute("DELETE FROM entries WHERE substr(key, 1, 1) = x'01'")
        database.close()
        with Inspector(garage, lost) as inspector:
            friend, = [entry["type"] for entry in inspector.get("/api/store")["types"] if entry["objects"] == 3]
            expect(re.fullmatch("[0-9a-f]{16}", friend), f"a type without a name: {friend}")
            around = inspector.get(f"/api/neighbours?type={friend}&id=Ann")
            found = [(one["object"]["type"], one["object"]["id"]) for one in around["targets"] + around["referrers"]]
            expect(found == [(friend, "Bob"), (friend, "Cem")], f"around one without a type's name: {around}")


def check_writing(garage, store):
    def stored(identifier):
        result = subprocess.run(
            [garage, "get", store, "Note", identifier, "--json"], capture_output=True, text=True, check=False)
        return json.loads(result.stdout)[0]["value"] if result.returncode == 0 else None

    with Inspector(garage, store, "--write") as inspector:
        expect(inspector.get("/api/store")["isWritable"], "it may be changed")
        note = "/api/object?type=InspectorFixture.Note&id=8"

        def change(path, before, kind, text, to=note, **headers):
            body = json.dumps({"path": path, "before": before, "kind": kind, "text": text}).encode()
            headers.setdefault("Content_Type", "application/json")
            return inspector.ask(to, method="PATCH", body=body, **headers)[0]

        expect(change(["title"], "note 8", "string", SCRIPT) == 204 and stored("8")["title"] == SCRIPT, "a changed title")
        expect(change(["weight"], "2.0", "double", "2.5") == 204 and stored("8")["weight"] == 2.5, "a changed number")
        expect(change(["tags", 1], "b", "string", "c") == 204 and stored("8")["tags"] == ["a", "c"], "a changed element")
        before = stored("8")
        for what, status, arguments in [
                ("changed meanwhile", 409, (["title"], "note 8", "string", "x")),
                ("another kind", 409, (["title"], SCRIPT, "integer", "1")),
                ("no number", 400, (["weight"], "2.5", "double", "heavy")),
                ("no truth", 400, (["isDone"], "false", "bool", "maybe")),
                ("no field", 409, (["nothing"], "", "string", "x")),
                ("no element", 409, (["tags", 2], "", "string", "x")),
                ("a whole array", 409, (["tags"], "", "string", "x")),
                ("a reference", 409, (["list"], "lazy", "reference", "x")),
                ("what it is found by", 409, (["id"], "8", "integer", "9"))]:
            found = change(*arguments)
            expect(found == status and stored("8") == before, f"{what}: {found}, and not {status}")
        expect(change(["title"], SCRIPT, "string", "x", Origin="http://example.com") == 403, "a foreign origin changes nothing")
        expect(change(["title"], SCRIPT, "string", "x", token=False) == 401, "nobody changes anything without the token")
        expect(change(["title"], SCRIPT, "string", "x", Content_Type="text/plain") == 415, "a change is JSON")
        inspector.refuses("nonsense", 400, note, method="PATCH", body=b"{", Content_Type="application/json")
        inspector.refuses("too much", 413, note, method="PATCH", body=b" " * ((1 << 20) + 4096), Content_Type="application/json")
        expect(stored("8") == before, "nothing of that changed it")
        color = json.loads(subprocess.run(
            [garage, "ls", store, "Color", "--json"], capture_output=True, text=True, check=True).stdout)["identifiers"][0]
        expect(change(["name"], "red", "string", "green", to=f"/api/object?type=InspectorFixture.Color&id={color}") == 409,
               "what is identified by what it holds")
        dog = "/api/object?type=InspectorFixture.Animal&id=1"
        expect(change(["super", "id"], "1", "integer", "2", to=dog) == 409, "what it is found by, in its superclass")
        expect(change(["name"], "Rex", "string", "Max", to=dog) == 204, "what is beside that")
        expect(inspector.ask(note.replace("id=8", "id=9"), method="DELETE")[0] == 204 and stored("9") is None, "a deletion")
        inspector.refuses("deleting what is gone", 404, note.replace("id=8", "id=9"), method="DELETE")
        expect(inspector.get("/api/verification")["isSound"], "all is sound afterwards")


def check_command(garage, folder, store):
    """Serve ends as the other commands do, and is reached from this machine alone."""
    def run(*arguments, status=0):
        result = subprocess.run([garage, *arguments], capture_output=True, text=True, check=False, timeout=60)
        expect(result.returncode == status, f"{arguments}: {result.returncode}, and not {status}: {result.stderr}")
        return result

    run("serve", os.path.join(folder, "none"), status=3)
    expect(not os.path.exists(os.path.join(folder, "none")), "serve made a store by looking at it")
    run("serve", store, "--port", "65536", status=2)
    with Inspector(garage, store) as inspector:
        run("serve", store, "--port", str(inspector.port), status=1)
        with open("/proc/net/tcp", encoding="ascii") as file:
            listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
        found = [place for place in listening if place.endswith(f":{inspector.port:04X}")]
        expect(found == [f"0100007F:{inspector.port:04X}"], f"it listens on {found}")


# MARK: In Chromium


def text_of(selector):
    return f"(document.querySelector({json.dumps(selector)}) || {{textContent: ''}}).textContent"


def link(text):
    return f"[...document.querySelectorAll('a')].find((a) => a.textContent.includes({json.dumps(text)}))"


class Accessibility:
    """What axe-core finds."""

    def __init__(self):
        found = glob.glob(os.path.join(sys.prefix, "lib/python*/site-packages/axe*/**/axe.min.js"), recursive=True)
        if not found:
            raise RuntimeError("axe-core is not there: Scripts/test-inspector.sh installs it")
        with open(found[0], encoding="utf-8") as file:
            self.source = file.read()

    def check(self, page, what):
        for scheme in ["light", "dark"]:
            page.scheme(scheme)
            if not page.ask("typeof axe === 'object'"):
                page.ask(self.source + "; true")
            found = page.ask(
                "axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations.map((v) => "
                "[v.impact, v.id, v.help, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + n.failureSummary)]))")
            serious = [one for one in found if one[0] in ("serious", "critical")]
            expect(serious == [], f"axe finds in {what}, {scheme}: {serious}")
            for one in found:
                if one not in serious:
                    print(f"check-inspector: axe, {one[0]}, in {what}: {one[1]}: {one[2]}: {one[3][:1]}", file=sys.stderr)
        page.scheme("light")


def check_looking(page, inspector, axe):
    expect(page.wait("document.title.startsWith('Types')"), "the page opens")
    expect("token" not in page.ask("location.href"), "the token does not stay in the address")
    expect(page.wait(f"{text_of('#live')}.startsWith('Live')"), "it is live")
    rows = page.ask("[...document.querySelectorAll('main tbody tr')].map((r) => [...r.cells].slice(0, 2).map((c) => c.textContent))")
    expect(["InspectorFixture.Note", "10,000"] in rows and [INTRUDER, "1"] in rows, f"the types: {rows}")
    axe.check(page, "types")
    # The list.
    page.click(link("InspectorFixture.Note"))
    expect(page.wait("document.querySelectorAll('.grid .body .row').length > 10"), "rows appear")
    expect(page.wait("[...document.querySelectorAll('[role=status]')].some((s) => s.textContent === '10,000 objects')"), "their count")
    expect(page.ask("document.querySelectorAll('.grid .body .row').length") < 100, "only rows that are seen are there")
    heads = page.ask("[...document.querySelectorAll('[role=columnheader]')].map((h) => h.textContent.trim())")
    expect(heads[0].startswith("Identifier") and {"title", "isDone", "weight", "due", "list"} <= set(heads), f"columns: {heads}")
    axe.check(page, "a list")
    tree = page.names()
    expect(("grid", "Objects of InspectorFixture.Note") in tree and ("heading", "InspectorFixture.Note") in tree
           and any(role == "columnheader" for role, _ in tree) and any(role == "row" and "note 1" in name for role, name in tree),
           f"what a screen reader gets: {[n for n in tree if n[0] in ('grid', 'heading', 'columnheader', 'row')][:20]}")
    # It scrolls, by the wheel and by keys, to its end.
    seen = "[...document.querySelectorAll('.grid .body .row')].filter((r) => { const a = r.getBoundingClientRect(), " \
        "b = r.closest('.grid').getBoundingClientRect(); return a.top >= b.top && a.bottom <= b.bottom; }).map((r) => r.textContent)"
    page.wheel("document.querySelector('.grid')", 30 * 4000)
    expect(page.wait(f"({seen}).some((t) => t.includes('note 40'))"), f"scrolled to row 4000: {page.ask(seen)[:3]}")
    page.ask("document.querySelector('.grid').scrollTop = 0")
    expect(page.wait(f"({seen}).some((t) => t.includes('note 3'))"), "and back")
    page.ask("document.querySelector('.grid .body .row[tabindex=\"0\"]').focus()")
    page.press("End")
    expect(page.wait("document.activeElement.textContent.includes('note 10000')"), "End goes to the last row")
    expect(page.ask("document.activeElement.getAttribute('aria-rowindex')") == str(COUNT + 1), "its index")
    page.press("PageUp")
    page.press("ArrowUp")
    expect(page.wait("Number(document.activeElement.getAttribute('aria-rowindex')) < 9998"), "PageUp goes up")
    page.press("Home")
    page.press("ArrowDown", 2)
    expect(page.wait("document.activeElement.textContent.includes('note 3')"), "Home and two rows down")
    # Sorted.
    sorting = "[...document.querySelectorAll('[role=columnheader] button')].find((b) => b.textContent.startsWith('weight'))"
    for direction, text in [("ascending", "0.0"), ("descending", "24.0")]:
        page.click(sorting)
        expect(page.wait(f"{sorting}.parentElement.getAttribute('aria-sort') === '{direction}'"), f"sorted {direction}")
        expect(page.wait(f"({seen})[0].includes({json.dumps(text)})"), f"the first of the {direction}: {page.ask(seen)[:1]}")
    # Filtered.
    page.click("document.querySelector('#filter')")
    page.type('title = "note 77" or id = 78')
    page.press("Enter")
    expect(page.wait(f"{text_of('main > [role=status]')} === '2 objects found'"), "a filter finds two")
    expect(page.wait(f"({seen}).length === 2"), f"and shows them: {page.ask(seen)}")
    page.ask("document.querySelector('#filter').value = ''")
    page.click("document.querySelector('#filter')")
    page.type("title =")
    page.press("Enter")
    expect(page.wait(f"{text_of('main > [role=status]')}.includes('cannot be read')"), "a filter that is none")
    page.ask("document.querySelector('#filter').value = ''")
    page.click("document.querySelector('#filter')")
    page.type('title = "note 77"')
    page.press("Enter")
    expect(page.wait(f"({seen}).length === 1"), "a filter finds one")
    # From the row to the record, its reference, and back by the referrer.
    page.ask("document.querySelector('.grid .body .row').focus()")
    page.press("Enter")
    expect(page.wait(f"{text_of('h1')} === 'Note 77'"), "Enter opens the object")
    expect(page.ask("document.activeElement.tagName") == "H1", "the heading has the focus")
    expect("note 77" in page.ask(text_of(".tree")) and "19.25" in page.ask(text_of(".tree")), "its fields")
    expect(page.ask("[...document.querySelectorAll('button')].every((b) => !/Change|Delete/.test(b.textContent))"), "nothing changes it")
    axe.check(page, "an object")
    page.click("document.querySelector('.tree a.reference')")
    expect(page.wait(f"{text_of('h1')} === 'NoteList list 0'"), "a reference leads to the list")
    expect(page.wait(f"{link('Note 77')} || document.querySelectorAll('main > div:last-of-type li').length > 100"), "referrers appear")
    page.click("[...document.querySelectorAll('main a.reference')].find((a) => a.textContent.endsWith(' 7'))")
    expect(page.wait(f"{text_of('h1')} === 'Note 7'"), "a referrer leads back")
    page.ask("history.back()")
    expect(page.wait(f"{text_of('h1')} === 'NoteList list 0'"), "and the browser's way back works")


def check_graph(page, inspector, axe):
    page.go(inspector.base + "/#/type/InspectorFixture.Friend")
    page.wait(f"{link('Ann')}")
    page.click(link("Ann"))
    page.wait(link("graph"))
    page.click(link("graph"))
    status = text_of("main > [role=status]")
    expect(page.wait(f"{status}.startsWith('3 objects, 2 references, no cycle')"), f"around Ann: {page.ask(status)}")
    page.ask("[...document.querySelectorAll('.graph .grow')].find((n) => n.getAttribute('aria-label').includes('Bob')).focus()")
    page.press("Enter")
    expect(page.wait(f"{status}.startsWith('3 objects, 3 references, 1 cycle')"), f"with Bob's: {page.ask(status)}")
    expect(page.ask("document.querySelectorAll('.graph path.cycle').length") == 3, "the cycle is drawn as such")
    expect("Bob" in (page.ask("document.activeElement.getAttribute('aria-label')") or ""), "the focus stays on Bob")
    page.ask("document.querySelector('main details').open = true")
    expect(page.ask("[...document.querySelectorAll('main details tbody tr')].filter((r) => r.textContent.includes('in a cycle')).length") == 3,
           "the same as a list")
    axe.check(page, "a graph")
    page.click("[...document.querySelectorAll('.graph a')].find((a) => a.getAttribute('aria-label').includes('Cem'))")
    expect(page.wait(f"{text_of('h1')} === 'Friend Cem'"), "a node opens its object")
    page.go(inspector.base + "/#/graph/InspectorFixture.NoteList/=" + quoted("list 3"))
    expect(page.wait(f"{status}.startsWith('31 objects, 30 references, no cycle, and 1,399 more that are not drawn')"),
           f"a graph of many: {page.ask(status)}")


def check_rest(page, inspector, axe):
    for place, text in [("keys", "settings:theme"), ("statistics", "10,014 objects"), ("verification", "all is sound")]:
        page.click(f"document.querySelector('#places a[href=\"#/{place}\"]')")
        expect(page.wait(f"{text_of('main')}.includes({json.dumps(text)})"), f"{place}: {page.ask(text_of('main'))[:300]}")
        axe.check(page, place)
    page.go(inspector.base + "/#/nonsense")
    expect(page.wait(f"{text_of('main')}.includes('no such place')"), "a place that there is not")
    page.go(inspector.base + "/#/object/InspectorFixture.Note/=nobody")
    expect(page.wait(f"{text_of('main')}.includes('There is no')"), "an object that there is not")


def check_intruder(page, inspector):
    """Nothing that a store holds becomes more than text."""
    def harmless(where):
        expect(page.ask("window.intruded === undefined"), f"a script ran in {where}")
        expect(page.ask("document.querySelectorAll('script:not([src]), main img, main svg [onload], iframe, [onerror], [onload]').length") == 0,
               f"markup of the store became elements in {where}")
        expect(page.ask("[...document.querySelectorAll('a')].every((a) => a.getAttribute('href').startsWith('#/'))"),
               f"a link leads elsewhere in {where}")

    expect(page.wait("document.title.startsWith('Types')"), "the page opens")
    page.click("[...document.querySelectorAll('main a')].find((a) => a.textContent.includes('onerror'))")
    expect(page.wait(f"{text_of('h1')} === {json.dumps(INTRUDER)}"), f"the name is shown as it is: {page.ask(text_of('h1'))}")
    expect(page.wait(f"{text_of('.grid .body')}.includes({json.dumps(SCRIPT)})"), "the value is shown as it is")
    harmless("the list")
    page.click("document.querySelector('.grid .body a')")
    expect(page.wait(f"{text_of('.tree')}.includes({json.dumps(SCRIPT)})"), "the text is shown as it is")
    expect(page.ask(f"{text_of('.tree')}.includes('__proto__') && {text_of('.tree')}.includes('javascript:')"), "and so are keys and URLs")
    harmless("the object")
    page.click(link("graph"))
    expect(page.wait("document.querySelector('.graph svg')"), "its graph")
    harmless("the graph")
    page.go(inspector.base + "/#/keys")
    expect(page.wait(f"{text_of('main')}.includes('<svg onload')"), "the key is shown as it is")
    harmless("the keys")
    page.go(inspector.base + "/#/statistics")
    expect(page.wait(f"{text_of('main')}.includes('onerror')"), "statistics show it")
    harmless("the statistics")
    # And where script itself tries to make markup of text, the browser does not let it.
    expect(page.ask("(() => { try { document.createElement('p').innerHTML = '<b>x</b>'; return false; } catch (e) { return true; } })()"),
           "markup out of text is refused")
    expect(page.ask("(() => { const s = document.createElement('style'); s.textContent = 'body{color:red}'; return true; })()"), "")


def check_live(page, inspector, fixture, driver, store):
    page.go(inspector.base + "/#/object/InspectorFixture.Note/=5")
    expect(page.wait(f"{text_of('.tree')}.includes('note 5')"), "note 5 as it was")
    subprocess.run([fixture, "change", driver, store, "from elsewhere"], check=True)
    started = time.monotonic()
    expect(page.wait(f"{text_of('.tree')}.includes('from elsewhere')", 10), "another process's commit appears by itself")
    print(f"check-inspector: it is seen after {time.monotonic() - started:.2f} s", file=sys.stderr)
    expect(page.wait(f"{text_of('#types')}.includes('10,001')", 10), "and so does the count of notes")
    page.go(inspector.base + "/#/type/InspectorFixture.Note")
    status = text_of("main > [role=status]")
    expect(page.wait(f"{status} === '10,001 objects'"), "10 001 notes")
    page.ask("document.querySelector('.grid').scrollTop = 3000")
    time.sleep(0.3)
    subprocess.run([fixture, "change", driver, store, "again"], check=True)
    expect(page.wait(f"{status} === '10,002 objects'", 10), "a list grows by itself")
    expect(page.ask("document.querySelector('.grid').scrollTop") == 3000, "and stays where it was scrolled to")


def check_changing(page, inspector, axe, garage, store):
    def stored(identifier):
        result = subprocess.run(
            [garage, "get", store, "Note", identifier, "--json"], capture_output=True, text=True, check=False)
        return json.loads(result.stdout)[0]["value"] if result.returncode == 0 else None

    page.wait("document.title.startsWith('Types')")
    page.go(inspector.base + "/#/object/InspectorFixture.Note/=20")
    change = "[...document.querySelectorAll('.tree button')].find((b) => b.getAttribute('aria-label') === 'Change title')"
    expect(page.wait(change), "a field can be changed")
    expect(page.ask("![...document.querySelectorAll('.tree button')].some((b) => b.getAttribute('aria-label') === 'Change list')"),
           "a reference cannot")
    page.click(change)
    expect(page.wait("document.querySelector('dialog').open && document.activeElement.id === 'new-value'"), "it is asked for the value")
    axe.check(page, "a dialog")
    page.press("Escape")
    expect(page.wait("!document.querySelector('dialog').open") and stored("20")["title"] == "note 20", "Escape changes nothing")
    page.click(change)
    page.wait("document.querySelector('dialog').open")
    page.ask("document.querySelector('#new-value').select()")
    page.type("by hand " + SCRIPT)
    page.click("document.querySelector('dialog button.main')")
    expect(page.wait(f"!document.querySelector('dialog').open && {text_of('.tree')}.includes('by hand')"), "the new value is shown")
    expect(stored("20")["title"] == "by hand " + SCRIPT and page.ask("window.intruded === undefined"), "and stored")
    # A number that is none is refused, and the dialog stays.
    page.click(change.replace("Change title", "Change weight"))
    page.wait("document.querySelector('dialog').open")
    page.ask("document.querySelector('#new-value').select()")
    page.type("heavy")
    page.press("Enter")
    expect(page.wait(f"{text_of('dialog [role=alert]')}.includes('none of kind double')"), "no number")
    page.click("document.querySelector('dialog .cancel')")
    # Deleting asks.
    page.go(inspector.base + "/#/object/InspectorFixture.Note/=21")
    delete = "[...document.querySelectorAll('main .bar button')].find((b) => b.textContent === 'Delete')"
    expect(page.wait(f"{text_of('h1')} === 'Note 21' && {delete}"), "an object can be deleted")
    page.click(delete)
    expect(page.wait("document.querySelector('dialog').open && document.activeElement.className === 'cancel'"), "Cancel is chosen first")
    page.press("Enter")
    expect(page.wait("!document.querySelector('dialog').open") and stored("21") is not None, "and deletes nothing")
    page.click(delete)
    page.wait("document.querySelector('dialog').open")
    page.click("document.querySelector('dialog button.main')")
    expect(page.wait(f"{text_of('h1')} === 'InspectorFixture.Note'") and stored("21") is None, "the object is gone")


def check_strangers(browser, inspector):
    """A page of another origin gets nothing, and nobody without the token."""
    page = browser.page(inspector.base + "/")
    expect(page.wait(f"{text_of('h1')} === 'Which token?'"), "without a token it is asked for")
    expect("Note" not in page.ask("document.body.textContent"), "and nothing is shown")
    page.ask("document.querySelector('#token').focus()")
    page.type("0" * 64)
    page.press("Enter")
    expect(page.wait(f"{text_of('[role=alert]')}.includes('missing or wrong')"), "a wrong token")
    page.ask("document.querySelector('#token').focus()")
    page.type(inspector.address)
    page.press("Enter")
    expect(page.wait("document.title.startsWith('Types')"), "the address opens it")

    class Stranger(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>elsewhere</title>")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = browser.page(f"http://127.0.0.1:{server.server_port}/")
    page.wait("document.title === 'elsewhere'")
    for options in ["{}", "{headers: {Authorization: 'Bearer " + inspector.token + "'}}", "{mode: 'no-cors'}"]:
        found = page.ask(
            f"fetch('{inspector.base}/api/store', {options}).then((r) => r.text().then((t) => [r.type, t]), (e) => ['refused', ''])")
        expect(found[0] in ("refused", "opaque") and found[1] == "", f"another origin gets {found} with {options}")
    page.ask(f"document.body.append(Object.assign(document.createElement('iframe'), {{src: '{inspector.base}/'}}))")
    time.sleep(0.5)
    expect(page.ask("(() => { try { return !frames[0].document || frames[0].document.title === ''; } catch (e) { return true; } })()"),
           "another page shows it in a frame")
    server.shutdown()


def make_pictures(garage, fixture, pictures):
    """What the documentation shows."""
    subprocess.run([fixture, "make", "sqlite", "notes.garage", str(COUNT)], check=True)
    subprocess.run([garage, "delete", "notes.garage", INTRUDER, INTRUDER[6:], "--write"], check=True, stdout=subprocess.DEVNULL)
    with devtools.Browser() as browser, Inspector(garage, "notes.garage") as inspector:
        page = browser.page(inspector.address)
        page.wait("document.title.startsWith('Types')")
        page.go(inspector.base + "/#/type/InspectorFixture.Note?sort=weight&descending=true&filter=" + quoted("isDone = false"))
        page.wait("document.querySelectorAll('.grid .body .row').length > 10")
        page.picture(os.path.join(pictures, "inspector.png"), 1200, 640)
        page.scheme("dark")
        page.go(inspector.base + "/#/graph/InspectorFixture.Friend/=Ann")
        page.wait("document.querySelector('.graph')")
        page.click("[...document.querySelectorAll('.graph .grow')].find((n) => n.getAttribute('aria-label').includes('Bob'))")
        page.wait("document.querySelector('.graph path.cycle')")
        page.picture(os.path.join(pictures, "inspector-graph.png"), 1200, 340)


def in_chromium(garage, fixture):
    axe = Accessibility()
    store = "chromium.garage"
    subprocess.run([fixture, "make", "sqlite", store, str(COUNT)], check=True)
    with devtools.Browser() as browser:
        with Inspector(garage, store) as inspector:
            page = browser.page(inspector.base + "/")
            page.loosen()
            page.go(inspector.address)
            check_looking(page, inspector, axe)
            check_graph(page, inspector, axe)
            check_rest(page, inspector, axe)
            expect(page.faults == [], f"faults in the page: {page.faults}")
            page = browser.page(inspector.address)
            check_intruder(page, inspector)
            check_live(page, inspector, fixture, "sqlite", store)
            # The attempt to make markup out of text is a fault, and wanted.
            faults = [fault for fault in page.faults if "TrustedHTML" not in fault and "trusted" not in fault.lower()]
            expect(faults == [], f"faults in the page: {faults}")
            check_strangers(browser, inspector)
        # What nobody sees listens to nothing.
        page.send("Page.bringToFront")
        expect(page.wait(f"{text_of('#live')} === 'Not connected'"), "it says that the inspector has ended")
        with Inspector(garage, store, "--write") as inspector:
            page = browser.page(inspector.base + "/")
            page.loosen()
            page.go(inspector.address)
            check_changing(page, inspector, axe, garage, store)
            expect(page.faults == [], f"faults in the page: {page.faults}")


def main():
    garage, fixture = map(os.path.abspath, sys.argv[1:3])
    pictures = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 and sys.argv[3] == "--pictures" else None
    started = time.monotonic()
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for driver in ["sqlite", "lmdb"]:
            store = os.path.join(folder, driver)
            subprocess.run([fixture, "make", driver, store, str(COUNT)], check=True)
            with Inspector(garage, store) as inspector:
                check_refusals(inspector)
                check_answers(inspector, store)
            if driver == "sqlite":
                check_sealed(garage, store)
                check_lost_names(garage, store)
            check_changes(garage, fixture, driver, store)
            check_writing(garage, store)
            check_command(garage, folder, store)
            print(f"check-inspector: {driver} over HTTP after {time.monotonic() - started:.0f} s", file=sys.stderr)
        in_chromium(garage, fixture)
        if pictures:
            make_pictures(garage, fixture, pictures)
        os.chdir(home)
    print(f"check-inspector: {checks} checks in {time.monotonic() - started:.0f} s")
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
