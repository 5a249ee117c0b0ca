#!/usr/bin/env python3
"""flame_profile.py TYPE/UNIT...: folded stacks on stdin become a pprof file on stdout.

A line is `root;caller;leaf VALUE...`, one value for each sample type. `outer > inner` is one call
site with an inlined function. Names take Python's escapes: \\n, \\x1b, \\u202e, and \\udcff for the
byte 0xff, which makes invalid UTF-8. Written without protobuf tools, so that a test can make files
that no such tool would.

Besides types there may be --comment=TEXT, --default=TYPE, --period=BYTES, and --extra=FIELD:NUMBER,
which gives each sample a field of ours (see proto/profile.proto), a double from FIELD 100 on.
"""
import gzip
import struct
import sys


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(tag, value):
    if isinstance(value, int):
        return varint(tag << 3) + varint(value)
    return varint(tag << 3 | 2) + varint(len(value)) + value


class Profile:
    def __init__(self):
        self.strings = {b"": 0}
        self.functions = {}
        self.locations = {}
        self.extra = b""
        self.body = bytearray()

    def string(self, text):
        raw = text.encode("utf-8", "surrogateescape")
        return self.strings.setdefault(raw, len(self.strings))

    def function(self, name):
        if name not in self.functions:
            number = self.functions[name] = len(self.functions) + 1
            self.body += field(5, field(1, number) + field(2, self.string(name)) +
                               field(3, self.string("_" + name)) + field(4, self.string("src/app.c")))
        return self.functions[name]

    def location(self, frame):
        if frame not in self.locations:
            lines = b"".join(field(4, field(1, self.function(name)))
                             for name in reversed(frame.split(" > ")))
            number = self.locations[frame] = len(self.locations) + 1
            self.body += field(4, field(1, number) + field(2, 1) + field(3, 0x1000 + number) + lines)
        return self.locations[frame]

    def sample(self, stack, values):
        places = b"".join(varint(self.location(frame)) for frame in reversed(stack))
        self.body += field(2, field(1, places) + field(2, b"".join(map(varint, values))) + self.extra)

    def option(self, name, value):
        if name == "--comment":
            self.body += field(13, self.string(value))
        elif name == "--default":
            self.body += field(14, self.string(value))
        elif name == "--period":
            self.body += field(11, field(1, self.string("space")) + field(2, self.string("bytes")))
            self.body += field(12, int(value))
        elif name == "--extra":
            tag, number = value.split(":")
            self.extra += varint(int(tag) << 3 | 1) + struct.pack("<d", float(number))
        else:
            sys.exit(f"flame_profile.py: unknown option {name}")

    def encode(self):
        self.body += field(3, field(1, 1) + field(2, 0x1000) + field(3, 0x9000000) +
                           field(5, self.string("/usr/bin/app")))
        return bytes(self.body) + b"".join(field(6, raw) for raw in self.strings)


def main():
    profile = Profile()
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    types = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    for option in options:
        profile.option(*option.split("=", 1))
    for sample_type in types:
        name, unit = sample_type.split("/")
        profile.body += field(1, field(1, profile.string(name)) + field(2, profile.string(unit)))
    for line in sys.stdin.buffer.read().decode().split("\n"):
        if not line:
            continue
        words = line.split(" ")
        count = len(types)
        stack = [frame.encode("latin-1", "backslashreplace").decode("unicode_escape")
                 for frame in " ".join(words[:-count]).split(";")]
        profile.sample(stack, [int(word) for word in words[-count:]])
    sys.stdout.buffer.write(gzip.compress(profile.encode(), mtime=0))


main()
