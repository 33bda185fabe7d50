#!/usr/bin/env python3
"""The console under the keys of an analyst, on a pseudo-terminal of 200x60: times, bytes, processor, memory.

    benches/console.py target/release/avert DIR [SECONDS]

DIR is a data directory with an organization `default`, such as `avert generate` makes. Prints when the first frame and the first rows came,
how long each key took to its first output and to its last, how many bytes that was, the same for words that are searched as they are typed,
which part of a core was used in SECONDS (30) without a key, and what was resident at the end. Nothing is decided. Needs Python 3.9 on Linux and nothing else.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

COLUMNS, ROWS = 200, 60
PATIENCE = 120
# Escape sequences, the cells of times, which change each second, and what is drawn where words change.
UNTOLD = re.compile(rb"\x1b\][^\x1b\x07]*(?:\x1b\\|\x07)|\x1b\[[0-9;?]*[ -/]*[@-~]|[0-9dhms< ]")
KEYS = [("down", b"j", 250, 0.12), ("up", b"k", 150, 0.12), ("page down", b"\x1b[6~", 30, 0.2), ("to the end", b"G", 20, 0.3)]
BACK = {"to the end": b"g"}
WORDS = [b"nordwind", b"visa", b"4111", b"subscr"]


class Console:
    def __init__(self, binary, directory):
        self.started = time.monotonic()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            environment = dict(os.environ, TERM="xterm-256color", COLORTERM="truecolor", AVERT_THEME="dark")
            os.execvpe(binary, [binary, "open", "--data-dir", directory, "--organization", "default"], environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read(self, seconds):
        """What is written within so many seconds, and when its first part came and the last one that changes words."""
        written, first, last = b"", None, None
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], left)[0]:
                try:
                    part = os.read(self.terminal, 65536)
                except OSError:
                    sys.exit("the console has ended: " + written[-300:].decode(errors="replace"))
                written += part
                now = time.monotonic()
                first = first or now
                if last is None or UNTOLD.sub(b"", part):
                    last = now
        return written, first, last

    def begin(self):
        """Milliseconds to the first frame, and to the first rows."""
        seen, frame = b"", None
        while time.monotonic() - self.started < PATIENCE:
            seen += self.read(0.005)[0]
            now = (time.monotonic() - self.started) * 1000
            if frame is None and b"Queue" in seen:
                frame = now
            if b"ETHOCA" in seen or b"VERIFI" in seen:
                return frame, now
        sys.exit(f"no rows within {PATIENCE} s")

    def press(self, keys, settle, back=None):
        """Milliseconds to the first and to the last output of each press, and its bytes."""
        measured = []
        for key in keys:
            pressed = time.monotonic()
            os.write(self.terminal, key)
            written, first, last = self.read(settle)
            if first:
                measured.append(((first - pressed) * 1000, (last - pressed) * 1000, len(written)))
            if back:
                os.write(self.terminal, back)
                self.read(settle)
        return [sorted(column) for column in zip(*measured)]

    def type(self, opening, word, settle):
        """The same for the letters of a word in the field that a key opens; it is left empty again."""
        os.write(self.terminal, opening)
        self.read(settle)
        measured = self.press([bytes([letter]) for letter in word], settle)
        os.write(self.terminal, b"\x15")
        self.read(settle)
        os.write(self.terminal, b"\x1b")
        self.read(settle)
        return measured

    def processor(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        with open(f"/proc/{self.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    def end(self):
        os.write(self.terminal, b"q")
        for _ in range(50):
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return
            time.sleep(0.1)
        os.kill(self.pid, signal.SIGKILL)


def at(values, part):
    return values[min(len(values) - 1, int(len(values) * part))]


def tell(name, measured):
    first, last, size = measured
    print(f"{name:>15} {len(first)} times: to the frame median {at(first, .5):.1f}, 99 % {at(first, .99):.1f} ms; "
          f"settled median {at(last, .5):.1f}, 99 % {at(last, .99):.1f} ms; bytes median {at(size, .5)}", flush=True)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    quiet = float(sys.argv[3]) if len(sys.argv) == 4 else 30.0
    console = Console(sys.argv[1], sys.argv[2])
    frame, rows = console.begin()
    print(f"first frame {frame:.0f} ms, first rows {rows:.0f} ms")
    console.read(3)
    pressed = [(name, console.press([key] * times, settle, BACK.get(name))) for name, key, times, settle in KEYS]
    for name, measured in pressed:
        tell(name, measured)
    tell("all these keys", [sorted(sum(columns, [])) for columns in zip(*(measured for _, measured in pressed))])
    for word in WORDS:
        tell(f"search {word.decode()}", console.type(b"/", word, 0.9))
    console.read(5)
    before, since = console.processor(), time.monotonic()
    written = console.read(quiet)[0]
    used = (console.processor() - before) / (time.monotonic() - since) * 100
    print(f"without a key: {used:.2f} % of a core over {quiet:.0f} s, {len(written)} bytes")
    print(f"resident {console.resident():.0f} MiB")
    console.end()


if __name__ == "__main__":
    main()
