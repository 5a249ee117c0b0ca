"""peak.py TEST: the peak against a program that knows its own (logs_own_peak.c); see peak.bats."""
import math

import heap_profile
from heap_profile import Run, parallel, target

STEPS = 20000


class PeakRun:
    """own: the program's {site: (objects, bytes)} at its maximum; told: the profile's."""

    def __init__(self, threads, rate, how, seed=1):
        run = Run([f"--rate={rate}", f"--seed={seed}"],
                  [target("logs_own_peak"), str(threads), str(STEPS), how])
        rows = [line.split() for line in run.stdout.splitlines()]
        self.maximum = int(rows[0][1])
        self.own = {row[0]: (int(row[1]), int(row[2])) for row in rows[1:]}
        self.profile = run.profile
        sites = run.profile.sites()
        self.told = {site: (sites.get(site, {}).get("peak_objects", 0),
                            sites.get(site, {}).get("peak_space", 0)) for site in self.own}
        self.bytes = sum(size for _, size in self.told.values())
        self.error = math.sqrt(sum(sites.get(site, {}).get("peak_space_variance", 0)
                                   for site in self.own))
        self.what = f"{threads} threads, rate {rate}, {how}, seed {seed}"
        # What several threads may be off by at --rate=1.
        self.slack = 0 if threads == 1 else max(self.maximum / 1000, threads * 65536)

    def check_sums(self, verdict, tolerance=0):
        """The stacks' values add up to the peak of the process, where the file says that."""
        profile = self.profile
        peak = profile.comment("peak_bytes")
        if peak is not None:
            verdict.within(profile.total("peak_space"), int(peak), tolerance,
                           f"sum of the stacks' peaks, {self.what}")
        verdict.check(profile.total("peak_space") >= profile.total("inuse_space") - tolerance,
                      f"the peak is not below what is in use, {self.what}")
        for _, values, _ in profile.samples:
            verdict.check(values["peak_space"] <= values["alloc_space"] + tolerance,
                          f"no stack held more than it allocated, {self.what}")


def one_thread_is_exact(verdict):
    run = PeakRun(1, 1, "locked")
    verdict.equal(run.bytes, run.maximum, "the peak")
    for site, own in run.own.items():
        verdict.equal(run.told[site], own, f"objects and bytes of {site} at the peak")
    run.check_sums(verdict)


def several_threads(verdict):
    def one(job):
        return PeakRun(*job)
    jobs = [(threads, 1, "locked") for threads in (2, 4) for _ in range(5)]
    for run in parallel(one, jobs):
        verdict.within(run.bytes, run.maximum, run.slack, f"the peak, {run.what}")
        for site, (_, size) in run.own.items():
            verdict.within(run.told[site][1], size, run.slack, f"{site} at the peak, {run.what}")
        run.check_sums(verdict, run.slack)
    # In flight between the allocator and the program's counters: a block a thread.
    for run in parallel(one, [(threads, 1, "free") for threads in (2, 4) for _ in range(10)]):
        verdict.within(run.bytes, run.maximum, run.slack + 4 * 65536, f"the peak, {run.what}")
        run.check_sums(verdict, run.slack)


def sampled(verdict):
    """At any rate above 1 the sums agree exactly, whatever the threads do."""
    def one(job):
        return PeakRun(*job)
    jobs = [(threads, rate, how, seed) for threads in (1, 2, 4) for rate in (2, 4096, 262144)
            for how in ("locked", "free") for seed in (1, 2, 3)]
    for run in parallel(one, jobs):
        run.check_sums(verdict)
        # The highest of the estimates lies above the estimate at the true maximum, if anything.
        verdict.check(-4 * run.error - 4 * 65536 <= run.bytes - run.maximum <= 6 * run.error + 4 * 65536,
                      f"peak {run.bytes} +- {run.error:.0f}, the program's {run.maximum}, {run.what}")


heap_profile.main([one_thread_is_exact, several_threads, sampled])
