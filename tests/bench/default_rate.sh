# shellcheck shell=sh
# default_rate.sh: what a program feels of heapprof at the default rate, on its own allocator.

# against_bare "OPTIONS" LIMIT LABEL COMMAND...: the command alone, and under heapprof.
against_bare() {
    options=$1
    limit=$2
    label=$3
    shift 3
    ratio_row "$options" "$limit" "$label" "$@" --- \
        "$HEAPPROF" run -q --no-symbolize -o heap.prof "$@"
}

section "at the default rate; bare = 1"
against_bare -t 1.06 "malloc and free, a ring of blocks" "$BENCH/malloc_loop" 50
against_bare -t 1.08 "larson, one thread" "$BENCH/larson" 150 1
against_bare "" 1.08 "larson, two threads" "$BENCH/larson" 120 2
against_bare -t 1.03 "sqlite3" sqlite3 :memory: ".read work.sql"
against_bare -t 1.03 "python3" /usr/bin/python3 work.py
against_bare -t 1.03 "python3, all objects by malloc" env PYTHONMALLOC=malloc /usr/bin/python3 work.py
