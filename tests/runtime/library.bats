#!/usr/bin/env bats
# library.bats: what the injected library needs, exports and leaves behind.

@test "the library depends on libc alone" {
    run bash -c "readelf -d '$BUILD/libheapprof.so' | grep NEEDED"
    [[ "$output" == *'[libc.so.6]'* ]]
    # The dynamic loader is part of glibc.
    [ "$(grep -cv -e 'libc.so.6' -e 'ld-linux-x86-64.so.2' <<<"$output")" -eq 0 ]
}

@test "the exported names are those of the interposition table" {
    printf '#include "runtime/interpose_table.h"\n#define NAME(name, reason) @name\nINTERPOSE_TABLE(NAME)\n' |
        gcc -E -P -I"$BATS_TEST_DIRNAME/../.." - | tr ' ' '\n' | sed -n 's/^@//p' | sort >"$BATS_TEST_TMPDIR/table"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/table")" -gt 30 ]
    nm -D --defined-only "$BUILD/libheapprof.so" | awk '{ print $3 }' | sort >"$BATS_TEST_TMPDIR/exported"
    diff "$BATS_TEST_TMPDIR/table" "$BATS_TEST_TMPDIR/exported"
}

# What code inside the target's malloc may call: no allocation, no lock, no descriptor.
# errno's address, memory copies, the clock in the vdso, the loader's lock-free look-up, abort for a
# wrong free, the compiler's own helpers, libc's word on whether there is one thread, and mimalloc's or
# libunwind's functions by pointer only.
@test "hook files call nothing outside a short list" {
    allowed='^(__errno_location|memcpy|memmove|memset|memcmp|strlen|clock_gettime|_dl_find_object|abort|_GLOBAL_OFFSET_TABLE_|__udivti3|__divti3|__libc_single_threaded)$'
    nm --defined-only "$BUILD"/runtime/*.o | awk 'NF == 3 { print $3 }' | sort -u >"$BATS_TEST_TMPDIR/own"
    nm --undefined-only "$BUILD"/runtime/hook_*.o | awk '$1 == "U" { print $2 }' | sort -u >"$BATS_TEST_TMPDIR/called"
    comm -23 "$BATS_TEST_TMPDIR/called" "$BATS_TEST_TMPDIR/own" | grep -vE "$allowed" >"$BATS_TEST_TMPDIR/foreign" || [ ! -s "$BATS_TEST_TMPDIR/foreign" ]
    cat "$BATS_TEST_TMPDIR/foreign"
    [ ! -s "$BATS_TEST_TMPDIR/foreign" ]
}

@test "hook files use no thread-local storage that could allocate" {
    run bash -c "readelf -rW '$BUILD/libheapprof.so' | grep -E 'DTPMOD|TLSDESC'"
    [ -z "$output" ]
}

# The way of what is not sampled, by the opcodes of the jumps: jg in malloc, jae and jb in free.
entry_jumps() { # WAY
    printf 'malloc 8f %s\nfree 83 %s\nfree 82 %s\n' "$1" "$1" "$1"
}

@test "what is not sampled goes on to libc by one jump" {
    cd "$BATS_TEST_TMPDIR"
    # The heap lies above the range in one, below it in the other: each takes another jump in free.
    gcc -O1 -no-pie "$BATS_TEST_DIRNAME/../targets/entry_jumps.c" -o low_heap
    for program in "$BUILD/tests/targets/entry_jumps" ./low_heap; do
        for rate in 512K 1G 1; do
            "$HEAPPROF" run -q --rate=$rate "$program" >said
            diff said <(entry_jumps direct)
        done
        [ "$("$HEAPPROF" fold --sample-type=alloc_space heap.prof | awk '/main/ { n += $NF } END { print n }')" -ge 4096000 ]
    done
}

# Systems that are strict about code forbid to make any: then the jumps stay as they were linked.
@test "where no code may be made at run time, all works by two jumps" {
    cd "$BATS_TEST_TMPDIR"
    "$BUILD/tests/targets/no_new_code" "$HEAPPROF" run -q --rate=1 "$BUILD/tests/targets/entry_jumps" >said
    diff said <(entry_jumps indirect)
    [ "$("$HEAPPROF" fold --sample-type=alloc_space heap.prof | awk '/main/ { n += $NF } END { print n }')" -ge 4096000 ]
}

# A uprobe puts its breakpoint into the page of a file; in a copy nobody would know what it is.
@test "a breakpoint on malloc keeps the page it is in" {
    cd "$BATS_TEST_TMPDIR"
    cp "$BUILD"/libheapprof*.so "$HEAPPROF" .
    offset=$(readelf -W --dyn-syms libheapprof.so | awk '$8 == "malloc" { print "0x" $2; exit }')
    run "$BUILD/tests/targets/uprobe" libheapprof.so "$offset" ./heapprof run -q --rate=1 "$BUILD/tests/targets/entry_jumps"
    [ "$status" -ne 77 ] || skip "this kernel or user may set no uprobe"
    [ "$status" -eq 0 ]
    [ "$output" = "$(entry_jumps indirect)" ]
}

@test "without a launcher the library stays inert" {
    # ld.so splits LD_PRELOAD at spaces, which the build folder's path may have.
    folder=$(mktemp -d)
    cp "$BUILD/libheapprof.so" "$folder/"
    LD_PRELOAD="$folder/libheapprof.so" run "$BUILD/tests/targets/known_sites"
    rm -r "$folder"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "the target's and its children's descriptors are those of an unprofiled run" {
    cd "$BATS_TEST_TMPDIR"
    for rate in 1 512K; do
        "$BUILD/tests/targets/open_descriptors" </dev/null | cat >bare
        "$HEAPPROF" run -q --rate=$rate "$BUILD/tests/targets/open_descriptors" </dev/null | cat >profiled
        diff bare profiled
        sh -c 'ls -l /proc/self/fd | wc -l; exec ls /proc/self/fd' </dev/null | cat >bare
        "$HEAPPROF" run -q --rate=$rate sh -c 'ls -l /proc/self/fd | wc -l; exec ls /proc/self/fd' </dev/null | cat >profiled
        diff bare profiled
    done
}
