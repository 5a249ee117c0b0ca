# shellcheck shell=sh
# exact.sh: the price of recording everything, beside that of heaptrack and massif, which do so too.
#
# Against heaptrack it is given as the time that each adds to the bare run, of which the quotient is
# taken; wall time, so that the process that heaptrack compresses its data in costs it nothing while
# there is a processor left. Start-up is included.

# For sh -c, with the command as arguments: heaptrack's own words are no part of the table.
track='exec heaptrack -o heaptrack "$@" >/dev/null 2>heaptrack.log'

added_ms() { # BARE command...: the median of what it adds to the words of BARE, in ms of wall time
    bare=$1
    shift
    # shellcheck disable=SC2086 # words
    pairs_of -n "$FEW_PAIRS" $bare --- "$@" && figure wall extra
}

beside_heaptrack() { # LABEL QUOTIENT MILLIONS FRAMES THREADS
    row_wanted "$1" || return 0
    run="$BENCH/malloc_loop $3 $4 $5"
    # shellcheck disable=SC2086 # words
    ours=$(added_ms "$run" "$HEAPPROF" run -q --no-symbolize --rate=1 -o heap.prof $run) || {
        failed "heapprof run --rate=1 $run"
        return 0
    }
    printf 'heapprof adds %s' "$(awk -v ms="$ours" -v millions="$3" \
        'BEGIN { printf "%.0f ns", ms / millions }')"
    if ! command -v heaptrack >/dev/null; then
        judge "" -
        return 0
    fi
    # shellcheck disable=SC2086 # words
    theirs=$(added_ms "$run" sh -c "$track" sh $run) || {
        failed "heaptrack $run"
        return 0
    }
    rm -f heaptrack.*
    awk -v ms="$theirs" -v millions="$3" -v ours="$ours" \
        'BEGIN { printf ", heaptrack %.0f ns: 1/%.1f", ms / millions, ms / ours }'
    judge "$(awk -v ours="$ours" -v theirs="$theirs" 'BEGIN { print ours / theirs }')" \
        "$(awk -v quotient="$2" 'BEGIN { print 1 / quotient }')" "1/$2"
}

installed heaptrack heaptrack || :
section "malloc and free together at --rate=1: what a pair and thread cost more than bare"
beside_heaptrack "one thread" 3.5 2 0 1
beside_heaptrack "one thread, 40 frames" 3.5 2 40 1
beside_heaptrack "two threads" 4 2 0 2
beside_heaptrack "two threads, 40 frames" 4 2 40 2

section "a ring of blocks, every allocation recorded; bare = 1"
ratio_row "-n $FEW_PAIRS" - "heapprof --rate=1" "$BENCH/malloc_loop" 2 --- \
    "$HEAPPROF" run -q --no-symbolize --rate=1 -o heap.prof "$BENCH/malloc_loop" 2
if command -v heaptrack >/dev/null; then
    ratio_row "-n 3" - "heaptrack" "$BENCH/malloc_loop" 2 --- sh -c "$track" sh "$BENCH/malloc_loop" 2
    rm -f heaptrack.*
fi
ratio_row "-n 3" - "valgrind --tool=massif" "$BENCH/malloc_loop" 2 --- \
    valgrind -q --tool=massif --massif-out-file=massif.out "$BENCH/malloc_loop" 2
