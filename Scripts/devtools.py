"""A page in headless Chromium, driven over the DevTools protocol."""

import base64
import json
import re
import subprocess
import tempfile
import time
import urllib.request

from websockets.sync.client import connect

KEYS = {
    "Enter": ("Enter", 13, "\r"), "Tab": ("Tab", 9, None), "Escape": ("Escape", 27, None), " ": ("Space", 32, " "),
    "ArrowDown": ("ArrowDown", 40, None), "ArrowUp": ("ArrowUp", 38, None), "PageDown": ("PageDown", 34, None),
    "PageUp": ("PageUp", 33, None), "Home": ("Home", 36, None), "End": ("End", 35, None),
}


class Browser:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--window-size=1280,800",
             "--remote-debugging-port=0", f"--user-data-dir={self.folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"DevTools listening on ws://([^/]+)/", line)
            if found:
                self.place = found.group(1)
                return self
        raise RuntimeError("Chromium does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
        self.folder.cleanup()

    def page(self, address):
        request = urllib.request.Request(f"http://{self.place}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request) as answer:
            page = Page(json.load(answer)["webSocketDebuggerUrl"])
        page.go(address)
        return page


class Page:
    def __init__(self, address):
        self.socket = connect(address, max_size=None)
        self.number = 0
        # What went wrong in the page, and what it asked of people by itself.
        self.faults = []
        for domain in ["Page", "Runtime", "Log", "DOM"]:
            self.send(f"{domain}.enable")

    def send(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=60))
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Page.javascriptDialogOpening":
            self.faults.append(f"a dialog opened: {parameters['message']}")
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            # Answers of the server that are expected are told as errors, too.
            if parameters["entry"]["source"] != "network":
                self.faults.append(parameters["entry"]["text"])

    def go(self, address):
        self.send("Page.navigate", url=address)

    def loosen(self):
        """Lets axe-core make markup out of text, which the page lets nobody."""
        self.send("Page.setBypassCSP", enabled=True)
        self.send("Page.reload")
        self.wait("document.readyState === 'complete'")

    def ask(self, expression):
        result = self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def wait(self, expression, seconds=20):
        """Waits until the expression is true; says whether it became so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.ask(f"!!({expression})"):
                    return True
            except RuntimeError:
                # The page is just being loaded.
                pass
            time.sleep(0.05)
        return False

    def press(self, key, times=1):
        code, number, text = KEYS[key]
        for _ in range(times):
            for kind in ["keyDown" if text else "rawKeyDown", "keyUp"]:
                typed = {"text": text} if text and kind == "keyDown" else {}
                self.send("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number, **typed)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def click(self, expression):
        """Clicks on what the expression gives, where it begins: what is long may be cut off."""
        place = self.ask(
            f"(() => {{ const e = {expression}; e.scrollIntoView({{block: 'nearest'}}); const r = e.getBoundingClientRect();"
            " return [r.x + Math.min(r.width / 2, 30), r.y + r.height / 2]; })()")
        for kind in ["mousePressed", "mouseReleased"]:
            self.send("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def wheel(self, expression, down):
        place = self.ask(
            f"(() => {{ const r = ({expression}).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()")
        self.send("Input.dispatchMouseEvent", type="mouseWheel", x=place[0], y=place[1], deltaX=0, deltaY=down)

    def names(self):
        """The accessibility tree: roles with names."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        return [
            (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]

    def scheme(self, name):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self, path, width=1280, height=800):
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        time.sleep(0.3)
        data = base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as file:
            file.write(data)
        self.send("Emulation.clearDeviceMetricsOverride")
