# shellcheck shell=bash
# sites.bash: the figures of call sites, and what the targets with known numbers promise.

# profile TARGET [ARG...]: runs a target at --rate=1, or as OPTIONS say; heap.prof is written.
profile() {
    local target=$1
    shift
    # shellcheck disable=SC2086 # words
    "$HEAPPROF" run -q ${OPTIONS:---rate=1} "$BUILD/tests/targets/$target" "$@"
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

# What known_sites.c says of itself.
check_known_sites() {
    [ "$(site keep_small)" = "100/2400 100/2400 100/2400" ]
    [ "$(site free_half)" = "10/10000 5/5000 5/5000" ]
    [ "$(site grow_by_realloc)" = "3/350 1/50 1/50" ]
    [ "$(site keep_aligned)" = "3/1096 3/1096 3/1096" ]
    [ "$(site keep_empty)" = "7/0 7/0 7/0" ]
    [ "$(site peak_and_free)" = "1/1048576 0/0 1/1048576" ]
    [ "$(site keep_late)" = "50/4000 50/4000 0/0" ]
}

# What fork_holds.c says of itself.
check_fork_holds() {
    local child
    child=$(ls heap.*.prof)
    [ "$(site parent_keeps)" = "10/10000 10/10000 10/10000" ]
    [ "$(site parent_frees)" = "4/4000 0/0 0/0" ]
    [ "$(site parent_later)" = "20/20000 20/20000 20/20000" ]
    [ "$(site parent_keeps "$child")" = "10/10000 8/8000 10/10000" ]
    [ "$(site parent_frees "$child")" = "0/0 0/0 0/0" ]
    [ "$(site parent_later "$child")" = "0/0 0/0 0/0" ]
    [ "$(site child_keeps "$child")" = "3/300 3/300 0/0" ]
}

# build_family: ./family, the whole allocation family, each member from a caller of its own.
build_family() {
    g++ -std=c++17 -O1 -g -Wno-alloc-size-larger-than -o family "$BATS_TEST_DIRNAME/../targets/allocation_family.cc"
}

# What allocation_family.cc says of itself.
check_family() {
    local name found
    for name in malloc calloc realloc reallocarray memalign aligned_alloc posix_memalign valloc \
        pvalloc new new_array new_nothrow new_aligned; do
        found=$(site "c_$name")
        echo "$name: $found"
        [ "$found" = "1/1048576 1/1048576 1/1048576" ]
    done
}
