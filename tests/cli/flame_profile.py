#!/usr/bin/env python3
"""flame_profile.py TYPE/UNIT... [#COMMENT...]: folded stacks on stdin become a pprof file on stdout.

A line is `root;caller;leaf VALUE...`, one value for each sample type. `outer > inner` is one call
site with an inlined function. Names take Python's escapes: \\n, \\x1b, \\u202e, and \\udcff for the
byte 0xff, which makes invalid UTF-8. Behind ` | ` a line has more of its sample: `NAME=NUMBER` is a
field of heapprof's own (see profile.proto), `@KEY=TEXT` and `@KEY=NUMBER/UNIT` are labels. Written
without protobuf tools, so that a test can make files that no such tool would.

Besides types there may be comments that begin with #, --comment=TEXT, --default=TYPE, --period=BYTES,
and --extra=FIELD:NUMBER, which gives each sample a field of ours (see proto/profile.proto), a double
from FIELD 100 on.
"""
import gzip
import re
import struct
import sys

# heapprof's own fields of a sample, and those of them that are integers.
EXTRAS = {name: tag for tag, name in enumerate((
    "alloc_space_variance inuse_space_variance peak_space_variance alloc_samples inuse_samples "
    "peak_samples alloc_objects_variance inuse_objects_variance peak_objects_variance "
    "freed_objects lifetime_sum lifetime_min lifetime_max temporary_objects foreign_objects "
    "age_sum live_objects").split(), 100)}
INTEGERS = ("alloc_samples", "inuse_samples", "peak_samples", "lifetime_min", "lifetime_max")


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

    def more(self, name, value):
        """A field of a sample: one of heapprof's own, or a label."""
        if not name.startswith("@"):
            if name in INTEGERS:
                return field(EXTRAS[name], int(value))
            return varint(EXTRAS[name] << 3 | 1) + struct.pack("<d", float(value))
        number = re.fullmatch(r"(-?\d+)/(.*)", value)
        content = (field(3, int(number[1])) + field(4, self.string(number[2])) if number else
                   field(2, self.string(value)))
        return field(3, field(1, self.string(name[1:])) + content)

    def sample(self, stack, values, more):
        places = b"".join(varint(self.location(frame)) for frame in reversed(stack))
        self.body += field(2, field(1, places) + field(2, b"".join(map(varint, values))) +
                            b"".join(self.more(*word.split("=", 1)) for word in more) + self.extra)

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
    comments = [argument for argument in sys.argv[1:] if argument.startswith("#")]
    types = [argument for argument in sys.argv[1:] if argument[0] not in "-#"]
    for option in options + [f"--comment={comment}" for comment in comments]:
        profile.option(*option.split("=", 1))
    for sample_type in types:
        name, unit = sample_type.split("/")
        profile.body += field(1, field(1, profile.string(name)) + field(2, profile.string(unit)))
    for line in sys.stdin.buffer.read().decode().split("\n"):
        if not line:
            continue
        line, _, more = line.partition(" | ")
        words = line.split(" ")
        count = len(types)
        stack = [frame.encode("latin-1", "backslashreplace").decode("unicode_escape")
                 for frame in " ".join(words[:-count]).split(";")]
        profile.sample(stack, [int(word) for word in words[-count:]], more.split())
    sys.stdout.buffer.write(gzip.compress(profile.encode(), mtime=0))


main()
