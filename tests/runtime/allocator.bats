#!/usr/bin/env bats
# allocator.bats: programs that run on another shared allocator, behind our library.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    targets=$BATS_TEST_DIRNAME/../targets
    libraries=$(dirname "$(gcc -print-file-name=libc.so.6)")
}

everything="malloc calloc realloc memalign valloc aligned_alloc pvalloc posix_memalign"

# "OBJECTS/BYTES" of a leaf: site FUNCTION TYPE.
site() {
    local unit figures=""
    for unit in objects space; do
        figures+=/$("$HEAPPROF" fold --sample-type="$2_$unit" heap.prof |
            awk -v name="$1" '{ n = $NF; sub(/ [^ ]*$/, ""); k = split($0, f, ";") } f[k] == name { sum += n } END { printf "%d", sum }')
    done
    echo "${figures#/}"
}

@test "what is not sampled comes from the allocator, whatever function asks" {
    for name in system jemalloc tcmalloc; do
        for rate in 512K 1G; do
            run -0 --separate-stderr "$HEAPPROF" run -q --rate=$rate --seed=1 --allocator=$name "$BUILD/tests/targets/allocator_behind"
            [ "$output" = "$name: $everything" ]
            [ -z "$stderr" ]
        done
    done
    run -0 "$HEAPPROF" run -q --rate=1G --allocator="$libraries/libtcmalloc.so.4" "$BUILD/tests/targets/allocator_behind"
    [ "$output" = "tcmalloc: $everything" ]
}

@test "at --rate=1 the allocator gets nothing, since all is recorded" {
    for name in jemalloc tcmalloc; do
        run -0 "$HEAPPROF" run -q --rate=1 --allocator=$name "$BUILD/tests/targets/allocator_behind"
        [ "${lines[0]}" = "$name:" ]
        [ "${lines[1]}" = "other: $everything" ]
    done
}

@test "malloc and free go on to the allocator by one jump" {
    while read -r name library; do
        "$HEAPPROF" run -q --allocator="$name" "$BUILD/tests/targets/entry_jumps" "$library" >said
        diff said <(printf 'malloc 8f direct\nfree 83 direct\nfree 82 direct\n')
    done <<<$'jemalloc libjemalloc.so.2\ntcmalloc libtcmalloc_minimal.so.4'
}

@test "forked and executed children run on the allocator too" {
    for name in jemalloc tcmalloc; do
        for how in -f -e; do
            run -0 --separate-stderr "$HEAPPROF" run -q --rate=1G --allocator=$name "$BUILD/tests/targets/allocator_behind" $how
            [ "$output" = "$name: $everything"$'\n'"$name: $everything" ]
            [ -z "$stderr" ]
        done
    done
}

@test "with --no-follow executed children have what the user preloads, and nothing else" {
    mkdir "a folder"
    cp "$libraries/libjemalloc.so.2" "a folder/"
    for allocator in jemalloc "./a folder/libjemalloc.so.2"; do
        run -0 --separate-stderr "$HEAPPROF" run -q --rate=1G --no-follow --allocator="$allocator" "$BUILD/tests/targets/allocator_behind" -e
        [ "$output" = "system: $everything"$'\n'"jemalloc: $everything" ]
        run -0 --separate-stderr "$HEAPPROF" run -q --rate=1G --no-follow --allocator="$allocator" "$BUILD/tests/targets/allocator_behind" -f
        [ "$output" = "jemalloc: $everything"$'\n'"jemalloc: $everything" ]
        output=$(env -i PATH="$PATH" "$HEAPPROF" run -q --no-follow --allocator="$allocator" sh -c 'unset PWD; env')
        [ "$(grep -c -e LD_PRELOAD -e HEAPPROF <<<"$output")" -eq 0 ]
        # shellcheck disable=SC2016
        output=$(LD_PRELOAD=libtcmalloc_minimal.so.4 "$HEAPPROF" run -q --no-follow --allocator="$allocator" \
            sh -c 'echo "$LD_PRELOAD"; env | grep ^LD_PRELOAD=')
        [ "$output" = $'libtcmalloc_minimal.so.4\nLD_PRELOAD=libtcmalloc_minimal.so.4' ]
    done
}

@test "the allocator comes before one that the user preloads" {
    LD_PRELOAD=libtcmalloc_minimal.so.4 run -0 --separate-stderr "$HEAPPROF" run -q --rate=1G --allocator=jemalloc "$BUILD/tests/targets/allocator_behind"
    [ "$output" = "jemalloc: $everything" ]
    [ -z "$stderr" ]
}

@test "the allocator's own settings reach it" {
    MALLOC_CONF=stats_print:true run -0 "$HEAPPROF" run -q --allocator=jemalloc true
    [[ "$output" == *"Begin jemalloc statistics"* ]]
}

