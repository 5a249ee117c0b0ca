#!/bin/sh
# run.sh BUILD: what heapprof costs, each figure beside a bare run of the same program.
#
# Called by `make bench`; PAIRS=N changes the number of pairs (21). Wall times on a shared or busy
# machine say little: there the ring run together with its bare self, in CPU time, tells more (the
# loop is short: where the loader puts program and libraries moves it by 2 % either way, and a
# neighbour by 40), and the instruction counts at the end do not depend on that.
set -eu

build=$(cd "$1" && pwd)
bench=$build/tests/bench
heapprof=$build/heapprof
pairs=${PAIRS:-21}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# [-t] [-d DIVISOR] LABEL COMMAND...: the command alone against the command under heapprof.
compare() {
    set_divisor=
    together=
    if [ "$1" = -t ]; then
        together=-t
        shift
    fi
    if [ "$1" = -d ]; then
        set_divisor="-d $2"
        shift 2
    fi
    label=$1
    shift
    # shellcheck disable=SC2086 # words or none
    "$bench/paired" $together -n "$pairs" $set_divisor "$label" "$@" --- \
        "$heapprof" run -q $run_options -o heap.prof "$@"
}

# What the program feels. Names are looked up after it has ended, once and however long it ran:
# that has a line of its own.
echo "== time, at the default rate"
run_options=--no-symbolize
compare "malloc and free, a ring of small blocks" "$bench/malloc_loop" 200
compare -t "the same, together on one processor" "$bench/malloc_loop" 100
compare "larson, two threads, each with the blocks of threads before it" "$bench/larson" 600
run_options=

# on_mimalloc [-t] LABEL COMMAND...: the command with libmimalloc preloaded against the command
# under heapprof run --allocator=mimalloc.
on_mimalloc() {
    together=
    if [ "$1" = -t ]; then
        together=-t
        shift
    fi
    label=$1
    shift
    # shellcheck disable=SC2086 # words or none
    "$bench/paired" $together -n "$pairs" "$label" \
        env LD_PRELOAD=libmimalloc.so.2.0 "$@" --- \
        "$heapprof" run -q --no-symbolize --allocator=mimalloc -o heap.prof "$@"
}

cat >work.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
    insert into t select i, 'row ' || (i * 7919 % 100003), i * 1.5 from n;
create index tb on t(b);
select b, count(*) from t group by substr(b, 1, 6) order by 2 desc limit 5;
END
cat >work.py <<'END'
import json
rows = [{"id": i, "tags": ["t%d" % (j * i % 97) for j in range(8)]} for i in range(20000)]
for _ in range(3):
    print(len(json.loads(json.dumps(rows))))
END
echo "== time, on mimalloc, at the default rate; bare is with libmimalloc preloaded"
on_mimalloc -t "malloc and free, a ring of small blocks, together on one processor" \
    "$bench/malloc_loop" 200
on_mimalloc "larson, two threads" "$bench/larson" 600
on_mimalloc "sqlite3" sqlite3 :memory: ".read work.sql"
on_mimalloc "python3" /usr/bin/python3 work.py
on_mimalloc "python3, all objects by malloc" env PYTHONMALLOC=malloc /usr/bin/python3 work.py
run_options="--no-symbolize --allocator=mimalloc"
compare "larson, against the C library's malloc" "$bench/larson" 600

echo "== one block that grows by 1 MiB at a time to 4 GiB"
for run_options in "--no-symbolize" "--no-symbolize --rate=1" \
    "--no-symbolize --allocator=mimalloc" "--no-symbolize --allocator=mimalloc --rate=1"; do
    compare "realloc alone, $run_options" "$bench/grow" 4096 untouched
    compare "each page written, up to 1 GiB, $run_options" "$bench/grow" 1024
done
run_options=

echo "== names, looked up once the program has ended"
"$bench/paired" -n "$pairs" "without and with names" \
    "$heapprof" run -q --no-symbolize -o heap.prof "$bench/malloc_loop" 3 --- \
    "$heapprof" run -q -o heap.prof "$bench/malloc_loop" 3

# The price of recording everything, beside heaptrack's, which does so too. Both are given as the
# time that they add to the bare run, of which the quotient is taken; wall time, so that the process
# that heaptrack compresses its data in costs it nothing while there is a processor left.
added_ms() { # command...: the median of what it adds to $bare, in ms
    # shellcheck disable=SC2086 # words
    "$bench/paired" -n "$pairs" added $bare --- "$@" |
        awk '$1 == "wall" { for (i = 1; i < NF; i++) if ($i == "extra") print $(i + 1) + 0 }'
}
exact() { # LABEL MILLIONS FRAMES THREADS
    bare="$bench/malloc_loop $2 $3 $4"
    # shellcheck disable=SC2086 # words
    ours=$(added_ms "$heapprof" run -q --no-symbolize --rate=1 -o heap.prof $bare)
    theirs=
    if command -v heaptrack >/dev/null; then
        # shellcheck disable=SC2086 # words
        theirs=$(added_ms sh -c 'exec heaptrack "$@" 2>heaptrack.log' sh -o heaptrack $bare)
        rm -f heaptrack.*
    fi
    awk -v label="$1" -v pairs="$2" -v ours="$ours" -v theirs="$theirs" 'BEGIN {
        printf "  %-24s heapprof adds %.0f ns", label, ours / pairs
        if (theirs != "")
            printf ", heaptrack %.0f ns: 1/%.1f", theirs / pairs, theirs / ours
        print " (a pair and thread)"
    }'
}
echo "== malloc and free together at --rate=1, start-up included"
exact "one thread" 4 0 1
exact "one thread, 40 frames" 4 40 1
exact "two threads" 4 0 2
exact "two threads, 40 frames" 4 40 2

echo "== an event's stack"
"$bench/stack_walk"

echo "== start-up"
compare "heapprof run true" true
cat >children.sh <<'END'
i=0
while [ $i -lt 100 ]; do
    /bin/true
    i=$((i + 1))
done
END
compare -d 100 "a shell script with 100 children" sh children.sh

# callgrind counts the program and the library in it; heapprof runs valgrind, which passes the
# preloaded library on. The rate is one that never samples in this run. The difference between N
# and 2 N pairs leaves start-up out.
echo "== instructions of an unsampled malloc and free together (under valgrind two more than without)"
count() { # command...: the instructions callgrind has counted
    rm -f callgrind.out
    "$@" >valgrind.log 2>&1 || {
        cat valgrind.log >&2
        exit 1
    }
    awk '/^(summary|totals):/ { print $2; exit }' callgrind.out
}
callgrind() {
    count valgrind --tool=callgrind --callgrind-out-file=callgrind.out "$bench/pair" "$1"
}
callgrind_profiled() {
    count "$heapprof" run -q --rate=1G -o heap.prof \
        valgrind --tool=callgrind --callgrind-out-file=callgrind.out "$bench/pair" "$1"
}
n=100000
bare_1=$(callgrind $n)
bare_2=$(callgrind $((2 * n)))
profiled_1=$(callgrind_profiled $n)
profiled_2=$(callgrind_profiled $((2 * n)))
awk -v bare=$((bare_2 - bare_1)) -v profiled=$((profiled_2 - profiled_1)) -v n=$n 'BEGIN {
    printf "  bare %.2f   profiled %.2f   extra %.2f\n", bare / n, profiled / n, (profiled - bare) / n
}'
