#!/usr/bin/env bats
# sampling_law.bats: which requests are sampled, seen from outside (sampling_law.py).

judge() {
    python3 -B "$BATS_TEST_DIRNAME/sampling_law.py" "$1"
}

@test "a seed decides every figure of a program with one thread, another seed gives others" {
    judge a_seed_decides
}

@test "the first request of a process and of a thread is as likely as any" {
    judge the_first_request
}

@test "requests of no bytes are sampled, count as objects and hold nothing" {
    judge empty_requests
}

@test "aligned requests, calloc and realloc are charged once, with the size asked for" {
    judge other_functions
}
