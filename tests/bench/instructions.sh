# shellcheck shell=sh
# instructions.sh: what an unsampled malloc and free cost in instructions, which no clock disturbs.
#
# callgrind counts the program and the library in it; heapprof runs valgrind, which passes the
# preloaded library on. The rate is one that never samples in this run. The difference between N
# and 2 N pairs leaves start-up out. Under valgrind a pair takes two instructions more than without.

count() { # command...: the instructions callgrind has counted
    rm -f callgrind.out
    "$@" >"$WORK/stderr" 2>&1 || return 1
    awk '/^(summary|totals):/ { print $2; exit }' callgrind.out
}

count_pairs() { # PAIRS [command that runs one]...
    pairs=$1
    shift
    count "$@" valgrind --tool=callgrind --callgrind-out-file=callgrind.out "$BENCH/pair" "$pairs"
}

count_row() {
    row_wanted "an unsampled malloc and free together" || return 0
    profiled="$HEAPPROF run -q --rate=1G -o heap.prof"
    n=100000
    # shellcheck disable=SC2086 # words
    bare_1=$(count_pairs $n) && bare_2=$(count_pairs $((2 * n))) &&
        profiled_1=$(count_pairs $n $profiled) && profiled_2=$(count_pairs $((2 * n)) $profiled) || {
        failed "valgrind --tool=callgrind"
        return 0
    }
    bare=$((bare_2 - bare_1))
    extra=$(awk -v bare=$bare -v profiled=$((profiled_2 - profiled_1)) -v n=$n \
        'BEGIN { printf "%.2f", (profiled - bare) / n }')
    printf '%+.2f to %.2f' "$extra" "$(awk -v bare=$bare -v n=$n 'BEGIN { print bare / n }')"
    judge "$extra" 12
}

section "instructions, counted by callgrind"
count_row
