# profile_helper.bash: for the bats files that compare a profile with what its program knows.
#
# shellcheck shell=bash

# A folder of the test's own, with the reader of profiles at hand.
profile_setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    reader=$BATS_TEST_DIRNAME/heap_profile.py
    targets=$BUILD/tests/targets
}

# profile OPTION... -- COMMAND...: runs the command under the profiler; heap.prof is written, names
# are not looked up: heap_profile.py finds them.
profile() {
    "$HEAPPROF" run -q --no-symbolize -o heap.prof "$@"
}

# sites BINARY FUNCTION...: a line "FUNCTION ALLOC INUSE PEAK" for each, of the stacks that have it;
# figures are OBJECTS/BYTES.
sites() {
    python3 -B "$reader" site heap.prof "$@"
}

# site BINARY FUNCTION: the same for one, without its name.
site() {
    sites "$@" | awk '{ print $(NF - 2), $(NF - 1), $NF }'
}

losses() {
    python3 -B "$reader" losses heap.prof
}

# expect WHAT FOUND WANTED: fails with a line that says both.
expect() {
    [[ "$2" == "$3" ]] || {
        echo "$1: wanted \"$3\", found \"$2\""
        return 1
    }
}

# at_most WHAT FOUND LIMIT: the same for numbers; what was found is in the test's output either way.
at_most() {
    echo "$1: $2, at most $3"
    (($2 <= $3))
}

# The number after NAME in the output of a target.
number_of() { # NAME OUTPUT
    awk -v name="$1" '$1 == name { print $2 }' <<<"$2"
}
