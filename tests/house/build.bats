#!/usr/bin/env bats
# build.bats: make and make install, in a copy of the tree whose folder has a space in its name.
#
# The copy is built once, for all tests of this file.

setup_file() {
    unset BUILD
    export COPY="$BATS_FILE_TMPDIR/a folder/heapprof"
    mkdir -p "$COPY"
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    cp -R Makefile proto symbolize cli runtime share tests "$COPY/"
    cd "$COPY" || return 1
    make -s -j2 all
}

setup() {
    unset BUILD
    cd "$COPY" || exit 1
}

# The names of what make compiles or links in this run, one a line.
made() {
    make V=1 "$@" | grep -oE -- '-o [^ ]+' | cut -d' ' -f2 | sort
}

@test "a folder with a space in its name builds, and the command finds its runtime beside itself" {
    run build/heapprof run -q -o "$BATS_TEST_TMPDIR/heap.prof" true
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ -s "$BATS_TEST_TMPDIR/heap.prof" ]
}

@test "a second make has nothing to do" {
    run made all
    [ -z "$output" ]
}

@test "touching a header rebuilds what includes it and nothing else" {
    touch runtime/hook_weight.h
    run made all
    [[ "$output" == *build/runtime/hook_weight.o* ]]
    [[ "$output" == *build/libheapprof.so* ]]
    [[ "$output" != *build/cli/* ]]
    [[ "$output" != *build/heapprof* ]]
}

@test "touching a generated source's origin rebuilds what includes it" {
    touch proto/profile.proto
    run made all
    [[ "$output" == *build/proto/profile.pb-c.o* ]]
    [[ "$output" == *build/heapprof* ]]
}

@test "a change of flags rebuilds, and the same flags again do not" {
    run make -n V=1 all CFLAGS='-O1 -g'
    [[ "$output" == *" -O1 -g "*"-o build/cli/main.o"* ]]
    run made all
    run made all
    [ -z "$output" ]
}

@test "a source that came or went relinks the command" {
    printf '/* extra.c: nothing. */\nint extra_of_the_test(void);\nint extra_of_the_test(void)\n{\n    return 1;\n}\n' >proto/extra.c
    made all
    nm build/heapprof | grep -q extra_of_the_test
    rm proto/extra.c
    made all
    run grep -c extra_of_the_test <(nm build/heapprof)
    [ "$output" = 0 ]
}

@test "an installed tree works by itself and holds these files only" {
    make -s install PREFIX=/usr DESTDIR="$BATS_TEST_TMPDIR/a root"
    cd "$BATS_TEST_TMPDIR/a root"
    run find . -type f
    [ "$(sort <<<"$output" | tr '\n' ' ')" = "./usr/bin/heapprof ./usr/lib/heapprof/libheapprof-mimalloc.so ./usr/lib/heapprof/libheapprof.so " ]
    mv usr "$BATS_TEST_TMPDIR/moved"
    run "$BATS_TEST_TMPDIR/moved/bin/heapprof" run -q -o "$BATS_TEST_TMPDIR/heap.prof" true
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ -s "$BATS_TEST_TMPDIR/heap.prof" ]
}

@test "uninstall leaves nothing behind" {
    make -s install PREFIX=/usr DESTDIR="$BATS_TEST_TMPDIR/root"
    make -s uninstall PREFIX=/usr DESTDIR="$BATS_TEST_TMPDIR/root"
    run find "$BATS_TEST_TMPDIR/root" -type f
    [ -z "$output" ]
}

@test "another processor is refused in one line" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\n[ "$1" = -m ] && echo aarch64 || echo Linux\n' >"$BATS_TEST_TMPDIR/bin/uname"
    chmod +x "$BATS_TEST_TMPDIR/bin/uname"
    PATH="$BATS_TEST_TMPDIR/bin:$PATH" run make -s BUILD="$BATS_TEST_TMPDIR/other" all
    [ "$status" -ne 0 ]
    [ "${lines[0]}" = "heapprof: only for Linux on x86-64, not Linux on aarch64" ]
}

@test "a missing build package stops make and is named" {
    printf 'build  libunheard-of-dev  header:unheard/of.h\n' >>tests/packages.txt
    run make -s BUILD="$BATS_TEST_TMPDIR/other" all
    sed -i '$d' tests/packages.txt
    [ "$status" -ne 0 ]
    [[ "$output" == *"  libunheard-of-dev"* ]]
    [[ "$output" == *"apt-get install --no-install-recommends libunheard-of-dev"* ]]
}

@test "make help names every target that has an explanation" {
    run make help
    [ "$status" -eq 0 ]
    for target in all install uninstall demo check bench format lint asan fuzz clean help; do
        [[ "$output" == *"make $target "* ]]
    done
}
