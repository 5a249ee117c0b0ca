#!/usr/bin/env bats
# heapprof leaks, and run --leaks: what was still in use, by stack, and what was suppressed.

bats_require_minimum_version 1.5.0
load helper

setup() {
    find_heapprof
    BUILD=${BUILD:-$ROOT/build}
    targets=$BUILD/tests/targets
    cd "$BATS_TEST_TMPDIR" || exit 1
}

# Two stacks that leak, one of them twice, and one that does not; bytes and objects are known.
known() {
    make_profile inuse_objects/count inuse_space/bytes "$@" <<'END'
main;work;make_cache 3 3145728
main;work;make_node 100 2048
main;work;make_node 28 1024
main;work;make_nothing 0 0
END
}

@test "each stack is shown, the largest first, with objects, share and frames from the innermost" {
    run -0 --separate-stderr "$HEAPPROF" leaks "$(known)"
    [ -z "$stderr" ]
    [ "$output" = "app
in use when the profile was taken: 3MB in 131 objects, 2 stacks

3MB in 3 objects, 99.90%
    #0 make_cache src/app.c
    #1 work src/app.c
    #2 main src/app.c

3kB in 128 objects, 0.098%
    #0 make_node src/app.c
    #1 work src/app.c
    #2 main src/app.c" ]
}

@test "errors of the estimates, ages and the rate are shown where the file has them" {
    # A variance of 2^38: two errors of 1 MiB a stack. An age of 300 s, for 3, 100 and 28 objects.
    run -0 "$HEAPPROF" leaks "$(known --default=peak_space --period=524288 '--comment=# rate 524288' \
        '--comment=pid: 42' --extra=101:274877906944 --extra=115:300e9)"
    [ "${lines[0]}" = "app, pid 42" ]
    [ "${lines[1]}" = "live at exit: 3MB ± 1.73MB in 131 objects, 2 stacks" ]
    [ "${lines[2]}" = "one sample in 512kB: estimates; smaller leaks may be missing (--rate=1 finds all)" ]
    [ "${lines[3]}" = "3MB ± 1MB in 3 objects, 99.90%, mean age 100s" ]
    [ "${lines[7]}" = "3kB ± 1448.15kB in 128 objects, 0.098%, mean age 4.69s" ]
}

@test "a profile of a running program is not said to be of its end" {
    run -0 "$HEAPPROF" leaks "$(known --default=inuse_space '--comment=# rate 524288')"
    [ "${lines[1]}" = "in use while the program was running: 3MB in 131 objects, 2 stacks" ]
    [[ $output != *exit* ]]
}

@test "-n, --min and --frames leave out, and what is left out is told" {
    run -0 "$HEAPPROF" leaks -n 1 "$(known)"
    [[ $output == *make_cache* && $output != *make_node* ]]
    [ "${lines[-1]}" = "not shown: 3kB in 128 objects, 1 stack" ]
    run -0 "$HEAPPROF" leaks --min=4K "$(known)"
    [[ $output == *make_cache* && $output != *make_node* ]]
    [ "${lines[-1]}" = "not shown: 3kB in 128 objects, 1 stack" ]
    run -0 "$HEAPPROF" leaks --min=3K "$(known)"
    [[ $output == *make_cache* && $output == *make_node* && $output != *"not shown"* ]]
    run -0 "$HEAPPROF" leaks --frames=1 "$(known)"
    [ "${lines[3]}" = "    #0 make_cache src/app.c" ]
    [ "${lines[4]}" = "    and 2 more frames" ]
    many=$(for i in $(seq 30); do echo "main;f$i $((1000 + i))"; done | make_profile inuse_space/bytes)
    run -0 "$HEAPPROF" leaks "$many"
    [ "$(grep -c '#0' <<<"$output")" -eq 20 ]
    [ "${lines[-1]}" = "not shown: 9.82kB, 10 stacks" ]
    run -0 "$HEAPPROF" leaks -n0 "$many"
    [ "$(grep -c '#0' <<<"$output")" -eq 30 ]
    deep=$(echo "$(seq -s ';' 40) 8" | make_profile inuse_space/bytes)
    run -0 "$HEAPPROF" leaks "$deep"
    [ "${lines[-1]}" = "    and 8 more frames" ]
    run -0 "$HEAPPROF" leaks --frames=0 "$deep"
    [[ ${lines[-1]} == "    #39 1 "* ]]
}

@test "suppressions leave out by function, source or module, and are accounted for" {
    printf '# known\nleak:make_c*che$\nleak:^nothing\n' >some.supp
    run -0 "$HEAPPROF" leaks --suppressions some.supp "$(known)"
    [ "$output" = "app
in use when the profile was taken: 3kB in 128 objects, 1 stack; suppressed: 3MB in 3 objects, 1 stack

3kB in 128 objects, 100%
    #0 make_node src/app.c
    #1 work src/app.c
    #2 main src/app.c

suppressions used:
    leak:make_c*che\$  3MB in 3 objects, 1 stack

suppressions that matched nothing:
    some.supp:3: leak:^nothing" ]
    for pattern in src/app.c ^/usr/bin/app$ _work; do
        echo "leak:$pattern" >all.supp
        run -0 "$HEAPPROF" leaks --suppressions=all.supp --fail-above=0 "$(known)"
        [[ ${lines[1]} == *": nothing; suppressed: 3MB in 131 objects, 2 stacks" ]]
        [[ $output != *"#0"* ]]
    done
}

@test "suppressions that cannot be understood are one line that names file and line" {
    printf 'leak:a\n\nrace:b\n' >bad.supp
    known=$(known)
    fails_with 1 "heapprof: bad.supp:3: not of the form leak:PATTERN" \
        "$HEAPPROF" leaks --suppressions bad.supp "$known"
    fails_with 1 "heapprof: bad.supp:3: not of the form leak:PATTERN" \
        "$HEAPPROF" run --leaks --suppressions bad.supp touch started
    [ ! -e started ]
    fails_with 1 "heapprof: none.supp: *No such file*" "$HEAPPROF" leaks --suppressions none.supp "$known"
    run -0 "$HEAPPROF" leaks --suppressions /dev/null "$known"
    [[ ${lines[1]} == *"2 stacks; suppressed: nothing" ]]
}

@test "--fail-above is status 3 for more, and more only, and 0 is for anything" {
    known=$(known)
    run -3 "$HEAPPROF" leaks --fail-above 3M "$known"
    [[ $output == *make_cache* ]]
    run -0 "$HEAPPROF" leaks --fail-above $((3145728 + 3072)) "$known"
    run -3 "$HEAPPROF" leaks --fail-above $((3145728 + 3071)) "$known"
    run -3 "$HEAPPROF" leaks --fail-above 0 "$known"
    run -3 "$HEAPPROF" leaks --fail-above 0 "$(make_profile inuse_objects/count inuse_space/bytes <<<"main 1 0")"
    empty=$(make_profile inuse_objects/count inuse_space/bytes </dev/null)
    run -0 "$HEAPPROF" leaks --fail-above 0 "$empty"
    [ "${lines[1]}" = "in use when the profile was taken: nothing" ]
}

@test "a profile of something else is refused in one line" {
    known=$(make_profile samples/count cpu/nanoseconds <<<"main 1 10")
    fails_with 1 "heapprof: $known: no sample type 'inuse_space'; it has samples, cpu" "$HEAPPROF" leaks "$known"
}

@test "the leaks of a run at --rate=1 are the program's own" {
    run -0 "$HEAPPROF" run -q --rate=1 "$targets/known_sites"
    run -0 "$HEAPPROF" leaks heap.prof
    [[ ${lines[0]} == "known_sites, pid "* ]]
    [ "${lines[1]}" = "live at exit: 12.25kB in 166 objects, 8 stacks" ]
    [[ ${lines[2]} == "4.88kB in 5 objects, 39.85%"* ]]
    [[ ${lines[3]} == "    #0 free_half "*"/known_sites.c:"* ]]
    [[ ${lines[4]} == "    #1 main "*"/known_sites.c:"* ]]
    [ "$(grep -A1 ' objects\?, ' <<<"$output" | grep -o '#0 [a-z_]*' | cut -c4- | paste -sd ' ')" = \
        "free_half keep_late keep_small keep_aligned keep_aligned keep_aligned grow_by_realloc keep_empty" ]
}

@test "run --leaks tells at the end what the command has left" {
    run -0 --separate-stderr "$HEAPPROF" run --leaks --rate=1 "$targets/known_sites"
    [ -z "$output" ]
    [[ $stderr == *"wrote "*"heap.prof"*"live at exit: 12.25kB in 166 objects, 8 stacks"*"#0 free_half "* ]]
    "$HEAPPROF" leaks heap.prof >alone.txt
    grep -qxF "$(sed -n 2p alone.txt)" <<<"$stderr"
    [ "$(tail -n 20 <<<"$stderr")" = "$(tail -n 20 alone.txt)" ]
}

@test "run --leaks works wherever the profile goes" {
    run -0 --separate-stderr sh -c '"$0" run -q --leaks --rate=1 -o - "$1" >piped.prof' "$HEAPPROF" "$targets/known_sites"
    [[ $stderr == *"live at exit: 12.25kB in 166 objects, 8 stacks"* ]]
    run -0 "$HEAPPROF" leaks piped.prof
    [[ $output == *"live at exit: 12.25kB in 166 objects, 8 stacks"* ]]
    run -0 --separate-stderr "$HEAPPROF" run -q --leaks --rate=1 --no-symbolize -o /dev/null "$targets/known_sites"
    [[ $stderr == *"live at exit: 12.25kB in 166 objects, 8 stacks"*"#0 known_sites+0x"* ]]
}

@test "run --leaks --fail-above is status 3, but a failure of the command is its own" {
    printf 'leak:keep_\nleak:grow_by_realloc\n' >some.supp
    run -3 "$HEAPPROF" run -q --leaks --rate=1 --fail-above=12545 "$targets/known_sites"
    run -0 "$HEAPPROF" run -q --leaks --rate=1 --fail-above=12546 "$targets/known_sites"
    run -3 "$HEAPPROF" run -q --leaks --rate=1 --fail-above=4999 --suppressions=some.supp "$targets/known_sites"
    run -0 "$HEAPPROF" run -q --leaks --rate=1 --fail-above=5000 --suppressions=some.supp "$targets/known_sites"
    [[ $output == *"live at exit: 4.88kB in 5 objects, 1 stack; suppressed: 7.37kB in 161 objects, 7 stacks"* ]]
    run -143 "$HEAPPROF" run -q --leaks --rate=1 --fail-above=0 "$targets/known_sites" 15
    run -5 "$HEAPPROF" run -q --leaks --rate=1 --fail-above=0 sh -c "'$targets/known_sites'; exit 5"
}

@test "where there is no profile --fail-above is no success" {
    printf '#include <stdlib.h>\nint main(void) { return malloc(5) == 0; }\n' >plain.c
    gcc -static -o static plain.c
    run -1 --separate-stderr "$HEAPPROF" run -q --leaks --fail-above=0 ./static
    [ "${stderr_lines[1]}" = "heapprof: --leaks: without a profile there is nothing to tell" ]
    run -0 --separate-stderr "$HEAPPROF" run -q --leaks ./static
}

@test "run --leaks says that child processes are not looked at" {
    run -0 --separate-stderr "$HEAPPROF" run -q --leaks --rate=1 sh -c "'$targets/known_sites'; true"
    [[ ${stderr_lines[-1]} == "not looked at: a child process; see heapprof leaks heap."*".prof" ]]
    [ -e "${stderr_lines[-1]##* }" ]
    run -0 "$HEAPPROF" leaks "${stderr_lines[-1]##* }"
    [[ $output == *"live at exit: 12.25kB in 166 objects, 8 stacks"* ]]
}

@test "options of run that need --leaks, or do not go with it, are one line and status 2" {
    fails_with 2 "heapprof: --fail-above: only together with --leaks" "$HEAPPROF" run --fail-above=0 true
    fails_with 2 "heapprof: --suppressions: only together with --leaks" "$HEAPPROF" run --suppressions=x true
    fails_with 2 "heapprof: --leaks: only with --format=pprof*" "$HEAPPROF" run --leaks --format=svg true
    fails_with 2 "heapprof: --leaks: only with --format=pprof*" "$HEAPPROF" run --leaks --format=folded true
    run -0 "$HEAPPROF" run -q --leaks --format=pprof true
}

@test "names cannot command the terminal" {
    hostile=$(make_profile inuse_space/bytes --comment='pid: 1'$'\e''[2J' <<'END'
main\n#1 x;evil\x1b[2J\u202e 10
END
    )
    printf 'leak:no\e[2J\n' >some.supp
    run -0 "$HEAPPROF" leaks --suppressions some.supp "$hostile"
    [[ $output == *'#0 evil\x1b[2J\u202e'* && $output == *'#1 main\n#1 x'* && $output == *'pid 1\x1b[2J'* ]]
    [[ $output == *'leak:no\x1b[2J'* ]]
    [ "$(tr -d '\n' <<<"$output" | LC_ALL=C grep -c '[[:cntrl:]]')" -eq 0 ]
}

@test "heap profiles of Go programs are read" {
    need_corpus
    run -0 "$HEAPPROF" leaks -n0 "$CORPUS/dd-trace-go/heap.pprof"
    [[ ${lines[*]} == *"in use when the profile was taken: 3.50MB in "* ]]
    total=$("$HEAPPROF" fold --sample-type inuse_objects "$CORPUS/dd-trace-go/heap.pprof" | awk '{ n += $NF } END { print n }')
    [[ $output == *" in $total objects, "* ]]
}

@test "output that cannot be written is a failure" {
    run -1 to_full_disk "$HEAPPROF" leaks "$(known)"
    [ "$output" = "heapprof: standard output: cannot write: No space left on device" ]
}
