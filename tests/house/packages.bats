#!/usr/bin/env bats
# packages.bats: what is said, and done, where a Debian package is missing.

bats_require_minimum_version 1.5.0

setup() {
    house=$BATS_TEST_DIRNAME/../..
    cp "$house/tests/packages.sh" "$BATS_TEST_TMPDIR/packages.sh"
    cat >"$BATS_TEST_TMPDIR/packages.txt" <<'END'
build  there-tool     command:sh
build  there-header   header:stdio.h
build  there-library  library:libc.so.6
build  lost-tool      command:no-such-command
build  lost-header    header:no/such/header.h
build  lost-library   library:libno-such-library.so
check  lost-file      file:/no/such/file
lint   lost-tool      command:no-such-command
END
}

# apt-get and sudo that only write down how they were called.
fake_apt() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    for tool in apt-get sudo; do
        printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n' $tool "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/bin/$tool"
        chmod +x "$BATS_TEST_TMPDIR/bin/$tool"
    done
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "each missing package is named on a line of its own, then the command that gets them" {
    run sh "$BATS_TEST_TMPDIR/packages.sh" check build
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "heapprof: missing Debian packages:" ]
    [ "${lines[1]}" = "  lost-header" ]
    [ "${lines[2]}" = "  lost-library" ]
    [ "${lines[3]}" = "  lost-tool" ]
    [ "${lines[4]}" = "install them with: apt-get install --no-install-recommends lost-header lost-library lost-tool" ]
    [ "${#lines[@]}" -eq 5 ]
}

@test "only the kinds that are asked for are looked at" {
    run sh "$BATS_TEST_TMPDIR/packages.sh" check check
    [ "$status" -eq 1 ]
    [[ "$output" == *lost-file* ]]
    [[ "$output" != *lost-tool* ]]
}

@test "when nothing is missing nothing is said and apt-get is not called" {
    fake_apt
    sed -i '/lost/d' "$BATS_TEST_TMPDIR/packages.txt"
    run sh "$BATS_TEST_TMPDIR/packages.sh" install build check
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ ! -e "$BATS_TEST_TMPDIR/calls" ]
}

@test "install asks apt-get for the missing packages only, and fails when they stay missing" {
    fake_apt
    run sh "$BATS_TEST_TMPDIR/packages.sh" install build
    [ "$status" -eq 1 ]
    grep -q 'install -y --no-install-recommends lost-header lost-library lost-tool' "$BATS_TEST_TMPDIR/calls" ||
        grep -q '^sudo' "$BATS_TEST_TMPDIR/calls"
    run ! grep -q there- "$BATS_TEST_TMPDIR/calls"
}

@test "every package of the list is one that Debian has" {
    command -v apt-cache >/dev/null || skip "no apt here"
    local listed
    listed=$(awk '$1 ~ /^(build|check|lint|bench|peers)$/ { print $2 }' "$house/tests/packages.txt" | sort -u)
    # shellcheck disable=SC2086 # one word a package
    run comm -23 <(echo "$listed") <(apt-cache show $listed 2>/dev/null | sed -n 's/^Package: //p' | sort -u)
    [ -z "$output" ]
}
