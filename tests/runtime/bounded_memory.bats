#!/usr/bin/env bats
# bounded_memory.bats: what heapprof itself needs stays within bounds, and what then has no room is
# still in the totals.
#
# Memory is the program's own Rss by /proc/self/smaps_rollup, bare and profiled: private memory, the
# shared store as far as it is touched, and the pages of the libraries.

load profile_helper

setup() {
    profile_setup
}

@test "with a small --max-memory the stacks that have no room are one entry, and totals stay exact" {
    program=$targets/thousand_stacks
    profile --rate=1 "$program" 14 16384 0
    whole=$(python3 -B "$reader" total heap.prof)
    expect losses "$(losses)" ""
    expect "all stacks" "$(site "$program" allocate)" "16384/1638400 16384/1638400 16384/1638400"

    "$HEAPPROF" run --no-symbolize --rate=1 --max-memory=1M -o heap.prof "$program" 14 16384 0 2>summary
    expect total "$(python3 -B "$reader" total heap.prof)" "$whole"
    read -r other_alloc _ < <(site "$program" '[other stacks]')
    echo "other stacks: $other_alloc, losses: $(losses)"
    [ "${other_alloc%/*}" -gt 1000 ]
    [ "${other_alloc%/*}" -lt 16384 ]
    expect "counted as lost" "$(losses | cut -d' ' -f1,2)" "stack_table_full ${other_alloc%/*}"
    cat summary
    grep -qE "lost +${other_alloc%/*} charged to \[other stacks\]: stack table full" summary
    "$HEAPPROF" top --sample-type=inuse_space -n 5 heap.prof | grep -qF '[other stacks]'
}

# memory_of TARGET-ARGUMENTS: Rss in KiB, bare and at a rate.
bare_memory() {
    number_of Rss: "$("$targets/threads_hold_blocks" "$@")"
}
profiled_memory() { # RATE ARGUMENTS
    number_of Rss: "$(profile --rate="$1" "$targets/threads_hold_blocks" "${@:2}")"
}

@test "at the default rate a program with few threads needs at most 6 MiB more" {
    for threads in 0 4; do
        bare=$(bare_memory $threads 20 1048576)
        at_most "KiB with $threads threads" "$(profiled_memory 512K $threads 20 1048576)" \
            $((bare + 6144))
    done
}

@test "with 1000 threads that hold sampled objects it needs at most 8 MiB more" {
    # Nearly all of these are sampled, of each size: 10500 blocks in slabs and in slots.
    for size_and_rate in 1024:2 300000:4096 1048576:512K; do
        size=${size_and_rate%:*} rate=${size_and_rate#*:}
        bare=$(bare_memory 1000 20 "$size")
        profiled=$(profiled_memory "$rate" 1000 20 "$size")
        echo "blocks of $size bytes, bare $bare KiB"
        at_most "KiB at rate $rate" "$profiled" $((bare + 8192))
        read -r _ inuse _ < <(site "$targets/threads_hold_blocks" allocate_block)
        [ "${inuse%/*}" -gt 10000 ]
        expect losses "$(losses)" ""
    done
}

# hold_blocks NUMBER: 2000 threads' blocks in a folder of this run's own; nothing when all are there.
hold_blocks() {
    local program=$targets/threads_hold_blocks
    mkdir -p "run$1"
    cd "run$1" || return 1
    profile --rate=2 "$program" 2000 20 1024 >/dev/null
    expect "losses of run $1" "$(losses)" "" || return 1
    expect "run $1" "$(site "$program" allocate_block)" \
        "21000/21504000 21000/21504000 21000/21504000"
}

@test "2000 threads alive at once lose no sample and no stack" {
    # Three programs at a time: threads are off their processor wherever they are.
    local jobs=() job
    for round in 1 2 3 4; do
        for i in 1 2 3; do
            hold_blocks "$round.$i" &
            jobs+=($!)
        done
        for job in "${jobs[@]}"; do
            wait "$job"
        done
        jobs=()
    done
}
