#!/usr/bin/env bats
# lifetimes.bats: how long objects lived, who freed them, and how old the others are.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# THRESHOLD: what top --temporary says of each site with temporary objects: "SITE temp% freed other%".
temporary() {
    "$HEAPPROF" run -q --rate=1 --temporary-threshold="$1" -o heap.prof "$BUILD/tests/targets/lifetimes"
    "$HEAPPROF" top --temporary -n 0 --node-fraction=0 heap.prof |
        awk '$NF ~ /^(free_at_once|hand_over|keep)$/ { print $NF, $2, $3, $7 }' | sort
}

@test "an hour's threshold takes every freed object for temporary" {
    run -0 temporary 1h
    [ "$output" = $'free_at_once 100% 100 0%\nhand_over 100% 50 100%' ]
}

@test "a threshold of nothing takes none" {
    run -0 temporary 0
    [ -z "$output" ]
}

@test "a threshold between the two tells them apart" {
    run -0 temporary 20ms
    [[ $output == "free_at_once "*" 100 0%" ]]
}

@test "objects in use have an age of at least the time that went by" {
    "$HEAPPROF" run -q --rate=1 -o heap.prof "$BUILD/tests/targets/lifetimes"
    run -0 --separate-stderr "$HEAPPROF" leaks heap.prof
    [[ $output =~ "2.50kB in 10 objects, "[^$'\n']*"mean age "([0-9.]+)(ms|s)$'\n'[^$'\n']*"keep" ]]
    [ "${BASH_REMATCH[2]}" = s ] || [ "${BASH_REMATCH[1]%.*}" -ge 20 ]
}
