#!/usr/bin/env python3
"""top_oracle.py HEAPPROF FILE... | top_oracle.py HEAPPROF --random FIRST COUNT: compares
`heapprof top --error=never` with `go tool pprof -top`, byte for byte.

For every sample type of every file (or random profile), with several sets of options. Files that
pprof itself refuses, and files of formats other than pprof's own, are left out and counted. Prints
"N of M reports are identical" and the first differences; the status is 0 when all are, and there
were any.
"""
import concurrent.futures
import difflib
import itertools
import os
import re
import subprocess
import sys
import tempfile

import random_profile

# Options of pprof, and what they are for heapprof.
PLAIN = (["-nodecount=30"], [])
WHOLE = (["-nodecount=0", "-nodefraction=0"], ["-n", "0", "--node-fraction=0"])
OTHERS = [
    (["-cum", "-nodecount=30"], ["--cum"]),
    (["-lines", "-nodecount=30"], ["--lines"]),
    (["-lines", "-cum", "-nodecount=7", "-nodefraction=0.02"],
     ["--lines", "--cum", "-n7", "--node-fraction", "0.02"]),
    (["-lines", "-nodecount=0", "-nodefraction=0"], ["--lines", "-n0", "--node-fraction=0"]),
]


# First bytes of an uncompressed profile.proto: the tags of Profile's fields. All other formats that
# pprof reads begin with a small letter, a dash, white space or a zero.
PROFILE_BEGINNINGS = b"\x0a\x12\x1a\x22\x2a\x32\x38\x40\x48\x50\x5a\x60\x6a\x70"


class Oracle:
    def __init__(self, heapprof, folder):
        self.heapprof = heapprof
        self.pprof = subprocess.run(["go", "tool", "-n", "pprof"], capture_output=True, check=True,
                                    text=True).stdout.strip()
        # Nothing of this machine may lend names to a profile of another one.
        self.environment = dict(os.environ, HOME=folder, PPROF_TMPDIR=folder,
                                PPROF_BINARY_PATH=folder)

    def run(self, *command):
        return subprocess.run(command, capture_output=True, env=self.environment, check=False)

    def type_count(self, path):
        """How many sample types the file has, 0 when it is not one that both should read."""
        with open(path, "rb") as file:
            head = file.read(2)
        if head != b"\x1f\x8b" and (not head or head[0] not in PROFILE_BEGINNINGS):
            return 0
        refusal = self.run(self.pprof, "-top", "-sample_index=999999", path).stderr.decode()
        found = re.search(r"outside the range \[0\.\.(\d+)\]", refusal)
        return int(found.group(1)) + 1 if found else 0

    def compare(self, job):
        path, index, (pprof_options, heapprof_options) = job
        theirs = self.run(self.pprof, "-top", *pprof_options, f"-sample_index={index}", path)
        ours = self.run(self.heapprof, "top", "--error=never", *heapprof_options, "--sample-type",
                        str(index), path)
        same = theirs.returncode == ours.returncode == 0 and theirs.stdout == ours.stdout
        return job, same, theirs, ours


def show_difference(job, theirs, ours):
    path, index, (_, options) = job
    print(f"{path}, sample type {index}, {' '.join(options)}:")
    texts = [run.stdout.decode("utf-8", "replace").split("\n") for run in (theirs, ours)]
    lines = difflib.unified_diff(*texts, "pprof", "heapprof", lineterm="", n=0)
    print("\n".join(itertools.islice(lines, 12)))
    print(ours.stderr.decode("utf-8", "replace"), end="")


def find_jobs(oracle, arguments, folder):
    """(path, sample type, options) for all reports to compare, and how many files were left out."""
    if arguments[0] == "--random":
        files = []
        for seed in range(int(arguments[1]), int(arguments[1]) + int(arguments[2])):
            path = os.path.join(folder, f"{seed}.pb")
            contents, count = random_profile.random_profile(seed)
            with open(path, "wb") as file:
                file.write(contents)
            files.append((path, count))
    else:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            files = list(zip(arguments, pool.map(oracle.type_count, arguments)))
    jobs = []
    others = itertools.cycle(OTHERS)
    for path, count in files:
        # Of very many sample types a few tell as much.
        for index in range(count) if count <= 8 else (0, 1, count - 1):
            jobs += [(path, index, options) for options in (PLAIN, WHOLE, next(others))]
    return jobs, sum(count == 0 for _, count in files)


def main():
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(sys.argv[1], folder)
        jobs, left_out = find_jobs(oracle, sys.argv[2:], folder)
        same_count = 0
        shown = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for job, same, theirs, ours in pool.map(oracle.compare, jobs):
                same_count += same
                if not same and shown < 5:
                    show_difference(job, theirs, ours)
                    shown += 1
    print(f"{same_count} of {len(jobs)} reports are identical; {left_out} files left out")
    return 0 if jobs and same_count == len(jobs) else 1


sys.exit(main())
