"""What the scripts share that try the command: expectations, runs, and lines of a program that goes on."""

import os
import queue
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
failures = []
# How each command ended, by its name: all of its exit statuses.
statuses = {}


def expect(condition, what):
    if not condition:
        failures.append(what)
        print(f"{os.path.basename(sys.argv[0])}: FAILED: {what}", file=sys.stderr)


def run(*arguments, status=0, seconds=300, **options):
    """Runs a program to its end.

    :param status: what it is to end with, or a tuple of what it may end with.
    """
    options = {"cwd": ROOT, "capture_output": True, "text": True, **options}
    try:
        result = subprocess.run(arguments, check=False, timeout=seconds, **options)
    except subprocess.TimeoutExpired:
        expect(False, f"{' '.join(arguments[1:])}: did not end in {seconds} s")
        return subprocess.CompletedProcess(arguments, -1, "", "")
    if len(arguments) > 1:
        statuses.setdefault(arguments[1], set()).add(result.returncode)
    allowed = status if isinstance(status, tuple) else (status,)
    expect(
        result.returncode in allowed,
        f"{' '.join(arguments[1:])}: ended with {result.returncode}, not {status}: {result.stdout}{result.stderr}")
    return result


class Lines:
    """A program that goes on, and the lines that it writes."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.errors = queue.Queue()
        for stream, lines in [(self.process.stdout, self.lines), (self.process.stderr, self.errors)]:
            threading.Thread(target=self.read, args=(stream, lines), daemon=True).start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.put(line.rstrip("\n"))

    def next(self, lines=None, seconds=30):
        """The next line; nothing where there is none in that time."""
        try:
            return (lines or self.lines).get(timeout=seconds)
        except queue.Empty:
            expect(False, f"{' '.join(self.process.args[1:])}: no line in {seconds} s")
            return ""

    def end(self, signal):
        """Its exit status behind a signal."""
        self.process.send_signal(signal)
        return self.process.wait(30)
