#!/usr/bin/env bats
# threads_scenarios.bats: threads that hand blocks on, that end while they allocate, and very many.
#
# Every program runs bare first: what it prints and how it ends stays the same.

load profile_helper

setup() {
    profile_setup
}

@test "blocks of 16 threads that pass them through queues are counted exactly" {
    g++ -std=c++17 -O1 -g -o queues "$BATS_TEST_DIRNAME/../targets/queues_pass_blocks.cc" -pthread
    ./queues 1000
    output=$(profile --rate=1 ./queues 200000)
    echo "the program's: $output"
    read -r objects bytes made <<<"$output"
    read -r alloc_made inuse_made _ < <(site queues make_block)
    read -r alloc_changed inuse_changed _ < <(site queues change_block)
    expect objects "$((${inuse_made%/*} + ${inuse_changed%/*}))" "$objects"
    expect bytes "$((${inuse_made#*/} + ${inuse_changed#*/}))" "$bytes"
    expect "made at all" "$((${alloc_made%/*} + ${alloc_changed%/*}))" "$made"
    # libstdc++ allocates before the program starts, below a frame of the loader that has no
    # unwind information.
    expect losses "$(losses | grep -v '^unwind_incomplete 1 ')" ""
}

@test "the same threads do as they would bare at the default rate" {
    g++ -std=c++17 -O1 -g -o queues "$BATS_TEST_DIRNAME/../targets/queues_pass_blocks.cc" -pthread
    output=$(profile ./queues 50000)
    read -r objects bytes made <<<"$output"
    [ "$objects" -gt 0 ]
    [ "$made" -gt 800000 ]
    expect losses "$(losses | grep -v '^unwind_incomplete 1 ')" ""
}

@test "what ending threads free and allocate in key destructors is accounted for" {
    program=$targets/frees_in_key_destructors
    expect bare "$("$program" 1000)" "done 4000"
    for rate in 1 512K 1000; do
        expect "output at rate $rate" "$(profile --rate=$rate "$program" 10000)" "done 40000"
        expect "losses at rate $rate" "$(losses)" ""
        for function in allocate_in_thread allocate_in_destructor; do
            read -r alloc inuse _ < <(site "$program" $function)
            expect "$function, live at rate $rate" "$inuse" 0/0
            [ $rate != 1 ] || expect "$function, allocated" "$alloc" \
                "$([ $function = allocate_in_thread ] && echo 10000/1000000 || echo 50000/10000000)"
        done
    done
}

@test "100,000 threads leave the 1000 blocks that they leak, and no memory of ours" {
    program=$targets/many_threads
    bare=$("$program" 20000)
    output=$(profile --rate=1 "$program" 100000)
    read -r alloc inuse _ < <(site "$program" allocate_block)
    expect allocated "$alloc" 100000/102400000
    expect live "$inuse" 1000/1024000
    expect losses "$(losses)" ""
    at_most "Rss, KiB" "$(number_of Rss: "$output")" $(($(number_of Rss: "$bare") + 4096))
}

@test "at the default rate 20,000 threads need no more memory than bare" {
    program=$targets/many_threads
    bare=$("$program" 20000)
    output=$(profile "$program" 20000)
    expect losses "$(losses)" ""
    at_most "Rss, KiB" "$(number_of Rss: "$output")" $(($(number_of Rss: "$bare") + 3072))
}
