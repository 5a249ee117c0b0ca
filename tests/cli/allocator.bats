#!/usr/bin/env bats
# allocator.bats: what --allocator takes and refuses, and what it puts into the environment.

bats_require_minimum_version 1.5.0
load helper

setup() {
    find_heapprof
    export TMPDIR=$BATS_TEST_TMPDIR
    unset XDG_RUNTIME_DIR
    mkdir -p "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || exit 1
}

# shared_object FILE SOURCE [GCC-ARGUMENT...]
shared_object() {
    local file=$1 source=$2
    shift 2
    gcc -shared -fPIC -w -fno-builtin -x c - -o "$file" "$@" <<<"$source"
}

allocator='#include <stddef.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void __libc_free(void *);
void *malloc(size_t n) { return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void free(void *p) { __libc_free(p); }'

# refused STATUS TEXT LINE: --allocator=TEXT gives LINE, and the command is not started.
refused() {
    fails_with "$1" "$3" "$HEAPPROF" run --allocator="$2" touch started
    [ ! -e started ]
}

@test "a name that is not known is wrong usage" {
    refused 2 foo "heapprof: --allocator: 'foo' is not known, only system, mimalloc, jemalloc, tcmalloc and the path, with a '/', of a shared library are"
    refused 2 "" "heapprof: --allocator: '' is not known, only *"
    refused 2 jemaloc "heapprof: --allocator: 'jemaloc' is not known, did you mean 'jemalloc'[?]"
    touch libmine.so
    refused 2 libmine.so "heapprof: --allocator: 'libmine.so' is not known; for the file, say ./libmine.so"
}

@test "a name that is not installed is refused with the package to install" {
    # The loader takes neither these nor any other file of their names.
    for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libtcmalloc.so.4; do
        echo 'no library' >$name
    done
    export LD_LIBRARY_PATH=$PWD
    refused 1 jemalloc "heapprof: --allocator: jemalloc is not installed: there is no libjemalloc.so.2; install it with: apt-get install libjemalloc2"
    refused 1 tcmalloc "heapprof: --allocator: tcmalloc is not installed: there is no libtcmalloc_minimal.so.4; install it with: apt-get install libtcmalloc-minimal4"
}

@test "a path that is no allocator's is refused with the reason" {
    refused 1 ./no-such.so "heapprof: ./no-such.so: cannot be used as the allocator: No such file or directory"
    refused 1 "./no such:file.so" "heapprof: ./no such:file.so: cannot be used as the allocator: No such file or directory"
    echo text >text.so
    refused 1 ./text.so "heapprof: $PWD/text.so: not an ELF file"
    : >empty.so
    refused 1 ./empty.so "heapprof: $PWD/empty.so: empty file"
    refused 1 "$PWD" "heapprof: $PWD: not a regular file"
    mkfifo fifo
    refused 1 ./fifo "heapprof: $PWD/fifo: not a regular file"
    shared_object none.so 'int nothing_here;'
    refused 1 ./none.so "heapprof: $PWD/none.so: not an allocator: it exports no malloc"
    shared_object hidden.so "$allocator" -fvisibility=hidden
    refused 1 ./hidden.so "heapprof: $PWD/hidden.so: not an allocator: it exports no malloc"
    shared_object part.so "${allocator%void free*}"
    refused 1 ./part.so "heapprof: $PWD/part.so: not a whole allocator: it exports malloc, but no free"
    gcc -w -fno-builtin -x c -rdynamic -o program - <<<"$allocator"$'\nint main() {}'
    refused 1 ./program "heapprof: $PWD/program: not a shared library"
    refused 1 /bin/sh "heapprof: *: not a shared library"
}

@test "a 32-bit library is refused" {
    # By its header alone: class, byte order, version; type and machine.
    { printf '\177ELF\001\001\001\0\0\0\0\0\0\0\0\0\003\0\003\0\001\0\0\0' && head -c 100 /dev/zero; } >small.so
    refused 1 ./small.so "heapprof: $PWD/small.so: a 32-bit library, while only x86-64 programs can be profiled"
}

@test "a damaged library is refused" {
    shared_object whole.so "$allocator"
    local size step
    size=$(stat -c %s whole.so)
    step=$((size / 20))
    for ((cut = 1; cut < size - step; cut += step)); do
        head -c $cut whole.so >cut.so
        refused 1 ./cut.so "heapprof: $PWD/cut.so: *"
    done
}

@test "a library that lacks another one, or a version of it, is refused" {
    shared_object libother.so 'int other(void) { return 1; }'
    shared_object needs.so "$allocator"$'\nint other(void); int use(void) { return other(); }' -L. -lother
    refused 1 ./needs.so "heapprof: $PWD/needs.so: cannot be loaded: needs libother.so, which is not there"
    LD_LIBRARY_PATH=$PWD "$HEAPPROF" run -q --allocator=./needs.so true
    shared_object libversion.so 'int other(void) { return 1; }' -Wl,--version-script=<(echo 'V_2 { global: other; };')
    shared_object needs.so "$allocator"$'\nint other(void); int use(void) { return other(); }' -L. -lversion -Wl,-rpath,"$PWD"
    shared_object libversion.so 'int other(void) { return 1; }' -Wl,--version-script=<(echo 'V_1 { global: other; };')
    refused 1 ./needs.so "heapprof: $PWD/needs.so: cannot be loaded: needs another system: version *V_2* not found (required by $PWD/needs.so)"
}

# The entries of LD_PRELOAD that the command sees, one a line, and the variables that name them.
# shellcheck disable=SC2016
show='echo "$LD_PRELOAD" | tr : "\n"; echo "${HEAPPROF_ALLOCATOR-unset}"'

@test "LD_PRELOAD has our library, then the allocator, then what the user has there" {
    shared_object mine.so "$allocator"
    shared_object other.so 'int nothing_here;'
    LD_PRELOAD=$PWD/other.so run -0 --separate-stderr "$HEAPPROF" run -q --allocator=./mine.so sh -c "$show"
    [[ "${lines[0]}" == */libheapprof.so ]]
    [ "${lines[1]}" = "$PWD/mine.so" ]
    [ "${lines[2]}" = "$PWD/other.so" ]
    [ "${lines[3]}" = "$PWD/mine.so" ]
    [ -z "$stderr" ]
}

@test "without an allocator nothing is put there" {
    HEAPPROF_ALLOCATOR=/old run -0 --separate-stderr "$HEAPPROF" run -q --allocator=system sh -c "$show"
    [[ "${lines[0]}" == */libheapprof.so ]]
    [ "${lines[1]}" = unset ]
}

@test "paths that the loader would split are linked to, and the links go" {
    mkdir "a folder:x"
    shared_object "a folder:x/libmine.so" "$allocator"
    cp "a folder:x/libmine.so" "a folder:x/my \$ORIGIN:lib.so"
    for file in libmine.so "my \$ORIGIN:lib.so"; do
        # shellcheck disable=SC2016
        run -0 --separate-stderr "$HEAPPROF" run -q --allocator="./a folder:x/$file" \
            sh -c 'grep -F "a folder:x/" /proc/self/maps | grep -c r-xp; echo "$LD_PRELOAD"'
        echo "$output $stderr"
        [ "${lines[0]}" = 1 ]
        [[ "${lines[1]}" != *[\ \$]* ]]
        [ -z "$stderr" ]
        run ! compgen -G "$TMPDIR/heapprof-*"
    done
}

@test "what lies beside the library is found from a path that the loader would split" {
    mkdir "a folder"
    shared_object "a folder/libbeside.so" 'int beside(void) { return 1; }'
    # shellcheck disable=SC2016
    shared_object "a folder/mine.so" "$allocator"$'\nint beside(void); int use(void) { return beside(); }' \
        -L"a folder" -lbeside -Wl,-rpath,'$ORIGIN'
    run -0 --separate-stderr "$HEAPPROF" run -q --allocator="./a folder/mine.so" sh -c 'grep -c "libbeside.so" /proc/self/maps'
    [ "$output" -gt 0 ]
    [ -z "$stderr" ]
}

@test "the summary says what the command ran on" {
    shared_object mine.so "$allocator"
    "$HEAPPROF" run --allocator=./mine.so true 2>said
    grep -qxF "  allocator     $PWD/mine.so" said
    "$HEAPPROF" run --allocator=system true 2>said
    run ! grep allocator said
}
