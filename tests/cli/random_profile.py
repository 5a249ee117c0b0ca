"""random_profile.py: pprof files that exercise every rule of a report, the same for the same seed.

Names that want demangling and names that must stay, inlining, recursion, values of both signs and
up to 2^62, labels, mappings that are one file at several addresses, patterns of drop_frames right
and wrong, odd units. No control characters: heapprof shows these in its own way.
"""
import random

NAMES = [
    "main", "malloc", "_start", "f1", "f2", "f3", "f4", "f5", "f6", "a b c", "a;b", "", ".callable",
    "foo(int)", "std::vector<int, std::allocator<int> >::push_back(int const&)",
    "(anonymous namespace)::bar(int)", "operator new(unsigned long)", "A::operator()(int) const",
    "_ZN3foo3barEv", "_ZNSt6vectorIiSaIiEE9push_backERKi", "_Znwm", "_ZN12_GLOBAL__N_13barEi",
    "_RNvC7mycrate3foo", "runtime.mallocgc", "sync.(*Mutex).Lock", "main.foo[...]",
    "main.(*T[...]).Foo", "com.example.Foo.<init>", "x<y", "x>y<z", "foo(bar", "foo)bar",
    "libfoo.so+0x12", "[truncated]", "\u00fcn\u00efcode",
]
SOURCES = [
    "", "/src/a.c", "/src/../b.c", "a//b/./c.c", "/proc/self/cwd/x.c", "/proc/self/cwd/./y.c",
    "../../z.c", "/", ".", "/src/a.c/", "a/../..", "src/a/../b/../../..//c",
]
BINARIES = [
    "/bin/app", "/lib/libfoo.so", "/other/libfoo.so", "[vdso]", "", "http://x/y", "C:/foo.exe",
    "//anon", "foo/", "/memfd:x (deleted)",
]
UNITS = [
    "bytes", "count", "nanoseconds", "ms", "kb", "parsecs", "", "seconds", "samples", "GCU", "us",
    "\u03bcs", "hours", "B",
]
PATTERNS = [
    "main", "malloc|calloc", "f[1-3]", ".*foo.*", "std::.*", "(?i)MAIN|.*new",
    r"operator new(\[\])?", r"f\d", r"[[:alpha:]]+\d{1,2}", "(a", "a)|(f.*", "x*?", r"\w+", ".*::bar",
    r"\Qmain.foo[...]\E", "[^f].*", r"runtime\..*", r"(?:f){1,3}\d+", "^f1$", r"\bf4\b", "a{1001}",
    "(?P<n>f5)", ".", "f(?i:5|6)", "**", "a**", "{2}", "x{", "[a-", "\\",
]
COMMENTS = ["hello", "#hidden", "hello", "", "two words"]


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def number_field(tag, number):
    return varint(tag << 3) + varint(int(number)) if number else b""


def bytes_field(tag, value):
    return varint(tag << 3 | 2) + varint(len(value)) + value


