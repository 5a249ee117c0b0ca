#!/usr/bin/env bats
# labels.bats: samples labelled with their thread and their size class.

load profile_helper

setup() {
    profile_setup
}

# by KEY [PROFILE]: a line "VALUE: ALLOC INUSE PEAK" for each value of the label, of the stacks of
# labelled_threads' allocate.
by() {
    python3 -B "$reader" label "${2:-heap.prof}" "$targets/labelled_threads" allocate "$1"
}

threads_of_main() {
    cat <<'END'
a name of 15 by: 10/20000 5/10000 5/10000
by another: 10/30000 5/15000 5/15000
by another late: 10/40000 5/20000 5/20000
by itself: 10/10000 5/5000 5/5000
by prctl: 10/50000 5/25000 5/25000
labelled_thread: 10/60000 5/30000 5/30000
END
}

@test "--threads tells each thread by its name, however it got it, and by its id" {
    profile --rate=1 --threads "$targets/labelled_threads" >tids
    expect "by name" "$(by thread)" "$(threads_of_main)"
    expect "by id" "$(by tid | cut -d: -f1)" "$(sort -n tids)"
    expect "losses" "$(losses)" ""
}

@test "--sizes labels with the size class, alone and with --threads" {
    profile --rate=1 --sizes "$targets/labelled_threads" >tids
    expect "by size" "$(by bytes)" "1024: 10/10000 5/5000 5/5000
2048: 10/20000 5/10000 5/10000
4096: 20/70000 10/35000 10/35000
8192: 20/110000 10/55000 10/55000"
    expect "by name" "$(by thread)" ": 60/210000 30/105000 30/105000"
    profile --rate=1 --sizes --threads "$targets/labelled_threads" >tids
    expect "by name" "$(by thread)" "$(threads_of_main)"
    expect "by size" "$(by bytes | head -n 1)" "1024: 10/10000 5/5000 5/5000"
}

@test "a thread's name may have a newline in it" {
    # Seen in /proc while the child sleeps, else as it was at the first sample.
    profile --rate=1 --threads perl -e '
        $0 = "one\ntwo";
        if (fork) { wait } else { my @held = (1 .. 10000); select(undef, undef, undef, 0.1) }'
    run "$HEAPPROF" top --by=thread --sample-type=alloc_space heap.*.prof
    [[ $output == *'one\ntwo'* ]]
}

@test "without the options nothing is labelled" {
    profile --rate=1 "$targets/labelled_threads" >tids
    for key in thread tid bytes; do
        expect "by $key" "$(by $key)" ": 60/210000 30/105000 30/105000"
    done
}

@test "a forked child knows its parent's threads and has its own" {
    profile --rate=1 --threads "$targets/labelled_threads" fork >tids
    expect "the parent's" "$(by thread)" "$(threads_of_main)"
    run by thread heap.*.prof
    expect "the child's" "$output" "a name of 15 by: 5/10000 5/10000 5/10000
by another: 5/15000 5/15000 5/15000
by another late: 5/20000 5/20000 5/20000
by itself: 15/15000 10/10000 10/10000
by prctl: 5/25000 5/25000 5/25000
labelled_thread: 15/1030000 10/530000 10/530000"
    expect "ids in the child" "$(by tid heap.*.prof | cut -d: -f1)" "$(sort -n tids)"
}

@test "sampled threads are labelled as well, and a deep stack keeps its thread" {
    profile --rate=4096 --seed=1 --threads --sizes "$targets/labelled_threads" >tids
    [ "$(by thread | grep -c 'by \|labelled')" -ge 5 ]
    run by thread
    [[ "$output" != ": "* ]]
}

@test "pprof shows the labels" {
    command -v go >/dev/null || skip "no go here"
    profile --rate=1 --threads --sizes "$targets/labelled_threads" >tids
    run go tool pprof -sample_index=alloc_space -tags heap.prof
    [[ "$output" == *" thread: Total "*"labelled_thread"*"by another"* ]]
    [[ "$output" == *" bytes: Total "* ]]
}

@test "top and the command say how to get labels that are not there" {
    profile --rate=1 "$targets/labelled_threads" >tids
    run "$HEAPPROF" top --by=thread heap.prof
    [ "$status" -eq 1 ]
    [ "$output" = "heapprof: heap.prof: no label 'thread'; \`heapprof run --threads\` records it" ]
    run "$HEAPPROF" top --by=bytes heap.prof
    [ "$output" = "heapprof: heap.prof: no label 'bytes'; \`heapprof run --sizes\` records it" ]
    profile --rate=1 --threads "$targets/labelled_threads" >tids
    run "$HEAPPROF" top --by=thread heap.prof
    [ "$status" -eq 0 ]
    [[ "$output" == *"by another late"* ]]
}
