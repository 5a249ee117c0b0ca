"""heap_profile.py: reads the profiles that `heapprof run` writes, for tests that judge their figures.

    heap_profile.py site PROFILE BINARY FUNCTION...

prints for each function "FUNCTION ALLOC INUSE PEAK", each figure OBJECTS/BYTES, summed over the
stacks that the function is in;

    heap_profile.py label PROFILE BINARY FUNCTION KEY

"VALUE: ALLOC INUSE PEAK" for each value of a label in the stacks that the function is in;

    heap_profile.py comment PROFILE NAME

what follows "# NAME " in the comments;

    heap_profile.py losses PROFILE

the losses, "REASON COUNT BYTES" a line; `heap_profile.py total PROFILE` the three figures of all
stacks together. As a module it is the reader and the runner of the tests that do statistics.

A reader of its own (pprof's profile.proto, with the Sample fields from 100 on that heapprof adds),
so that a mistake of the command's reader cannot hide one of its writer. Functions are found by the
symbol tables of the files, not by the profile's names: a run that looks up no names takes a few
milliseconds, and the statistics here take thousands of runs.

HEAPPROF in the environment is the command, BUILD the build folder.
"""
import bisect
import concurrent.futures
import functools
import gzip
import math
import os
import struct
import subprocess
import sys
import tempfile

EXTRA_NAMES = {
    100: "alloc_space_variance", 101: "inuse_space_variance", 102: "peak_space_variance",
    103: "alloc_samples", 104: "inuse_samples", 105: "peak_samples",
    106: "alloc_objects_variance", 107: "inuse_objects_variance", 108: "peak_objects_variance",
}
OTHER_STACKS = "[other stacks]"


# --- the file ------------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """(number, value) of each field of a message: an int, a double, or the bytes inside."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "truncated"
        else:
            raise ValueError(f"wire type {kind}")
        yield number, value


def numbers(value):
    """A repeated varint: packed or one by itself."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


@functools.lru_cache(maxsize=None)
def symbols(path):
    """([address], [name], [(file offset, size, address)]) of an ELF file's functions and segments;
    names without parameters."""
    with open(path, "rb") as file:
        head = file.read(64)
        offset, = struct.unpack_from("<Q", head, 32)
        entry_size, count = struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        headers = file.read(entry_size * count)
    segments = []
    for i in range(count):
        kind, _, file_offset, address, _, size = struct.unpack_from("<IIQQQQ", headers, i * entry_size)
        if kind == 1:  # PT_LOAD
            segments.append((file_offset, size, address))
    listing = subprocess.run(["nm", "-nC", "--defined-only", path], capture_output=True, text=True,
                             check=True).stdout
    rows = [line.split(" ", 2) for line in listing.splitlines()]
    rows = [(int(row[0], 16), row[2].replace("(anonymous namespace)::", "").split("(")[0])
            for row in rows if row[1] in "tTwW"]
    return [row[0] for row in rows], [row[1] for row in rows], segments


def function_at(path, file_offset):
    """The function of an executable or library that holds the byte at file_offset."""
    addresses, names, segments = symbols(path)
    for start, size, address in segments:
        if start <= file_offset < start + size:
            place = bisect.bisect_right(addresses, file_offset - start + address) - 1
            return names[place] if place >= 0 else ""
    return ""


class Profile:
    """labels: of each sample, {key: text or number}. samples: [(frames, values, extras)]: frames leaf first, each (function, file, offset); values
    and extras by name. Functions are known in `binary` and in pseudo frames only, else "".
    comments: as they stand."""

    def __init__(self, path, binary=None):
        with open(path, "rb") as file:
            data = file.read()
        top = {}
        for number, value in fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data):
            top.setdefault(number, []).append(value)
        texts = [text.decode() for text in top[6]]
        self.types = [texts[dict(fields(kind))[1]] for kind in top[1]]
        self.comments = [texts[i] for value in top.get(13, []) for i in numbers(value)]
        self.binary = os.path.realpath(binary) if binary else None
        mappings = {}
        for message in top.get(3, []):
            row = dict(fields(message))
            mappings[row[1]] = row.get(2, 0), row.get(4, 0), texts[row.get(5, 0)]
        functions = {}
        for message in top.get(5, []):
            row = dict(fields(message))
            functions[row[1]] = texts[row.get(2, 0)]
        frames = {}
        for message in top.get(4, []):
            row = dict(fields(message))
            frames[row[1]] = self.frame(row, mappings, functions)
        self.samples = [self.sample(message, frames) for message in top.get(2, [])]
        self.labels = [self.labels_of(message, texts) for message in top.get(2, [])]

    def frame(self, row, mappings, functions):
        if row.get(2, 0) == 0:
            line = dict(fields(row[4])) if 4 in row else {}
            return functions.get(line.get(1), ""), "", 0
        start, file_offset, path = mappings[row[2]]
        offset = row.get(3, 0) - start + file_offset
        known = self.binary and os.path.realpath(path) == self.binary
        return function_at(path, offset) if known else "", path, offset

    @staticmethod
    def labels_of(message, texts):
        rows = [dict(fields(value)) for number, value in fields(message) if number == 3]
        return {texts[row[1]]: texts[row[2]] if row.get(2) else row.get(3, 0) for row in rows}

    def sample(self, message, frames):
        stack, values, extras = [], [], dict.fromkeys(EXTRA_NAMES.values(), 0)
        for number, value in fields(message):
            if number == 1:
                stack += [frames[i] for i in numbers(value)]
            elif number == 2:
                values += [signed(v) for v in numbers(value)]
            elif number in EXTRA_NAMES:
                extras[EXTRA_NAMES[number]] = value
        return stack, dict(zip(self.types, values)), extras

    def comment(self, name):
        """What follows "# NAME " in the comments; None when there is none."""
        for text in self.comments:
            if text.startswith(f"# {name} "):
                return text[len(name) + 3:]
        return None

    def losses(self):
        """{reason: (count, bytes)}."""
        rows = [text.split() for text in self.comments if text.startswith("# loss ")]
        return {row[2]: (int(row[3]), int(row[4])) for row in rows}

    def total(self, name):
        return sum(values[name] for _, values, _ in self.samples)

    def sites(self):
        """{function: sums}, of values and extras, over the stacks that the function is in."""
        sums = {}
        for frames, values, extras in self.samples:
            for function in {frame[0] for frame in frames if frame[0]}:
                site = sums.setdefault(function, {})
                for name, value in [*values.items(), *extras.items()]:
                    site[name] = site.get(name, 0) + value
        return sums


# --- runs ----------------------------------------------------------------------------------------

class Run:
    """One run of a target under the profiler: its profile, stdout (text) and stderr."""

    def __init__(self, options, command, status=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "heap.prof")
            done = subprocess.run(
                [os.environ["HEAPPROF"], "run", "-q", "--no-symbolize", "-o", path, *options, "--",
                 *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if done.returncode != status:
                raise AssertionError(f"{command}: status {done.returncode}: {done.stderr}")
            self.stdout, self.stderr = done.stdout, done.stderr
            self.profile = Profile(path, command[0])


def target(name):
    return os.path.join(os.environ["BUILD"], "tests", "targets", name)


def parallel(function, items):
    """[function(item)], on all processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