@test "the whole allocation family is charged to its callers over each allocator" {
    g++ -std=c++17 -O1 -g -Wno-alloc-size-larger-than -o family "$targets/allocation_family.cc"
    for name in jemalloc tcmalloc; do
        # 1 MiB from each caller: at a rate of 16K none is missed, and each weighs itself.
        for rate in 1 16K 512K; do
            run -0 "$HEAPPROF" run -q --rate=$rate --allocator=$name ./family
            [ "$output" = ok ]
            [ $rate != 512K ] || continue
            for caller in malloc calloc realloc reallocarray memalign aligned_alloc posix_memalign \
                valloc pvalloc new new_array new_nothrow new_aligned; do
                found=$(site "c_$caller" alloc)
                echo "$name $rate $caller: $found"
                [ "$found" = 1/1048576 ]
            done
        done
    done
}

@test "a program's own operator new is reached by every form over each allocator" {
    g++ -std=c++17 -O1 -g -o replaced "$targets/replaced_new.cc"
    for name in jemalloc tcmalloc; do
        # tcmalloc itself makes objects by it at its start.
        extra=$([ $name = jemalloc ] && echo 0 || echo 2)
        for rate in 1 64 512K; do
            run -0 "$HEAPPROF" run -q --rate=$rate --allocator=$name ./replaced
            [ "$output" = "new $((3 + extra)) delete 3" ]
        done
    done
}

@test "blocks that threads hand to each other keep their contents over each allocator" {
    for name in jemalloc tcmalloc "$libraries/libtcmalloc.so.4" "$libraries/libmimalloc.so.2"; do
        for rate in 1 1K 512K; do
            run -0 --separate-stderr "$HEAPPROF" run -q --rate=$rate --allocator="$name" "$BUILD/tests/targets/threads_pass_blocks"
            [[ "$output" =~ ^[0-9]+\ [0-9]+$ ]]
            [ -z "$stderr" ]
        done
    done
}

# Every site of known_sites is sampled at a rate far below its sizes. What is freed is gone.
@test "a default-mode profile over each allocator has the known figures" {
    for name in jemalloc tcmalloc; do
        "$HEAPPROF" run -q --rate=2 --seed=1 --allocator=$name "$BUILD/tests/targets/known_sites"
        [ "$(site keep_small alloc)" = 100/2400 ]
        [ "$(site free_half inuse)" = 5/5000 ]
        [ "$(site grow_by_realloc alloc)" = 3/350 ]
        [ "$(site grow_by_realloc inuse)" = 1/50 ]
        [ "$(site keep_aligned inuse)" = 3/1096 ]
        [ "$(site peak_and_free peak)" = 1/1048576 ]
        [ "$(site peak_and_free inuse)" = 0/0 ]
        [ "$(site keep_late inuse)" = 50/4000 ]
    done
}

# reallocates: blocks grow and shrink between 1 byte and 100 kB, so that they go from the allocator
# to the range and stay there.
@test "blocks keep their contents when realloc takes them over from the allocator" {
    for name in system jemalloc tcmalloc; do
        for rate in 1 4K 512K; do
            run -0 --separate-stderr "$HEAPPROF" run -q --rate=$rate --allocator=$name "$BUILD/tests/targets/reallocates"
            [ "$output" = "ok" ]
        done
        [ "$("$HEAPPROF" fold --sample-type=inuse_space heap.prof | grep -c reallocates)" -eq 0 ]
    done
}

@test "an allocator that cannot tell its objects' sizes keeps those that realloc grows" {
    cat >plain.c <<'END'
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
/* A header of 16 bytes holds the size; nothing is reused. */
static char *next_free;
void *malloc(size_t size)
{
    size_t bytes = (size + 31) & ~(size_t)15;
    if (size > PTRDIFF_MAX - 64)
        return NULL;
    if (next_free == NULL)
        next_free = (char *)(((uintptr_t)sbrk(16) + 15) & ~(uintptr_t)15);
    if (brk(next_free + bytes) != 0)
        return NULL;
    *(size_t *)next_free = size;
    next_free += bytes;
    return next_free - bytes + 16;
}
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *p, size_t size)
{
    void *q = malloc(size);
    size_t old = p == NULL ? 0 : ((size_t *)p)[-2];
    return q == NULL || old == 0 ? q : memcpy(q, p, old < size ? old : size);
}
void free(void *p) { (void)p; }
END
    gcc -O1 -shared -fPIC -fno-builtin -o plain.so plain.c
    for rate in 1 4K 512K; do
        run -0 --separate-stderr "$HEAPPROF" run -q --rate=$rate --allocator=./plain.so "$BUILD/tests/targets/reallocates"
        [ "$output" = ok ]
    done
}
