# shellcheck shell=sh
# samplers.sh: heapprof on jemalloc and tcmalloc, beside the samplers that these have themselves.
#
# Both sides sample every 512 KiB on average and run on the same library, so that the samplers are
# all that differs. Their cost is also given by itself, on the same allocator that does not sample.
# tcmalloc is the full library: the minimal one cannot sample.

jemalloc=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2
tcmalloc=/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4

# A program and its arguments stand once in each row: both sides run the same.

# beside_own "OPTIONS" LIMIT LABEL COMMAND...: its own sampler, and heapprof's.
beside_own() {
    options=$1
    limit=$2
    label=$3
    shift 3
    ratio_row "$options" "$limit" "$label" env "LD_PRELOAD=$library" "$sampling" "$@" --- \
        "$HEAPPROF" run -q --no-symbolize "--allocator=$library" -o heap.prof "$@"
}

# without_own "OPTIONS" LABEL COMMAND...: the allocator alone, and with its own sampler.
without_own() {
    options=$1
    label=$2
    shift 2
    ratio_row "$options" - "$label" env "LD_PRELOAD=$library" "$@" --- \
        env "LD_PRELOAD=$library" "$sampling" "$@"
}

# bare_own "OPTIONS" LABEL COMMAND...: the C library's malloc, and the allocator with its own sampler.
bare_own() {
    options=$1
    label=$2
    shift 2
    ratio_row "$options" - "$label" "$@" --- env "LD_PRELOAD=$library" "$sampling" "$@"
}

rows_of() { # NAME LIBRARY VARIABLE=VALUE, which turns its sampler on
    library=$2
    sampling=$3
    installed "$library" "$1's sampler" || return 0
    section "--allocator=$1 at the default rate; $1's own sampler = 1"
    loop="$BENCH/malloc_loop 60"
    # shellcheck disable=SC2086 # words
    extra_row -t 3 60 pair "malloc and free, a ring of blocks" \
        env "LD_PRELOAD=$library" "$sampling" $loop --- \
        "$HEAPPROF" run -q --no-symbolize "--allocator=$library" -o heap.prof $loop
    beside_own -t 1.00 "larson, one thread" "$BENCH/larson" 200 1
    beside_own "" 1.00 "larson, two threads" "$BENCH/larson" 120 2
    section "$1's own sampler; $1 without = 1"
    without_own "-t -n $FEW_PAIRS" "malloc and free, a ring of blocks" "$BENCH/malloc_loop" 60
    without_own "-n $FEW_PAIRS" "larson, two threads" "$BENCH/larson" 120 2
    section "$1 with its own sampler; bare, on the C library's malloc = 1"
    bare_own "-t -n $FEW_PAIRS" "malloc and free, a ring of blocks" "$BENCH/malloc_loop" 30
    bare_own "-n $FEW_PAIRS" "larson, two threads" "$BENCH/larson" 80 2
}

rows_of tcmalloc /usr/lib/x86_64-linux-gnu/libtcmalloc.so.4 TCMALLOC_SAMPLE_PARAMETER=524288
rows_of jemalloc /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 MALLOC_CONF=prof:true,lg_prof_sample:19
