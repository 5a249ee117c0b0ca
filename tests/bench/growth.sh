# shellcheck shell=sh
# growth.sh: one block that grows by a MiB at a time, in every mode, beside the C library's malloc.

section "one block that grows by 1 MiB at a time; bare, on the C library's malloc = 1"
for mode in "" "--rate=1" "--allocator=mimalloc" "--allocator=mimalloc --rate=1"; do
    # shellcheck disable=SC2086 # words or none
    {
        ratio_row "-t -n $FEW_PAIRS" 1.5 "to 4 GiB, ${mode:-at the default rate}" \
            "$BENCH/grow" 4096 untouched 20 --- \
            "$HEAPPROF" run -q --no-symbolize $mode -o heap.prof "$BENCH/grow" 4096 untouched 20
        ratio_row "-t -n $FEW_PAIRS" 1.5 "to 256 MiB, written, ${mode:-at the default rate}" \
            "$BENCH/grow" 256 --- \
            "$HEAPPROF" run -q --no-symbolize $mode -o heap.prof "$BENCH/grow" 256
    }
done