# --- the sampling law ------------------------------------------------------------------------------

def chance(size, rate):
    """That an object is sampled; one of 0 bytes counts as 1."""
    return -math.expm1(-max(size, 1) / rate)


def variance_of_objects(size, count, rate):
    """Of the estimate of count objects of one size."""
    p = chance(size, rate)
    return count * (1 - p) / p


class Verdict:
    """Collects what does not hold; `end` prints it and ends the program."""

    def __init__(self):
        self.failed = self.checked = 0

    def check(self, holds, text):
        self.checked += 1
        if not holds:
            self.failed += 1
            print(f"not so: {text}")

    def equal(self, found, wanted, what):
        self.check(found == wanted, f"{what} is {wanted}, found {found}")

    def within(self, found, wanted, tolerance, what):
        self.check(abs(found - wanted) <= tolerance,
                   f"{what} is {wanted:.6g} +- {tolerance:.3g}, found {found:.6g}")

    def end(self):
        print(f"{self.checked - self.failed} of {self.checked} hold")
        sys.exit(self.failed != 0 or self.checked == 0)


def main(tests):
    """Runs the function of `tests` that the first argument names, with a verdict."""
    verdict = Verdict()
    {test.__name__: test for test in tests}[sys.argv[1]](verdict)
    verdict.end()


# --- for bats files ------------------------------------------------------------------------------

def figures(sums):
    return " ".join(f"{sums.get(kind + '_objects', 0)}/{sums.get(kind + '_space', 0)}"
                    for kind in ("alloc", "inuse", "peak"))


def command(what, path, *others):
    profile = Profile(path, *(others[:1] if what in ("site", "label") else []))
    if what == "site":
        sites = profile.sites()
        for function in others[1:]:
            print(function, figures(sites.get(function, {})))
    elif what == "label":
        sums = {}
        for (frames, values, _), labels in zip(profile.samples, profile.labels):
            if others[1] in {frame[0] for frame in frames}:
                value = sums.setdefault(labels.get(others[2], ""), {})
                for name in profile.types:
                    value[name] = value.get(name, 0) + values[name]
        for value in sorted(sums):
            print(f"{value}: {figures(sums[value])}")
    elif what == "comment":
        print(profile.comment(others[0]))
    elif what == "losses":
        for reason, (count, size) in profile.losses().items():
            print(reason, count, size)
    elif what == "total":
        print(figures({name: profile.total(name) for name in profile.types}))
    else:
        sys.exit(f"no such command: {what}")


if __name__ == "__main__":
    command(*sys.argv[1:])
