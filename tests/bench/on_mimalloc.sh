# shellcheck shell=sh
# on_mimalloc.sh: --allocator=mimalloc, beside the program with libmimalloc preloaded.

# against_mimalloc "OPTIONS" LIMIT LABEL COMMAND...
against_mimalloc() {
    options=$1
    limit=$2
    label=$3
    shift 3
    ratio_row "$options" "$limit" "$label" env LD_PRELOAD=libmimalloc.so.2.0 "$@" --- \
        "$HEAPPROF" run -q --no-symbolize --allocator=mimalloc -o heap.prof "$@"
}

section "--allocator=mimalloc at the default rate; libmimalloc preloaded = 1"
against_mimalloc -t 1.10 "malloc and free, a ring of blocks" "$BENCH/malloc_loop" 60
against_mimalloc -t 1.25 "larson, one thread" "$BENCH/larson" 200 1
against_mimalloc "" 1.25 "larson, two threads" "$BENCH/larson" 120 2
against_mimalloc -t 1.05 "sqlite3" sqlite3 :memory: ".read work.sql"
against_mimalloc -t 1.05 "python3" /usr/bin/python3 work.py
against_mimalloc -t 1.05 "python3, all objects by malloc" env PYTHONMALLOC=malloc /usr/bin/python3 work.py

section "--allocator=mimalloc at the default rate; bare, on the C library's malloc = 1"
set -- "$BENCH/larson" 80 2
ratio_row "" 0.65 "larson, two threads" "$@" --- \
    "$HEAPPROF" run -q --no-symbolize --allocator=mimalloc -o heap.prof "$@"
