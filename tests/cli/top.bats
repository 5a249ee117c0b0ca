#!/usr/bin/env bats
# heapprof top: what the table says, to the character as `go tool pprof -top` does.

bats_require_minimum_version 1.5.0
load helper

# The comparisons with pprof run it some hundred times.
export BATS_TEST_TIMEOUT=600

setup() {
    find_heapprof
}

# The columns of functions: what follows the line of column names.
rows() {
    sed '1,/^ *flat  flat%/d'
}

# all_identical LEAST LINE: LINE is "N of N reports are identical; ...", with N at least LEAST.
all_identical() {
    echo "$2"
    [[ $2 =~ ^([0-9]+)" of "([0-9]+)" reports are identical" ]]
    ((BASH_REMATCH[1] == BASH_REMATCH[2] && BASH_REMATCH[1] >= $1))
}

@test "the table has a header, totals and a row for each function, the largest first" {
    known=$(make_profile alloc_objects/count inuse_space/bytes <<'END'
main;app::parse;malloc 10 6291456
main;render;std::vector::push_back 5 3145728
main;render 1 1048576
END
    )
    run -0 "$HEAPPROF" top "$known"
    [ "$output" = "File: app
Type: inuse_space
Showing nodes accounting for 10MB, 100% of 10MB total
      flat  flat%   sum%        cum   cum%
       6MB 60.00% 60.00%        6MB 60.00%  malloc
       3MB 30.00% 90.00%        3MB 30.00%  std::vector::push_back
       1MB 10.00%   100%        4MB 40.00%  render
         0     0%   100%        6MB 60.00%  app::parse
         0     0%   100%       10MB   100%  main" ]
}

@test "--sample-type picks other values, by name or number, in their own unit" {
    known=$(make_profile alloc_objects/count inuse_space/bytes cpu/nanoseconds <<<"main;f 12 1024 1500000")
    run -0 "$HEAPPROF" top --sample-type alloc_objects "$known"
    [[ $output == *"Type: alloc_objects"*"        12   100%   100%         12   100%  f"* ]]
    run -0 "$HEAPPROF" top --sample-type=2 "$known"
    [[ $output == *"Type: cpu"*"    1.50ms   100%   100%     1.50ms   100%  f"* ]]
    run -0 "$HEAPPROF" top "$known" --sample-type inuse_space
    [[ $output == *"       1kB   100%   100%        1kB   100%  f"* ]]
}

@test "-n limits the rows and says so, 0 shows all" {
    known=$(for i in $(seq 40); do echo "main;f$i $((1000 + i))"; done | make_profile space/bytes)
    run -0 "$HEAPPROF" top -n 3 "$known"
    [[ $output == *"Showing top 3 nodes out of 41"* ]]
    [ "$(rows <<<"$output" | wc -l)" -eq 3 ]
    run -0 "$HEAPPROF" top "$known"
    [ "$(rows <<<"$output" | wc -l)" -eq 30 ]
    run -0 "$HEAPPROF" top -n0 "$known"
    [[ $output != *"Showing top"* ]]
    [ "$(rows <<<"$output" | wc -l)" -eq 41 ]
}

@test "--node-fraction leaves out what is small and says how much" {
    known=$(make_profile space/bytes <<'END'
main;large 9900
main;small 99
main;tiny 1
END
    )
    run -0 "$HEAPPROF" top "$known"
    [[ $output == *"Dropped 1 node (cum <= 0.05kB)"* && $output == *small* && $output != *tiny* ]]
    run -0 "$HEAPPROF" top --node-fraction=0.02 "$known"
    [[ $output == *"Dropped 2 nodes (cum <= 0.20kB)"* && $output != *small* ]]
    run -0 "$HEAPPROF" top --node-fraction=0 "$known"
    [[ $output != *Dropped* && $output == *tiny* ]]
}

@test "--cum sorts by what a function and all it calls account for" {
    known=$(make_profile space/bytes <<<"main;f;g 10")
    run -0 "$HEAPPROF" top --cum "$known"
    [ "$(rows <<<"$output" | awk '{ print $NF }' | paste -sd ' ')" = "f g main" ]
    known=$(printf 'main;f;g 10\nmain 1\n' | make_profile space/bytes)
    run -0 "$HEAPPROF" top --cum "$known"
    [ "$(rows <<<"$output" | awk '{ print $NF }' | paste -sd ' ')" = "main f g" ]
}

@test "--lines names file and line" {
    run -0 "$HEAPPROF" top --lines "$(make_profile space/bytes <<<"main;f 10")"
    [[ $output == *"  f src/app.c"* ]]
}

@test "inlined functions are labelled" {
    known=$(printf 'main > step;f 10\nmain > step 1\nstep 1\nmain;f > g 5\nmain;g 5\n' | make_profile space/bytes)
    run -0 "$HEAPPROF" top "$known"
    [[ $output == *"step (inline)"* && $output == *"g (partial-inline)"* && $output != *"f ("* ]]
}

@test "names cannot command the terminal, and rows stay rows" {
    hostile=$(make_profile space/bytes <<'END'
main\n     666MB;evil\x1b[2J\u202e\x9b 10
END
    )
    run -0 "$HEAPPROF" top "$hostile"
    [[ $output == *'  evil\x1b[2J\u202e\x9b'* && $output == *'  main\n     666MB'* ]]
    [ "$(rows <<<"$output" | wc -l)" -eq 2 ]
    [ "$(tr -d '\n' <<<"$output" | LC_ALL=C grep -c '[[:cntrl:]]')" -eq 0 ]
}

@test "a profile without samples is an empty table" {
    run -0 "$HEAPPROF" top "$(make_profile space/bytes </dev/null)"
    [[ $output == *"Showing nodes accounting for 0, 0% of 0 total"* ]]
    [ -z "$(rows <<<"$output")" ]
}

@test "a profile is read from a pipe" {
    known=$(make_profile space/bytes <<<"main;f 10")
    run -0 "$HEAPPROF" top - <"$known"
    [[ $output == *"  f"* ]]
    run -0 "$HEAPPROF" top <(cat "$known")
    [[ $output == *"  f"* ]]
}

@test "bad input is one line that names the file and the reason" {
    cd "$BATS_TEST_TMPDIR" || return 1
    known=$(make_profile space/bytes <<<"main;f 10")
    head -c 60 "$known" >cut.prof
    : >empty.prof
    echo "just text" >text.prof
    head -c 300 /dev/zero >zeros.prof
    mkdir folder
    for command in top fold; do
        fails_with 1 "heapprof: none.prof: *No such file*" "$HEAPPROF" $command none.prof
        fails_with 1 "heapprof: cut.prof: *" "$HEAPPROF" $command cut.prof
        fails_with 1 "heapprof: empty.prof: *empty*" "$HEAPPROF" $command empty.prof
        fails_with 1 "heapprof: text.prof: *" "$HEAPPROF" $command text.prof
        fails_with 1 "heapprof: zeros.prof: *" "$HEAPPROF" $command zeros.prof
        fails_with 1 "heapprof: folder: *directory*" "$HEAPPROF" $command folder
    done
}

@test "a sample type that the profile does not have is refused with those it has" {
    known=$(make_profile alloc_space/bytes inuse_space/bytes <<<"main;f 10 5")
    fails_with 1 "heapprof: $known: no sample type 'peak'; it has alloc_space, inuse_space" \
        "$HEAPPROF" top --sample-type peak "$known"
    fails_with 1 "heapprof: $known: no sample type '2'; *" "$HEAPPROF" top --sample-type 2 "$known"
}

@test "output that cannot be written is a failure" {
    known=$(make_profile space/bytes <<<"main;f 10")
    run -1 to_full_disk "$HEAPPROF" top "$known"
    [ "$output" = "heapprof: standard output: cannot write: No space left on device" ]
    run -1 to_closed "$HEAPPROF" top "$known"
    [ "$output" = "heapprof: standard output: cannot write: Bad file descriptor" ]
}

@test "a reader that has seen enough ends it quietly" {
    known=$(for i in $(seq 20000); do echo "main;f$i 10"; done | make_profile space/bytes)
    first_line() {
        env --default-signal=PIPE "$HEAPPROF" top -n0 --node-fraction=0 "$known" | head -n 1
        echo "${PIPESTATUS[0]}"
    }
    run -0 --separate-stderr first_line
    [ "$output" = "File: app
141" ]
    [ -z "$stderr" ]
}

@test "the times of a profile are shown in local time" {
    need_corpus
    TZ=America/New_York run -0 "$HEAPPROF" top "$CORPUS/dd-trace-go/heap.pprof"
    [[ $output == *"Time: Sep 8, 2022 at 12:49pm (EDT)"* ]]
}

@test "random profiles give what go tool pprof gives" {
    run -0 python3 -B "$ROOT/tests/cli/top_oracle.py" "$HEAPPROF" --random 0 60
    all_identical 300 "${lines[-1]}"
}

@test "profiles of other projects give what go tool pprof gives" {
    need_corpus
    mapfile -t files < <(find "$CORPUS" -type f -not -name '*.md' -not -path '*/dd-trace-go/*' \
        -not -path '*/src/*' -not -path '*/elf/*' | sort)
    run -0 python3 -B "$ROOT/tests/cli/top_oracle.py" "$HEAPPROF" "${files[@]}"
    all_identical 180 "${lines[-1]}"
}

@test "large heap profiles of Go programs give what go tool pprof gives" {
    need_corpus
    run -0 python3 -B "$ROOT/tests/cli/top_oracle.py" "$HEAPPROF" "$CORPUS"/dd-trace-go/*.pprof
    all_identical 100 "${lines[-1]}"
}
