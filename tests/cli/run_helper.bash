# run_helper.bash: for the bats files that test the launcher by itself.
#
# The command is copied beside an empty runtime library, so that only what the test programs do by
# hand (tests/targets/fake_runtime.c) reaches the collector. Each test has a folder of its own.

launcher_setup() {
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    local built=${HEAPPROF:-$root/build/heapprof} build=${BUILD:-$root/build}
    mkdir -p "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/work" "$BATS_TEST_TMPDIR/tmp"
    cp "$built" "$BATS_TEST_TMPDIR/bin/heapprof"
    if [ ! -e "$BATS_FILE_TMPDIR/libheapprof.so" ]; then
        echo 'int nothing_here;' | gcc -shared -fPIC -x c - -o "$BATS_FILE_TMPDIR/libheapprof.so"
    fi
    cp "$BATS_FILE_TMPDIR/libheapprof.so" "$BATS_TEST_TMPDIR/bin/"
    heapprof=$BATS_TEST_TMPDIR/bin/heapprof
    fake=$build/tests/targets/fake_runtime
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    unset XDG_RUNTIME_DIR
    cd "$BATS_TEST_TMPDIR/work" || return 1
}

# Waits until a condition (a command line) holds; at most about 20 seconds.
eventually() {
    local tries
    for ((tries = 0; tries < 400; tries++)); do
        if "$@" 2>/dev/null; then
            return 0
        fi
        read -rt 0.05 <> <(:) || true
    done
    echo "never came true: $*"
    return 1
}

# One line per sample type of a profile: TYPE TOTAL, in bytes or objects.
totals() {
    local type
    for type in alloc_objects alloc_space inuse_objects inuse_space peak_objects peak_space; do
        echo "$type $("$heapprof" fold --sample-type="$type" "$1" | awk '{ n += $NF } END { print n + 0 }')"
    done
}

# True when no folder of a run is left.
no_run_folder() {
    ! compgen -G "$TMPDIR/heapprof-*" >/dev/null
}
