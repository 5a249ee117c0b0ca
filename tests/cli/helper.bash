# helper.bash: what the bats files of the command share. Source it from setup():
#
#     load helper
#     setup() { find_heapprof; }
#
# shellcheck shell=bash

# Sets HEAPPROF to the command under test, absolute: as the caller has it, else build/heapprof.
find_heapprof() {
    ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export HEAPPROF=${HEAPPROF:-$ROOT/build/heapprof}
    [[ $HEAPPROF == /* ]] || HEAPPROF=$PWD/$HEAPPROF
    [[ -x $HEAPPROF ]] || {
        echo "no command to test at $HEAPPROF: run make first"
        return 1
    }
}

# Sets CORPUS to the folder of real profiles of other projects, which is not part of this one; skips
# the test where it is absent. HEAPPROF_CORPUS says where else it is.
need_corpus() {
    CORPUS=${HEAPPROF_CORPUS:-$ROOT/../shared/corpus}
    [[ -d $CORPUS ]] || skip "no corpus of real profiles at $CORPUS"
}

# make_profile TYPE/UNIT...: a profile of the folded stacks on stdin, one value a type; its path is
# printed. A second one in the same test overwrites the first.
make_profile() {
    python3 "$ROOT/tests/cli/flame_profile.py" "$@" >"$BATS_TEST_TMPDIR/made.prof"
    echo "$BATS_TEST_TMPDIR/made.prof"
}

# fails_with STATUS LINE COMMAND...: COMMAND ends with STATUS, prints nothing on stdout and exactly
# LINE, which may hold glob characters, on stderr.
fails_with() {
    local wanted_status=$1 wanted_line=$2 status=0
    shift 2
    "$@" >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr" || status=$?
    local line
    line=$(<"$BATS_TEST_TMPDIR/stderr")
    # shellcheck disable=SC2053 # a pattern, on purpose
    if [[ $status != "$wanted_status" || -s $BATS_TEST_TMPDIR/stdout || $line != $wanted_line ||
        $(wc -l <"$BATS_TEST_TMPDIR/stderr") != 1 ]]; then
        echo "wanted status $wanted_status and: $wanted_line"
        echo "but got status $status and:"
        cat "$BATS_TEST_TMPDIR/stdout" "$BATS_TEST_TMPDIR/stderr"
        return 1
    fi
}

# COMMAND... with its stderr in the place of stdout, and stdout on a full disk, or closed.
to_full_disk() {
    # shellcheck disable=SC2069 # only stderr is wanted
    "$@" 2>&1 >/dev/full
}
to_closed() {
    "$@" 2>&1 >&-
}
