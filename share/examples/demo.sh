#!/bin/sh
# demo.sh BUILD [PICTURE]: profiles the bundled example and shows where its memory goes.
#
# Called by `make demo`. With PICTURE it only draws the flamegraph, into that file.
set -eu

build=$1
out=$build/demo
mkdir -p "$out"

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

if [ $# -gt 1 ]; then
    "$build/heapprof" run -q --rate=64K --seed=1 -o "$out/heap.prof" "$build/examples/bookshop" >"$out/output"
    exec "$build/heapprof" flame --title 'An imaginary bookshop at its peak' -o "$2" "$out/heap.prof"
fi

echo "A bookshop with many small objects, big buffers, a cache, two threads and a leak:"
show "$build/heapprof" run -o "$out/heap.prof" "$build/examples/bookshop"

printf '\nWhat held the memory when it was at its peak:\n'
show "$build/heapprof" top -n 10 "$out/heap.prof"

printf '\nWhat was never given back (the leak is in remember_visitor):\n'
show "$build/heapprof" leaks -n 3 "$out/heap.prof"

"$build/heapprof" flame -o "$out/heap.svg" "$out/heap.prof"
printf '\nThe flamegraph, to open in a browser: %s\n' "$out/heap.svg"
echo "Now your own program: $build/heapprof run ./your-program"
