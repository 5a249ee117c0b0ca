#!/usr/bin/env bats
# peak.bats: what each call site held at the peak, against a program that knows its own (peak.py).

judge() {
    python3 -B "$BATS_TEST_DIRNAME/peak.py" "$1"
}

@test "with one thread every call site's peak is exactly the program's own" {
    judge one_thread_is_exact
}

@test "with several threads the peak is off by at most 0.1 % or 64 KiB a thread" {
    judge several_threads
}

@test "at other rates the stacks' peaks add up, with any number of threads" {
    judge sampled
}
