#!/usr/bin/env bats
# heapprof info: what a profile says about itself, on a terminal and elsewhere.

bats_require_minimum_version 1.5.0
load helper

setup() {
    find_heapprof
    BUILD=${BUILD:-$ROOT/build}
    export TZ=UTC LC_ALL=C.UTF-8
    unset COLUMNS
    cd "$BATS_TEST_TMPDIR" || exit 1
}

# A profile of two stacks, one of them with two labels' worth of samples, and what comments say.
known() {
    make_profile inuse_objects/count inuse_space/bytes peak_space/bytes "$@" <<'END'
main;work;make_cache 3 3145728 4194304
main;work;make_node 100 2048 2048
main;work;make_node 28 1024 1024
END
}

SIZES='# sizes 0:3:0 1:8:16 3:2:16 5:4:128'
TIMELINE='# timeline live allocated rss 0:0:0:1048576 100:1048576:2097152:2097152 200:4194304:10485760:0 400:2097152:10485760:4194304'

on_terminal() {
    python3 -B "$ROOT/tests/cli/on_terminal.py" "$@"
}

@test "the facts of the program, the run and the figures, and what was lost" {
    known=$(known --default=peak_space --period=524288 '--comment=heapprof 1.2.3' \
        '--comment=command: ./app -x' '--comment=pid: 42' '--comment=# rate 524288' \
        '--comment=# seed 18446744073709551615' '--comment=# samples 99' '--comment=# fork 3' \
        '--comment=# peak_after_ns 1500000000' '--comment=# loss depth_cut 12 0' \
        '--comment=# loss range_full 3 4096' '--comment=# damaged_stacks 2' \
        --extra=101:274877906944)
    run -0 --separate-stderr "$HEAPPROF" info "$known"
    [ -z "$stderr" ]
    [ "$output" = "file          $known
program       /usr/bin/app
command       ./app -x
pid           42
written by    heapprof 1.2.3
taken         at the end of the program
rate          one sample in 512kB
seed          18446744073709551615
fork          3, counted among the run's forked children
peak          after 1.50s
totals        inuse_objects  131
              inuse_space    3MB ± 1.73MB
              peak_space     4MB (shown by default)
samples       99
stacks        2, with their labels 3
locations     4
functions     4
mappings      1, 0 with a build id
lost          12 stacks cut at the depth limit
              3 not sampled: no room in the sampled range (4kB)
              2 stacks that the program has overwritten in part" ]
}

@test "the facts of a real run are those of the program" {
    run -0 "$HEAPPROF" run -q --rate=1 --seed=7 "$BUILD/tests/targets/known_sites"
    run -0 "$HEAPPROF" info -v heap.prof
    build_id=$(readelf -n "$BUILD/tests/targets/known_sites" | awk '/Build ID/ { print $NF }')
    [[ $output == *"program       $BUILD/tests/targets/known_sites"* ]]
    [[ $output == *"build id      $build_id"* ]]
    [[ $output == *"started       20"*"-"*" UTC"*"duration      "* ]]
    [[ $output == *"taken         at the end of the program"*"rate          1: every allocation"* ]]
    [[ $output == *"seed          7"* ]]
    [[ $output == *"alloc_objects  174
              alloc_space    1.02MB
              inuse_objects  166
              inuse_space    12.25kB
"* ]]
    [[ $output == *"samples       174"*" with a build id"*"-"*" $BUILD/tests/targets/known_sites build id $build_id"* ]]
    [[ $output == *"-"*" /"*"/libc.so.6"* ]]
    [[ $output == *"comments      # rate 1"* && $output != *"lost "* ]]
    run -0 "$HEAPPROF" info heap.prof
    [[ $output != *"libc.so.6"* && $output != *"# rate"* ]]
}

@test "profiles of other tools say less, and what they say is shown" {
    need_corpus
    run -0 "$HEAPPROF" info "$CORPUS/dd-trace-go/heap.pprof"
    [ "$output" = "file          $CORPUS/dd-trace-go/heap.pprof
started       2022-09-08 16:49:45 UTC
period        512kB of space
totals        alloc_objects  12093902
              alloc_space    1.46GB (shown by default)
              inuse_objects  27657
              inuse_space    3.50MB
stacks        252, with their labels 497
locations     216
functions     135
mappings      1, 0 with a build id" ]
    known=$(known '--comment=made by hand' --comment=again)
    run -0 "$HEAPPROF" info "$known"
    [ "${lines[-2]}" = "comments      made by hand" ]
    [ "${lines[-1]}" = "              again" ]
}

@test "sizes are a row each class from the first to the last, with bars for objects and bytes" {
    known=$(known "--comment=$SIZES")
    run -0 "$HEAPPROF" info "$known"
    bar=$(printf '█%.0s' $(seq 23))
    [ "$(sed -n '/^sizes/,$p' <<<"$output")" = "sizes of what was allocated
   up to  objects       bytes  objects                  bytes
      1B        3           0  ${bar:0:8}▋
      2B        8         16B  $bar  ██▉
      4B        0           0
      8B        2         16B  █████▊                   ██▉
     16B        0           0
     32B        4        128B  ███████████▌             $bar" ]
    LC_ALL=C run -0 "$HEAPPROF" info "$known"
    [[ $output == *"      2B        8         16B  #######################  ###"$'\n'* ]]
    [ "$(LC_ALL=C tr -d '\n -~' <<<"$output")" = "" ]
}

@test "where there is no terminal, memory over time is a table" {
    known=$(known "--comment=$TIMELINE")
    run -0 "$HEAPPROF" info "$known"
    [ "$(sed -n '/^memory/,$p' <<<"$output")" = "memory over time
      time     in use  allocated   per second        RSS
         0          0          0            0        1MB
     100ms        1MB        2MB       20MB/s        2MB  █████▌
     200ms        4MB       10MB       80MB/s          -  ██████████████████████
     400ms        2MB       10MB            0        4MB  ███████████" ]
    [ "$(wc -L <<<"$output")" -le 80 ]
    table=$output
    COLUMNS=200 run -0 "$HEAPPROF" info "$known"
    [ "$output" = "$table" ]
}

@test "a long table is summed up, by the most in use, and -v shows every point" {
    points=$(for ((i = 0; i < 400; i++)); do echo " $((i * 10)):$((i == 123 ? 7340032 : 1024)):$((i * 1024)):1"; done | tr -d '\n')
    known=$(known "--comment=# timeline live allocated rss$points")
    run -0 "$HEAPPROF" info "$known"
    [ "$(sed '1,/RSS$/d' <<<"$output" | wc -l)" -eq 40 ]
    grep -q '^     1.29s  *7MB  *129kB  *100kB/s' <<<"$output"
    run -0 "$HEAPPROF" info -v "$known"
    [ "$(sed '1,/RSS$/d' <<<"$output" | grep -c 'B/s\|^ *0 ')" -eq 400 ]
}

@test "on a terminal, memory over time is a picture as wide as the terminal" {
    known=$(known "--comment=$SIZES" "--comment=$TIMELINE")
    run -0 on_terminal 46 "$HEAPPROF" info "$known"
    [ "$(sed -n '/^memory/,$p' <<<"$output")" = "memory over time
              in use
         4MB |                ███████████████
             |                ███████████████
             |                ███████████████
             |                ████████████████
             |        ▄▄▄▄▄▄▄▄████████████████
           0 |        ████████████████████████
              allocated per second
      80MB/s |        ████████
             |        ████████
           0 |▆▆▆▆▆▆▆▆████████
              RSS
         4MB |                               █
             |        ▄▄▄▄▄▄▄▄               █
           0 |▆▆▆▆▆▆▆▆████████               █
              0                          400ms" ]
    for columns in 80 200; do
        run -0 on_terminal $columns "$HEAPPROF" info "$known"
        [ "$(wc -L <<<"$output")" -le $columns ]
        [ "$(grep -c ' |' <<<"$output")" -eq 12 ]
        [[ ${lines[-1]} == "              0"*" 400ms" && ${#lines[-1]} -eq $columns ]]
        grep -q '^         4MB | *█*$' <<<"$output"
    done
    COLUMNS=100 run -0 on_terminal 80 "$HEAPPROF" info "$known"
    [ "${#lines[-1]}" -eq 100 ]
    LC_ALL=C run -0 on_terminal 80 "$HEAPPROF" info "$known"
    [[ $output == *" |"*"##"* ]]
    [ "$(LC_ALL=C tr -d '\n -~' <<<"$output")" = "" ]
}

@test "comments that are damaged are told, or left out, and never taken for figures" {
    for comment in '# sizes x' '# sizes 1:2' '# sizes 99:1:1' '# timeline live 5:1 4:1' \
        '# timeline' '# timeline live 18446744073709551616:1'; do
        known=$(known "--comment=$comment")
        run -0 "$HEAPPROF" info "$known"
        [ "${lines[-1]}" = "  damaged: cannot be read" ]
    done
    for comment in '# sizes' '# sizes ' '# timeline live allocated rss' '# loss' '# loss ' \
        '# loss depth_cut' '# loss depth_cut x 0' '# loss depth_cut 1 18446744073709551616' \
        '# loss depth_cut -1 0' '# loss depth_cut 1 0 0' '# rate' '# rate -1' '# rate 1x' \
        '# seed 99999999999999999999' '# samples' '# damaged_stacks x' '# peak_after_ns 0' 'command: ' 'pid: ' '#'; do
        known=$(known "--comment=$comment")
        run -0 "$HEAPPROF" info "$known"
        [ "${lines[-1]}" = "mappings      1, 0 with a build id" ]
    done
}

@test "the largest numbers that comments can hold are shown" {
    most=18446744073709551615
    known=$(known "--comment=# sizes 0:$most:$most 64:$most:$most" "--comment=# rate $most" \
        "--comment=# loss depth_cut $most $most" "--comment=# loss later_reason $most $most" \
        "--comment=# peak_after_ns $most" "--comment=# samples $most" "--comment=# fork $most" \
        "--comment=# timeline live allocated rss 0:0:0:0 $most:$most:$most:$most $most:$most:$most:$most")
    for way in "" "on_terminal 80" "on_terminal 1"; do
        run -0 $way "$HEAPPROF" info "$known"
        [[ $output == *"samples       $most"*"$most later_reason"*" 16384PB "*"memory over time"* ]]
    done
}

@test "names and comments cannot command the terminal" {
    evil=$'\e[2J\n\xe2\x80\xae'
    known=$(make_profile "inuse_space$evil/by$evil" "--comment=$evil" "--comment=command: $evil" \
        "--comment=pid: $evil" "--comment=heapprof $evil" "--comment=# loss a$evil 1 1" \
        "--comment=# $evil" "--default=$evil" --period=5 <<<"main 1")
    run -0 "$HEAPPROF" info -v "$known"
    [[ $output == *'command       \x1b[2J\n\u202e'* && $output == *'inuse_space\x1b[2J\n\u202e'* ]]
    [[ $output == *'1 a?[2J????'* ]]
    [ "$(tr -d '\n' <<<"$output" | LC_ALL=C grep -c '[[:cntrl:]]')" -eq 0 ]
}

@test "bad input is one line that names the file and the reason" {
    head -c 60 "$(known)" >cut.prof
    : >empty.prof
    fails_with 1 "heapprof: none.prof: *No such file*" "$HEAPPROF" info none.prof
    fails_with 1 "heapprof: cut.prof: *" "$HEAPPROF" info cut.prof
    fails_with 1 "heapprof: empty.prof: *empty*" "$HEAPPROF" info empty.prof
    run -1 to_full_disk "$HEAPPROF" info "$(known)"
    [ "$output" = "heapprof: standard output: cannot write: No space left on device" ]
}

@test "a profile is read from a pipe" {
    run -0 "$HEAPPROF" info - <"$(known)"
    [ "${lines[0]}" = "file          standard input" ]
}
