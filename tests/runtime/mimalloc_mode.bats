#!/usr/bin/env bats
# mimalloc_mode.bats: --allocator=mimalloc: the program runs on the private mimalloc, and is sampled.

load sites

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    targets=$BUILD/tests/targets
    mode=--allocator=mimalloc
}

# at_each_rate COMMAND...: runs it in the mode, sampled seldom, often and always.
at_each_rate() {
    local rate
    for rate in 512K 4K 1; do
        "$HEAPPROF" run -q $mode --rate=$rate "$@" || return
    done
}

# in_heap: says which of its objects lie in the memory of libheapprof-mimalloc.so.
in_heap() {
    gcc -O1 -g -o in_heap -xc - <<'END'
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    /* mimalloc's sizes are other ones than glibc's: 40 bytes stay 40 instead of 40, 100 become 112
     * instead of 104, 700 become 768 instead of 712. */
    printf("%zu %zu\n", malloc_usable_size(malloc(100)), malloc_usable_size(calloc(1, 700)));
    return 0;
}
END
    ./in_heap
    echo "$("$HEAPPROF" run -q "$@" ./in_heap)"
}

@test "what is not sampled is mimalloc's" {
    run in_heap $mode --rate=1G
    [ "${lines[0]}" = "104 712" ]
    [ "${lines[1]}" = "112 768" ]
}

@test "malloc and free have mimalloc's short ways inside, where its code is known" {
    known=$(dpkg-query -W -f '${Version}' libmimalloc2.0)
    [ "$known" = 2.0.9+ds-2 ] || skip "another mimalloc: $known"
    gcc -O1 -o opcodes -xc - <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const unsigned char *code = (const unsigned char *)malloc;
    for (int i = 0; i < 64; i++)
        printf("%02x", code[i]);
    return 0;
}
END
    # cmp $0x400, %rsi: what mimalloc takes off a free list of the thread's own.
    [[ "$("$HEAPPROF" run -q $mode ./opcodes)" == *4881fe00040000* ]]
    [[ "$("$HEAPPROF" run -q ./opcodes)" != *4881fe00040000* ]]
}

@test "every object is freed by the allocator that it is from" {
    [ "$(at_each_rate "$targets/crossed_frees")" = $'ok\nok\nok' ]
}

@test "where no code may be made at run time, mimalloc is called" {
    [ "$("$targets/no_new_code" "$HEAPPROF" run -q $mode "$targets/crossed_frees")" = ok ]
}

@test "the allocation family is charged to its callers and gives glibc's answers" {
    build_family
    [ "$(at_each_rate ./family)" = $'ok\nok\nok' ]
    check_family # at --rate=1, the last one
}

@test "known allocations are counted exactly at --rate=1" {
    OPTIONS="$mode --rate=1" profile known_sites
    check_known_sites
}

@test "a sampled object larger than the rate is itself" {
    OPTIONS="$mode --rate=4K" profile known_sites
    [ "$(site peak_and_free)" = "1/1048576 0/0 1/1048576" ]
}