class Maker:
    """One profile under construction."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.strings = {"": 0}
        self.body = bytearray()
        self.mixed_signs = self.chance(0.5)
        self.magnitude = self.random.choice([10, 1000, 10**6, 10**9, 10**13, 2**62])
        self.type_count = self.random.randint(1, 4)

    def chance(self, probability):
        return self.random.random() < probability

    def text(self, choices):
        return self.string(self.random.choice(choices))

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def add(self, tag, *fields):
        self.body += bytes_field(tag, b"".join(fields))

    def sample_types(self):
        for _ in range(self.type_count):
            kind = self.text(["space", "objects", "inuse_space", "cpu", ""])
            self.add(1, number_field(1, kind), number_field(2, self.text(UNITS)))

    def mappings(self):
        self.maps = []
        for index in range(self.random.randint(0, 4)):
            start = self.random.choice([0x400000, 0x10000000, 0x7F0000000000])
            start += self.random.randint(0, 2) * 0x1000
            size = self.random.choice([0x1000, 0x1000, 0x800, 0x2000])
            flags = b"".join(number_field(tag, self.chance(0.6)) for tag in (7, 8, 9, 10))
            self.add(3, number_field(1, index + 1), number_field(2, start),
                     number_field(3, start + size),
                     number_field(4, self.random.choice([0, 0, 0x1000])),
                     number_field(5, self.text(BINARIES)),
                     number_field(6, self.text(["", "", "abc", "0123ef"])), flags)
            self.maps.append((index + 1, start))

    def functions(self):
        self.function_count = self.random.randint(1, 25)
        for index in range(self.function_count):
            name = self.random.choice(NAMES)
            system_name = name if self.chance(0.5) else self.random.choice(NAMES + [f"_Zs{index}"])
            self.add(5, number_field(1, index + 1), number_field(2, self.string(name)),
                     number_field(3, self.string(system_name)), number_field(4, self.text(SOURCES)),
                     number_field(5, self.random.choice([0, 0, 1, 7])))

    def locations(self):
        self.location_count = self.random.randint(1, 40)
        for index in range(self.location_count):
            mapping, start = self.random.choice(self.maps + [(0, 0)])
            lines = b"".join(
                bytes_field(4, number_field(1, self.random.randint(1, self.function_count)) +
                            number_field(2, self.random.choice([0, 1, 2, -5, 10])))
                for _ in range(self.random.choice([0, 1, 1, 1, 2, 3])))
            self.add(4, number_field(1, index + 1), number_field(2, mapping),
                     number_field(3, start + self.random.randint(0, 5)), lines,
                     number_field(5, self.chance(0.1)))

    def value(self):
        value = int(self.random.random()**4 * self.magnitude)
        if self.chance(0.1):
            return 0
        return -value if self.mixed_signs and self.chance(0.4) else value

    def labels(self):
        fields = b""
        if self.chance(0.2):
            fields += bytes_field(3, number_field(1, self.string("bytes")) +
                                  number_field(3, self.random.choice([0, 8, 16])) +
                                  number_field(4, self.text(["", "bytes"])))
        if self.chance(0.2):
            fields += bytes_field(3, number_field(1, self.text(["k", "k2"])) +
                                  number_field(2, self.text(["v", "w"])))
        if self.mixed_signs and self.chance(0.1):
            fields += bytes_field(3, number_field(1, self.string("pprof::base")) +
                                  number_field(2, self.text(["true", "true", "false"])))
        return fields

    def samples(self):
        for _ in range(self.random.randint(0, 60)):
            depth = self.random.choice([0, 1, 2, 3, 5, 8, 20])
            stack = b"".join(varint(self.random.randint(1, self.location_count))
                             for _ in range(depth))
            for _ in range(self.random.choice([1, 1, 2])):
                values = b"".join(varint(self.value()) for _ in range(self.type_count))
                self.add(2, bytes_field(1, stack), bytes_field(2, values), self.labels())

    def head(self):
        if self.chance(0.7):
            self.body += number_field(7, self.text(PATTERNS))
        if self.chance(0.3):
            self.body += number_field(8, self.text(PATTERNS))
        if self.chance(0.5):
            times = [1662650000123456789, -1, 10**9, -10**18, 4 * 10**18]
            self.body += number_field(9, self.random.choice(times))
        if self.chance(0.5):
            durations = [1, 999, 10**9, 123456789012, 3600 * 10**9 * 5, -10**9]
            self.body += number_field(10, self.random.choice(durations))
        for comment in COMMENTS:
            if self.chance(0.3):
                self.body += bytes_field(13, varint(self.string(comment)))
        if self.chance(0.3):
            self.body += number_field(14, self.text(["space", "cpu", "nosuch"]))

    def make(self):
        self.sample_types()
        self.mappings()
        self.functions()
        self.locations()
        self.samples()
        self.head()
        strings = b"".join(bytes_field(6, text.encode()) for text in self.strings)
        return bytes(self.body) + strings


def random_profile(seed):
    """The bytes of an uncompressed profile, and how many sample types it has."""
    maker = Maker(seed)
    return maker.make(), maker.type_count
