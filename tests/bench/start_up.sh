# shellcheck shell=sh
# start_up.sh: what does not depend on how long a program runs.

cat >children.sh <<'END'
i=0
while [ $i -lt 100 ]; do
    /bin/true
    i=$((i + 1))
done
END

section "start-up and end; bare = 1"
ratio_row "" - "heapprof run true" true --- "$HEAPPROF" run -q --no-symbolize -o heap.prof true
ratio_row "-n $FEW_PAIRS" - "a shell script with 100 children" sh children.sh --- \
    "$HEAPPROF" run -q -o heap.prof sh children.sh
ratio_row "" - "names, looked up at the end (without = 1)" \
    "$HEAPPROF" run -q --no-symbolize -o heap.prof "$BENCH/malloc_loop" 3 --- \
    "$HEAPPROF" run -q -o heap.prof "$BENCH/malloc_loop" 3