@test "samples of small objects add up to what was allocated" {
    # 16 MiB in blocks of 1 KiB at one sample in 16K: 1024 samples or so, 3 % of a deviation.
    gcc -O0 -g -o sums -xc - <<'END'
#include <stdlib.h>
static void *kept[16384];
static void keep(void) { for (int i = 0; i < 16384; i++) kept[i] = malloc(1024); }
static void let_go(void) { for (int i = 0; i < 16384; i += 2) free(kept[i]); }
int main(void) { keep(); let_go(); return 0; }
END
    "$HEAPPROF" run -q $mode --rate=16K --seed=1 ./sums
    for row in alloc_space:16777216 inuse_space:8388608 peak_space:16777216; do
        sum=$("$HEAPPROF" fold --sample-type="${row%:*}" heap.prof | awk '/;keep / { n += $NF } END { printf "%d", n }')
        echo "$row $sum"
        [ "$sum" -gt $((${row#*:} * 80 / 100)) ]
        [ "$sum" -lt $((${row#*:} * 120 / 100)) ]
    done
}

@test "a forked child starts from what its parent held at the fork" {
    OPTIONS="$mode --rate=1" profile fork_holds
    check_fork_holds
}

@test "children that are forked while other threads allocate go on" {
    [ "$(at_each_rate --no-follow "$targets/forks_among_threads" 40)" = $'ok\nok\nok' ]
}

@test "a thread's heap is given back at its end, whatever it frees while it ends" {
    for rate in 512K 1; do
        peak=$("$HEAPPROF" run -q $mode --rate=$rate "$targets/thread_ends" 3000 50)
        echo "$peak MiB"
        [ "$peak" -lt 200 ]
    done
}

@test "a block that grows is not copied" {
    # 512 reallocs of 1 to 512 MiB by copying are 128 GiB.
    for rate in 512K 1G 1; do
        timeout 20 "$HEAPPROF" run -q --no-symbolize $mode --rate=$rate "$targets/grows" 512
    done
}

@test "real programs give their bare output" {
    cat >work.sql <<'END'
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
    insert into t select i, 'row ' || (i * 7919 % 1009) from n;
create index tb on t(b);
select b, count(*) from t group by b order by b limit 20;
END
    sqlite3 :memory: ".read work.sql" >bare
    at_each_rate sqlite3 :memory: ".read work.sql" >profiled
    cat bare bare bare | diff - profiled
    work='import json; print(json.dumps([{str(i): [i] * 50} for i in range(2000)]))'
    /usr/bin/python3 -c "$work" >bare
    PYTHONMALLOC=malloc at_each_rate /usr/bin/python3 -c "$work" >profiled
    cat bare bare bare | diff - profiled
}

@test "the user's MIMALLOC variables are for this mimalloc, and for no other mode" {
    LD_PRELOAD=libmimalloc.so.2.0 MIMALLOC_VERBOSE=1 /bin/true 2>&1 | grep "option '" >bare
    MIMALLOC_VERBOSE=1 "$HEAPPROF" run -q $mode /bin/true 2>&1 | grep "option '" >profiled
    diff bare profiled
    [ "$(grep -c eager_commit bare)" -ge 1 ]
    MIMALLOC_SHOW_STATS=1 "$HEAPPROF" run -q $mode /bin/true 2>said
    grep -q "^heap stats:" said
    for rate in 512K 1; do
        MIMALLOC_SHOW_STATS=1 MIMALLOC_VERBOSE=1 "$HEAPPROF" run -q --rate=$rate /bin/true 2>said
        [ ! -s said ]
    done
}

@test "memory that mimalloc is asked to reserve is part of the range" {
    for variable in MIMALLOC_RESERVE_OS_MEMORY=1GiB mimalloc_reserve_os_memory=300M \
        MIMALLOC_RESERVE_HUGE_OS_PAGES=1 MIMALLOC_LARGE_OS_PAGES=1 MIMALLOC_LIMIT_OS_ALLOC=0; do
        [ "$(env $variable "$HEAPPROF" run -q $mode "$targets/crossed_frees" 2>said)" = ok ]
        [ ! -s said ]
    done
    [ "$(MIMALLOC_RESERVE_OS_MEMORY=1GiB "$HEAPPROF" run -q $mode --rate=1 "$targets/crossed_frees")" = ok ]
    # The largest writable mapping of a program that does next to nothing, in MiB.
    largest() { "$HEAPPROF" run -q $mode cat /proc/self/maps | awk '$2 ~ /^rw-p/ { split($1, ends, "-"); print ends[1], ends[2] }' |
        while read -r from to; do echo $(((0x$to - 0x$from) >> 20)); done | sort -n | tail -1; }
    [ "$(largest)" -le 64 ]
    [ "$(MIMALLOC_RESERVE_OS_MEMORY=1GiB largest)" -ge 960 ]
    [ "$(MIMALLOC_RESERVE_HUGE_OS_PAGES=2 largest)" -ge 1984 ]
}

@test "a mimalloc that is missing is told before the start" {
    cp "$HEAPPROF" "$BUILD/libheapprof.so" .
    run ./heapprof run $mode touch started
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ "$output" == "heapprof: --allocator=mimalloc: there is no "*"/libheapprof-mimalloc.so that can be read" ]]
    [ ! -e started ]
}

@test "a mimalloc that cannot be loaded leaves the program on its own allocator" {
    cp "$HEAPPROF" "$BUILD/libheapprof.so" .
    for rate in 512K 1; do
        echo "no library" >libheapprof-mimalloc.so
        ./heapprof run -q $mode --rate=$rate "$targets/crossed_frees" >said 2>errors
        [ "$(cat said)" = ok ]
        [[ "$(cat errors)" =~ ^heapprof:\ process\ [0-9]+\ does\ not\ run\ on\ mimalloc:\ libheapprof-mimalloc.so\ cannot\ be\ loaded$ ]]
        ./heapprof top heap.prof >/dev/null
    done
}

@test "where address space is scarce the program has its own allocator, and a line says so" {
    for rate in 512K 1; do
        (ulimit -v 3000000 && "$HEAPPROF" run -q $mode --rate=$rate "$targets/crossed_frees" >said 2>errors)
        [ "$(cat said)" = ok ]
        [[ "$(cat errors)" == *"does not run on mimalloc: there is too little address space"* ]]
    done
}

@test "where mimalloc's memory is full or refused, the C library goes on" {
    # 8G: a range of 1G, a quarter of which is mimalloc's; 200M of data: less than that.
    gcc -O1 -o fills -xc - <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    long count = strtol(argv[1], NULL, 10), made = 0;
    char **last = NULL;
    for (; made < count; made++) {
        char **block = malloc(1000);
        if (block == NULL)
            break;
        memset(block, (int)made, 1000);
        *block = (char *)last;
        last = block;
    }
    while (last != NULL) {
        char **block = last;
        last = (char **)*block;
        free(block);
    }
    printf("%s\n", made == count ? "all" : "some");
    return argc < 2;
}
END
    [ "$(ulimit -v 8000000 && "$HEAPPROF" run -q $mode --no-symbolize ./fills 500000)" = all ]
    [ "$(ulimit -d 200000 && "$HEAPPROF" run -q $mode --no-symbolize ./fills 500000)" = some ]
}
