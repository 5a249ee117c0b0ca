"""accuracy.py TEST: the estimates against the truth, over many seeds; see accuracy.bats.

An object of s bytes is sampled with p = 1 - e^(-s/R), and then stands for 1/p objects, so the
estimate of N objects of one size has the mean N and the variance N (1-p)/p; in bytes s^2 times
that. Seeds are fixed: what passes once passes always, as long as the sampler stays as it is.
"""
import math

import heap_profile
from heap_profile import Run, chance, parallel, target, variance_of_objects

TYPES = ("alloc", "inuse")


def mean_and_deviation(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))


def runs_of_sizes(seeds, rate, requests):
    """[{function: sums}], one a seed."""
    def one(seed):
        return Run([f"--seed={seed}", f"--rate={rate}"],
                   [target("allocates_sizes"), *requests]).profile.sites()
    return parallel(one, seeds)


def figures(runs, site, name):
    return [run.get(f"site_{site}", {}).get(name, 0) for run in runs]


SIZES = [int(4096 * ratio) for ratio in (0.25, 0.5, 1, 1.5, 2, 3, 4)]


def runs_around_the_rate(count, seeds):
    return runs_of_sizes(range(1, seeds + 1), 4096,
                         [f"{i}:{size}x{count}:h" for i, size in enumerate(SIZES)])


def sizes_around_the_rate(verdict):
    rate, count, seeds = 4096, 400, 200
    runs = runs_around_the_rate(count, seeds)
    for i, size in enumerate(SIZES):
        for kind in TYPES:
            objects = count if kind == "alloc" else count // 2
            variance = variance_of_objects(size, objects, rate)
            what = f"{kind} of size {size}"
            for unit, scale in (("objects", 1), ("space", size)):
                found = figures(runs, i, f"{kind}_{unit}")
                mean, deviation = mean_and_deviation([v / (objects * scale) for v in found])
                error = math.sqrt(variance) / objects
                verdict.within(mean, 1, 3 * error / math.sqrt(seeds), f"mean {unit}, {what}")
                # A deviation over n runs is itself known to 1 in sqrt(2n).
                verdict.within(deviation / error, 1, 3 / math.sqrt(2 * seeds),
                               f"spread of {unit}, {what}")


def variances_in_the_file(verdict):
    """Their means over the seeds are the true variances; of bytes and of objects."""
    rate, count, seeds = 4096, 400, 60
    runs = runs_around_the_rate(count, seeds)
    units = [("space", 1), ("objects", 0)]
    for i, size in enumerate(SIZES):
        for kind in TYPES:
            for unit, power in units:
                variance = variance_of_objects(size, count if kind == "alloc" else count // 2,
                                               rate) * size ** (2 * power)
                told = [v / variance for v in figures(runs, i, f"{kind}_{unit}_variance")]
                mean, deviation = mean_and_deviation(told)
                verdict.within(mean, 1, 3 * deviation / math.sqrt(seeds) + 1e-3,
                               f"mean variance told, {kind} {unit} of size {size}")


def big_blocks(verdict):
    rate, count, seeds = 512 << 10, 1000, 10
    runs = runs_of_sizes(range(1, seeds + 1), rate,
                         ["0:524288x1000:k", "1:512000x1000:k", "2:2097152x1000:k"])
    limits = ((512 << 10, 0.075, 0.025), (500 << 10, 0.075, 0.025), (2 << 20, 0.015, 0.005))
    for i, (size, each, all_runs) in enumerate(limits):
        for kind in TYPES:
            for unit, scale in (("objects", 1), ("space", size)):
                ratios = [v / (count * scale) for v in figures(runs, i, f"{kind}_{unit}")]
                for seed, ratio in enumerate(ratios, 1):
                    verdict.within(ratio, 1, each, f"{kind} {unit} of size {size}, seed {seed}")
                verdict.within(sum(ratios) / seeds, 1, all_runs,
                               f"mean {kind} {unit} of size {size}")


def two_sizes_at_one_stack(verdict):
    """16 B x 32 M and 32 MiB x 16, half of the bytes each: what scales by the average size fails."""
    rate, seeds = 512 << 10, 12
    rows = ((16, 32 << 20), (32 << 20, 16))
    runs = runs_of_sizes(range(1, seeds + 1), rate, [f"0:{s}x{n}:f" for s, n in rows])
    for unit, power in (("objects", 0), ("space", 1)):
        truth = sum(n * s ** power for s, n in rows)
        variance = sum(variance_of_objects(s, n, rate) * s ** (2 * power) for s, n in rows)
        found = figures(runs, 0, f"alloc_{unit}")
        told = [run["site_0"][f"alloc_{unit}_variance"] for run in runs]
        scores = [(f - truth) / math.sqrt(variance) for f in found]
        verdict.within(sum(scores) / seeds, 0, 3 / math.sqrt(seeds), f"mean error of {unit}")
        verdict.check(sum(abs(z) <= 2 for z in scores) >= seeds - 3, f"{unit} within 2 s.e.: {scores}")
        for seed, (f, v) in enumerate(zip(found, told), 1):
            verdict.within(v / variance, 1, 0.15, f"variance told for {unit}, seed {seed}")
            verdict.within(f, truth, 4 * math.sqrt(v), f"{unit}, seed {seed}")


def thousand_stacks(verdict):
    """How many of 1000 call stacks are within two of the standard errors that the file tells."""
    rate = 1024
    profile = Run(["--seed=1", f"--rate={rate}"],
                  [target("thousand_stacks"), "10", "1000", str(rate)]).profile
    verdict.equal(profile.losses(), {}, "losses")
    stacks = {}
    for frames, values, extras in profile.samples:
        bits = [frame[0][4] for frame in reversed(frames) if frame[0].startswith("bit_")]
        if len(bits) == 10:
            number = int("".join(bits), 2)
            verdict.check(number not in stacks, f"stack {number} is there once")
            stacks[number] = values, extras
    verdict.equal(len(stacks), 1000, "number of stacks")
    for kind in TYPES:
        for unit in ("objects", "space"):
            inside = total_score = 0
            for number, (values, extras) in stacks.items():
                size = 16 + number * 37 % rate
                count = (30 + number % 50) * (rate // size + 2)
                assert count * chance(size, rate) >= 30
                error = math.sqrt(extras[f"{kind}_{unit}_variance"])
                truth = (count if kind == "alloc" else (count + 1) // 2) * (size if unit == "space" else 1)
                difference = values[f"{kind}_{unit}"] - truth
                inside += abs(difference) <= 2 * error
                total_score += difference / error if error else math.inf
            verdict.within(inside / 1000, 0.95, 0.02, f"share of stacks within 2 s.e., {kind} {unit}")
            verdict.within(total_score / 1000, 0, 0.15, f"mean error in s.e., {kind} {unit}")


heap_profile.main([sizes_around_the_rate, variances_in_the_file, big_blocks, two_sizes_at_one_stack,
                   thousand_stacks])
