# shellcheck shell=sh
# one_sample.sh: what it costs to know the stack of one sample (stack_walk.c), 20 frames deep.

# nanoseconds DEPTH BEFORE: the best of a few runs' figures that stand before these words, of the
# first stack that has DEPTH frames or more.
nanoseconds() {
    awk -v depth="$1" -v before="$2" '
        /frames: stack_capture/ { taken = $1 >= depth && (!frames || $1 == frames)
                                  if (taken) frames = $1 }
        taken && match($0, "[0-9.]+ ns " before) {
            ns = substr($0, RSTART) + 0
            if (best == "" || ns < best) best = ns
        }
        END { print best }' stack_walk.txt
}

stack_row() { # LIMIT BEFORE LABEL
    row_wanted "$3" || return 0
    ns=$(nanoseconds 20 "$2")
    printf '%s ns' "$ns"
    judge "$ns" "$1" "$1 ns"
}

section "a sample's stack of 20 frames, captured and found among those known"
for _ in 1 2 3; do
    "$BENCH/stack_walk"
done >stack_walk.txt
stack_row 1000 "not remembered" "nothing of it remembered"
stack_row 150 "four frames changed" "the four innermost frames changed"
stack_row - "unchanged" "unchanged"
