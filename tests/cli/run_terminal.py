#!/usr/bin/env python3
"""run_terminal.py HEAPPROF: drives an interactive shell in a terminal of its own.

What is typed reaches the command; ^C reaches it once; ^Z stops launcher and command, and the
shell's fg wakes both; after each the shell has the status that it would have without us."""
import os
import pty
import re
import select
import sys
import time

heapprof = sys.argv[1]
COUNT = """
import signal, sys
count = 0
def on_signal(*_):
    global count
    count += 1
signal.signal(signal.SIGINT, on_signal)
print("ready", flush=True)
line = sys.stdin.readline()
print("interrupts:", count, "line:", line.strip(), flush=True)
sys.exit(9)
"""

pid, terminal = pty.fork()
if pid == 0:
    os.environ["PS1"] = "prompt> "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

seen = ""


def expect(pattern):
    """Waits for pattern in what has not been matched yet."""
    global seen
    deadline = time.monotonic() + 30
    while True:
        match = re.search(pattern, seen, re.DOTALL)
        if match:
            seen = seen[match.end():]
            return match
        left = deadline - time.monotonic()
        ready = select.select([terminal], [], [], max(left, 0))[0]
        if not ready:
            sys.exit(f"never saw {pattern!r} in {seen!r}")
        seen += os.read(terminal, 4096).decode(errors="replace")


def type_text(text):
    os.write(terminal, text.encode())


with open("count.py", "w") as script:
    script.write(COUNT)

expect("prompt> ")
type_text(f"{heapprof} run -q python3 count.py\n")
expect("ready\r\n")
type_text("\x03")  # one interrupt: it comes once
expect(r"\^C")
type_text("hello\n")
expect("interrupts: 1 line: hello\r\n")
expect("prompt> ")
type_text('echo "status $?"\n')
expect("status 9\r\n")

type_text(f"{heapprof} run -q sh -c 'echo ready; exec cat'\n")
expect("ready\r\n")
type_text("one\n")
expect("one\r\none\r\n")
type_text("\x1a")
expect("Stopped")
expect("prompt> ")
type_text("fg\n")
expect("fg\r\n.*cat'\r\n")
type_text("two\n")
expect("two\r\ntwo\r\n")
type_text("\x1a")
expect("Stopped")
type_text("bg\n")  # cat reads from the terminal: it stops again by SIGTTIN
expect("&\r\n.*prompt> ")
while True:
    type_text("jobs\n")
    if "Stopped" in expect("jobs\r\n(.*)prompt> ").group(1):
        break
type_text("fg\n")
expect("fg\r\n.*cat'\r\n")
type_text("three\n")
expect("three\r\nthree\r\n")
type_text("\x04")
expect("prompt> ")
type_text('echo "status $?"\n')
expect("status 0\r\n")

type_text(f"{heapprof} run -q sh -c 'echo ready; exec sleep 1000'\n")
expect("ready\r\n")
type_text("\x03")
expect("prompt> ")
type_text('echo "status $?"\n')
expect("status 130\r\n")
type_text("exit\n")
