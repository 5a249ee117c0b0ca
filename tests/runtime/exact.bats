#!/usr/bin/env bats
# exact.bats: at --rate=1 every figure at every call site is the program's own.

load sites

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
}

@test "known allocations are counted exactly at each call site" {
    profile known_sites
    check_known_sites
}

@test "known allocations are counted exactly after kill -9" {
    run profile known_sites 9
    [ "$status" -eq 137 ]
    check_known_sites
}

@test "known allocations are counted exactly after a segmentation fault" {
    run profile known_sites 11
    [ "$status" -eq 139 ]
    check_known_sites
}

@test "a forked child starts from what its parent held at the fork" {
    profile fork_holds
    check_fork_holds
}

@test "the whole allocation family is charged to its callers, with glibc's answers" {
    build_family
    run "$HEAPPROF" run -q --rate=1 ./family
    [ "$status" -eq 0 ]
    [ "$output" = ok ]
    check_family
}

@test "the family gives glibc's answers at the default rate too" {
    build_family
    run "$HEAPPROF" run -q ./family
    [ "$status" -eq 0 ]
    [ "$output" = ok ]
}
