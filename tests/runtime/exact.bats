#!/usr/bin/env bats
# exact.bats: at --rate=1 every figure at every call site is the program's own.

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
}

# profile TARGET [ARG...]: runs a target at --rate=1; heap.prof is written.
profile() {
    local target=$1
    shift
    "$HEAPPROF" run -q --rate=1 "$BUILD/tests/targets/$target" "$@"
}

# site FUNCTION [FILE]: "ALLOC INUSE PEAK" of a leaf, each OBJECTS/BYTES.
site() {
    local type value figures=()
    for type in alloc inuse peak; do
        value=""
        for unit in objects space; do
            value+=/$("$HEAPPROF" fold --sample-type=${type}_$unit "${2:-heap.prof}" |
                awk -v name="$1" '{ n = $NF; sub(/ [^ ]*$/, ""); k = split($0, f, ";") }
                    f[k] == name { sum += n } END { printf "%d", sum }')
        done
        figures+=("${value#/}")
    done
    echo "${figures[*]}"
}

check_known_sites() {
    [ "$(site keep_small)" = "100/2400 100/2400 100/2400" ]
    [ "$(site free_half)" = "10/10000 5/5000 5/5000" ]
    [ "$(site grow_by_realloc)" = "3/350 1/50 1/50" ]
    [ "$(site keep_aligned)" = "3/1096 3/1096 3/1096" ]
    [ "$(site keep_empty)" = "7/0 7/0 7/0" ]
    [ "$(site peak_and_free)" = "1/1048576 0/0 1/1048576" ]
    [ "$(site keep_late)" = "50/4000 50/4000 0/0" ]
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
    child=$(ls heap.*.prof)
    [ "$(site parent_keeps)" = "10/10000 10/10000 10/10000" ]
    [ "$(site parent_frees)" = "4/4000 0/0 0/0" ]
    [ "$(site parent_later)" = "20/20000 20/20000 20/20000" ]
    [ "$(site parent_keeps "$child")" = "10/10000 8/8000 10/10000" ]
    [ "$(site parent_frees "$child")" = "0/0 0/0 0/0" ]
    [ "$(site parent_later "$child")" = "0/0 0/0 0/0" ]
    [ "$(site child_keeps "$child")" = "3/300 3/300 0/0" ]
}

@test "the whole allocation family is charged to its callers, with glibc's answers" {
    g++ -std=c++17 -O1 -g -Wno-alloc-size-larger-than -o family "$BATS_TEST_DIRNAME/../targets/allocation_family.cc"
    run "$HEAPPROF" run -q --rate=1 ./family
    [ "$status" -eq 0 ]
    [ "$output" = ok ]
    for name in malloc calloc realloc reallocarray memalign aligned_alloc posix_memalign valloc \
        pvalloc new new_array new_nothrow new_aligned; do
        found=$(site "c_$name")
        echo "$name: $found"
        [ "$found" = "1/1048576 1/1048576 1/1048576" ]
    done
}

@test "the family gives glibc's answers at the default rate too" {
    g++ -std=c++17 -O1 -g -Wno-alloc-size-larger-than -o family "$BATS_TEST_DIRNAME/../targets/allocation_family.cc"
    run "$HEAPPROF" run -q ./family
    [ "$status" -eq 0 ]
    [ "$output" = ok ]
}
