"""sampling_law.py TEST: which requests are chosen, seen from outside; see sampling_law.bats."""
import math

import heap_profile
from heap_profile import Run, chance, parallel, target, variance_of_objects


def sites(seed, rate, *command):
    run = Run([f"--seed={seed}", f"--rate={rate}"], [target(command[0]), *command[1:]])
    return run.profile.sites()


def figures(seed, rate, *command):
    """All that a profile says of its stacks; addresses as offsets in their files."""
    run = Run([f"--seed={seed}", f"--rate={rate}"], [target(command[0]), *command[1:]])
    return sorted((frames, sorted(values.items()), sorted(extras.items()))
                  for frames, values, extras in run.profile.samples)


def check_sum(verdict, found, size, count, rate, what):
    """found objects, sampled, of count independent ones."""
    p = chance(size, rate)
    verdict.within(found, count * p, 3.5 * math.sqrt(count * p * (1 - p)), what)


def a_seed_decides(verdict):
    for command in (("allocates_sizes", "0:100x20000:h", "1:5000x100:k", "2:0x1000:k"),
                    ("known_sites",), ("thousand_stacks", "8", "256", "500")):
        for rate in (3, 1000, 4096):
            first = figures(5, rate, *command)
            verdict.check(first == figures(5, rate, *command), f"{command}: the same at rate {rate}")
            if command[0] != "known_sites":
                verdict.check(first != figures(6, rate, *command), f"{command}: another, rate {rate}")


def the_first_request(verdict):
    """Of the process, the very first, and of each of many threads."""
    seeds = range(1, 301)
    for size, rate in ((100, 200), (4096, 4096)):
        runs = parallel(lambda seed: sites(seed, rate, "allocates_sizes", f"0:{size}x1:k"), seeds)
        hits = sum("site_0" in run for run in runs)
        check_sum(verdict, hits, size, len(seeds), rate, f"first request, size {size} rate {rate}")
    for size, rate in ((100, 1000), (100, 100), (4096, 4096)):
        runs = parallel(lambda seed: sites(seed, rate, "threads_hold_blocks", "50", "1", str(size)),
                        range(1, 41))
        hits = sum(run.get("allocate_block", {}).get("alloc_samples", 0) for run in runs)
        check_sum(verdict, hits, size, 40 * 50, rate, f"threads' first, size {size} rate {rate}")


def empty_requests(verdict):
    rate, count, seeds = 2, 1000, 20
    runs = parallel(lambda seed: sites(seed, rate, "allocates_sizes", f"0:0x{count}:k",
                                       f"1:0x{count}:c", f"2:0x{count}:p"), range(1, seeds + 1))
    error = math.sqrt(variance_of_objects(0, count, rate) / seeds)
    for i, name in enumerate(("malloc", "calloc", "posix_memalign")):
        for kind in ("alloc", "inuse"):
            objects = [run[f"site_{i}"][f"{kind}_objects"] for run in runs]
            verdict.within(sum(objects) / seeds, count, 3 * error, f"{kind} objects by {name}(0)")
            verdict.equal(sum(run[f"site_{i}"][f"{kind}_space"] for run in runs), 0, "their bytes")


def other_functions(verdict):
    """Aligned requests and those of calloc are charged once, with the size asked for; realloc as a
    new request of the new size."""
    rate, count, seeds = 4096, 300, 100
    rows = [(100, "p"), (3000, "p"), (8192, "p"), (4096, "a"), (8192, "a"), (1000, "c"), (500, "r"),
            (5000, "r")]
    runs = parallel(lambda seed: sites(seed, rate, "allocates_sizes",
                                       *[f"{i}:{size}x{count}:{how}"
                                         for i, (size, how) in enumerate(rows)]),
                    range(1, seeds + 1))
    for i, (size, how) in enumerate(rows):
        made = {"alloc": [size], "inuse": [size]}
        if how == "r":
            made = {"alloc": [size, 2 * size], "inuse": [2 * size]}
        for kind, sizes in made.items():
            for unit, power in (("objects", 0), ("space", 1)):
                truth = sum(count * s ** power for s in sizes)
                variance = sum(variance_of_objects(s, count, rate) * s ** (2 * power) for s in sizes)
                found = [run[f"site_{i}"][f"{kind}_{unit}"] for run in runs]
                verdict.within(sum(found) / seeds, truth, 3.5 * math.sqrt(variance / seeds),
                               f"mean {kind} {unit} by {how} of size {size}")


heap_profile.main([a_seed_decides, the_first_request, empty_requests, other_functions])
