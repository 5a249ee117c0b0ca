#!/usr/bin/env bats
# collector.bats: what the launcher makes of processes, with a program that speaks the protocol by
# hand in the place of the runtime.

bats_require_minimum_version 1.5.0
load run_helper

setup() {
    launcher_setup
}

@test "what an image records is in the profile, in all six sample types" {
    "$heapprof" run -q --rate=1 "$fake" hello record=1000 record=24
    run totals heap.prof
    [ "$output" = "alloc_objects 2
alloc_space 1024
inuse_objects 2
inuse_space 1024
peak_objects 2
peak_space 1024" ]
}

@test "the peak is what was saved at it, not what is in use at the end" {
    "$heapprof" run -q --rate=1 "$fake" hello record=1000 free
    run totals heap.prof
    [ "${lines[3]}" = "inuse_space 0" ]
    [ "${lines[5]}" = "peak_space 1000" ]
}

@test "the profile is one that go tool pprof reads, with the main binary first" {
    "$heapprof" run -q "$fake" hello record=4096
    go tool pprof -top heap.prof >out.txt 2>err.txt
    grep -q 'File: fake_runtime' out.txt
    grep -q 'Type: peak_space' out.txt
    grep -q '4kB .* record$' out.txt
}

@test "a process that is killed leaves a whole profile" {
    run -137 "$heapprof" run -q --rate=1 "$fake" hello record=1000 kill=9
    run totals heap.prof
    [ "${lines[1]}" = "alloc_space 1000" ]
}

@test "a command without samples gets a file all the same" {
    "$heapprof" run -q "$fake" hello
    run "$heapprof" top heap.prof
    [ "$status" = 0 ]
}

@test "after an exec the last image owns the name, an earlier one with samples gets a number" {
    "$heapprof" run -q --rate=1 "$fake" hello record=11 exec hello record=22 exec hello record=33
    [ "$(totals heap.prof | sed -n 2p)" = "alloc_space 33" ]
    [ "$(totals heap.1.prof | sed -n 2p)" = "alloc_space 11" ]
    [ "$(totals heap.2.prof | sed -n 2p)" = "alloc_space 22" ]
    [ "$(echo *)" = "heap.1.prof heap.2.prof heap.prof" ]
}

@test "an earlier image without samples leaves no file" {
    "$heapprof" run -q --rate=1 "$fake" hello exec hello record=22
    [ "$(echo *)" = heap.prof ]
    [ "$(totals heap.prof | sed -n 2p)" = "alloc_space 22" ]
}

@test "the last image that was profiled counts when the next one says nothing" {
    "$heapprof" run -q --rate=1 "$fake" hello record=11 exec exit=0
    [ "$(totals heap.prof | sed -n 2p)" = "alloc_space 11" ]
}

@test "a forked child that takes a slot gets a file with its pid" {
    "$heapprof" run -q --rate=1 "$fake" hello record=11 child claim record=22 end wait
    [ "$(totals heap.prof | sed -n 2p)" = "alloc_space 11" ]
    set -- heap.*.prof
    [ "$#" = 1 ]
    [[ $1 =~ ^heap\.[0-9]+\.prof$ ]]
    [ "$(totals "$1" | sed -n 2p)" = "alloc_space 22" ]
    "$heapprof" top "$1" | grep -q "^pid: $(echo "$1" | tr -dc 0-9)$"
}

@test "a forked child that dies at once is still seen" {
    for _ in 1 2 3 4 5; do
        rm -f heap*
        "$heapprof" run -q --rate=1 "$fake" hello child claim record=22 kill=9 end wait
        set -- heap.*.prof
        [ "$(totals "$1" | sed -n 2p)" = "alloc_space 22" ]
    done
}

@test "a forked child that execs has two images, a child without samples no file" {
    "$heapprof" run -q --rate=1 "$fake" hello \
        child claim record=22 exec hello record=33 end child claim end wait
    set -- heap.*.prof
    [ "$#" = 2 ]
    [ "$(totals heap.*.1.prof | sed -n 2p)" = "alloc_space 22" ]
}

@test "slots are used again: more processes than slots, each with its own numbers" {
    # 16 GiB a slot leave room for four.
    "$heapprof" run -q --rate=1 --max-memory=16G -o '%n.prof' "$fake" hello record=7 \
        child hello record=1 end wait child hello record=2 end wait child hello record=3 end wait \
        child hello record=4 end wait child hello record=5 end wait child hello record=6 end wait
    for n in 1 2 3 4 5 6; do
        [ "$(totals $((n + 1)).prof | sed -n 2p)" = "alloc_space $n" ]
    done
    [ "$(totals 1.prof | sed -n 2p)" = "alloc_space 7" ]
}

@test "when all slots are taken a process stays without profile, and the summary says so" {
    # Each one waits for its child: five at once, and room for four.
    "$heapprof" run --max-memory=16G "$fake" hello child hello child hello child hello \
        child 'hello?' end wait end wait end wait end wait >out.txt 2>err.txt
    [ "$(cat out.txt)" = "status 2" ]
    grep -q 'not profiled  1 process: all 4 slots were taken' err.txt
}

@test "silent clients hold nobody up" {
    run --separate-stderr timeout 20 "$heapprof" run -q --rate=1 "$fake" silent=200 hello record=5
    [ "$status" = 0 ]
    [ "$(totals heap.prof | sed -n 2p)" = "alloc_space 5" ]
}

@test "a runtime of another version is refused, and the line says so" {
    run -0 --separate-stderr "$heapprof" run -q "$fake" old
    [[ $stderr == *"no profile: "*"another version"* ]]
    [ "$(echo *)" = '*' ]
}

@test "random bytes all over the slot give a profile or a clear line, never a crash" {
    for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
        rm -f heap*
        run --separate-stderr "$heapprof" run -q --max-memory=1M "$fake" hello record=5 scribble=$seed
        [ "$status" = 0 ]
        [ -z "$output" ]
        run -0 "$heapprof" top heap.prof
        go tool pprof -top heap.prof >/dev/null 2>err.txt
    done
}

@test "a smashed header means one line and no file" {
    run -0 --separate-stderr "$heapprof" run -q "$fake" hello record=5 smash
    [[ $stderr == *"overwritten the recorded data"* ]]
    [ ! -e heap.prof ]
}

@test "with --no-follow only the command is served, also after its execs" {
    "$heapprof" run -q --rate=1 --no-follow "$fake" hello record=1 \
        child 'hello?' end wait exec hello record=2 >out.txt
    [ "$(cat out.txt)" = "status 1" ]
    [ "$(echo *)" = "heap.1.prof heap.prof out.txt" ]
}

@test "processes that live on are served in the background, which holds nothing of the caller's" {
    mkfifo hold
    # cat ends although the child lives: nobody else has the pipe.
    "$heapprof" run --rate=1 "$fake" hello record=1 \
        child hello record=2 read=hold record=3 end 2>err.txt </dev/null >out.txt 3>&- 4>&-
    grep -q 'still running' err.txt
    [ "$(echo heap*)" = heap.prof ]
    : >hold
    eventually compgen -G 'heap.*.prof'
    [ "$(totals heap.*.prof | sed -n 2p)" = "alloc_space 5" ]
    eventually no_run_folder
}

@test "a forked child that has not recorded anything when the command ends is waited for" {
    mkfifo hold
    "$heapprof" run --rate=1 "$fake" hello record=1 child read=hold claim record=2 end \
        2>err.txt </dev/null >out.txt 3>&- 4>&-
    : >hold
    eventually compgen -G 'heap.*.prof'
    [ "$(totals heap.*.prof | sed -n 2p)" = "alloc_space 2" ]
    eventually no_run_folder
}

@test "a background collector asked to end writes what there is" {
    mkfifo hold
    "$heapprof" run -q --rate=1 "$fake" hello child hello record=2 read=hold end \
        </dev/null >out.txt 2>err.txt 3>&- 4>&-
    local collector
    collector=$(pgrep -f -o -- "^$heapprof run -q --rate=1")
    kill -TERM "$collector"
    eventually compgen -G 'heap.*.prof'
    [ "$(totals heap.*.prof | sed -n 2p)" = "alloc_space 2" ]
    "$heapprof" top heap.*.prof | grep -q 'Type: inuse_space'
    : >hold
    eventually no_run_folder
}

@test "two processes of one name do not overwrite each other's file" {
    "$heapprof" run -q --rate=1 -o '%e.prof' "$fake" hello record=1 child hello record=2 end wait
    set -- fake_runtime*.prof
    [ "$#" = 2 ]
}

@test "a program that is deleted while it runs is still symbolized" {
    cp "$fake" program
    mkfifo hold ready
    "$heapprof" run -q --rate=1 ./program hello record=5 write=ready read=hold </dev/null 3>&- &
    read -r _ <ready || true
    rm program
    : >hold
    wait $!
    "$heapprof" top heap.prof | grep -q ' record$'
}
