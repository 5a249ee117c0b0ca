#!/usr/bin/env bats
# heapprof top: what the table says, with --error=never to the character as `go tool pprof -top`
# does, and the views that pprof does not have.

bats_require_minimum_version 1.5.0
load helper

# The comparisons with pprof run it some hundred times.
export BATS_TEST_TIMEOUT=600

setup() {
    find_heapprof
}

# The columns of functions: what follows the line of column names.
rows() {
    sed '1,/^ *flat .*flat%/d'
}

# A profile with errors: two functions of many samples, one of few, one without any.
sampled_profile() {
    make_profile alloc_objects/count alloc_space/bytes <<'END'
main;run;parse;xmalloc 20000 52953088 | alloc_space_variance=17156177526784 alloc_objects_variance=1000000 alloc_samples=101
main;run;cache 500 30000000 | alloc_space_variance=15728640000000 alloc_objects_variance=1000 alloc_samples=58
main;leak 300 700000 | alloc_space_variance=367001600000 alloc_objects_variance=300 alloc_samples=2
main;run;parse;run;tmp 9 9000000 | alloc_space_variance=1500000000000 alloc_objects_variance=2 alloc_samples=17
END
}

# A profile with lifetimes, ages and threads.
lifetimes_profile() {
    make_profile alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes "$@" <<'END'
main;run;parse;xmalloc 20000 52953088 100 2953088 | freed_objects=19900.4 lifetime_sum=3980000000 lifetime_min=800 lifetime_max=3000000000 temporary_objects=19000.2 age_sum=20000000000 @thread=main @tid=4211/ @size=96/bytes
main;run;cache 500 30000000 480 28800000 | freed_objects=20 lifetime_sum=40000000000 lifetime_min=1000000000 lifetime_max=3000000000 foreign_objects=15 age_sum=2400000000000 @thread=worker @tid=4212/ @size=1152/bytes
main;leak 300 700000 300 700000 | age_sum=1500000000000 @thread=worker @tid=4213/ @size=1536/bytes
main;other 2000 5000000 0 0 | freed_objects=2000 lifetime_sum=2000000 lifetime_min=1000 lifetime_max=1000 temporary_objects=2000 foreign_objects=2000
END
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

@test "each figure has two standard errors behind it, and > where fewer than 10 samples stand behind" {
    run -0 "$HEAPPROF" top --sample-type=alloc_space "$(sampled_profile)"
    [ "$output" = "File: app
Type: alloc_space
Showing nodes accounting for 88.36MB, 100% of 88.36MB total
± is two standard errors; of the total it is 11.24MB
> marks a lower bound: the figure rests on fewer than 10 samples
      flat       ±  flat%   sum%        cum       ±   cum%
   50.50MB  7.90MB 57.15% 57.15%    50.50MB  7.90MB 57.15%  xmalloc
   28.61MB  7.56MB 32.38% 89.53%    28.61MB  7.56MB 32.38%  cache
    8.58MB  2.34MB  9.71% 99.24%     8.58MB  2.34MB  9.71%  tmp
    0.67MB >1.16MB  0.76%   100%     0.67MB >1.16MB  0.76%  leak
         0       0     0%   100%    88.36MB 11.24MB   100%  main
         0       0     0%   100%    59.08MB  8.24MB 66.87%  parse
         0       0     0%   100%    87.69MB 11.18MB 99.24%  run" ]
}

@test "the error of objects is in objects" {
    run -0 "$HEAPPROF" top --sample-type=alloc_objects --node-fraction=0.02 "$(sampled_profile)"
    [[ $output != *">"* && $output == *"of the total it is 2001"* ]]
    [[ $output == *"     20000    2000 96.11% 96.11%      20000    2000 96.11%  xmalloc"* ]]
}

@test "--error=never gives pprof's columns" {
    run -0 "$HEAPPROF" top --error=never "$(sampled_profile)"
    [[ $output != *±* && $output != *">"* ]]
    [[ $output == *"      flat  flat%   sum%        cum   cum%
   50.50MB 57.15% 57.15%    50.50MB 57.15%  xmalloc"* ]]
}

@test "--error=auto shows errors of more than 1 %, always shows all" {
    small=$(make_profile alloc_space/bytes <<<"main;f 100000 | alloc_space_variance=250000 alloc_samples=50")
    run -0 "$HEAPPROF" top "$small"
    [[ $output != *±* ]]
    run -0 "$HEAPPROF" top --error=auto "$small"
    [[ $output != *±* ]]
    run -0 "$HEAPPROF" top --error=always "$small"
    [[ $output == *"of the total it is 0.98kB"*"   97.66kB  0.98kB   100%"* ]]
    large=$(make_profile alloc_space/bytes <<<"main;f 100000 | alloc_space_variance=260000 alloc_samples=50")
    run -0 "$HEAPPROF" top "$large"
    [[ $output == *"   97.66kB     1kB   100%"* ]]
}

@test "an error that is nothing in the table's unit has its own" {
    known=$(make_profile alloc_space/bytes <<<"main;f 1000000000000 | alloc_space_variance=1000000 alloc_samples=50")
    run -0 "$HEAPPROF" top --error=always "$known"
    [[ $output == *"  931.32GB  1.95kB   100%"* ]]
}

@test "where every allocation was recorded, errors are 0 and nothing is marked" {
    known=$(make_profile alloc_space/bytes "# rate 1" <<<"main;f 100000 | alloc_samples=1")
    run -0 "$HEAPPROF" top "$known"
    [[ $output != *±* ]]
    run -0 "$HEAPPROF" top --error=always "$known"
    [[ $output == *"± is 0: every allocation was recorded
      flat       ±  flat%   sum%        cum       ±   cum%
   97.66kB       0   100%   100%    97.66kB       0   100%  f"* ]]
}

@test "a file without errors has no columns for them, and always says why" {
    known=$(make_profile alloc_space/bytes cpu/nanoseconds <<<"main;f 100000 5")
    run -0 "$HEAPPROF" top --sample-type=alloc_space "$known"
    [[ $output != *±* ]]
    run -0 "$HEAPPROF" top --error=always --sample-type=alloc_space "$known"
    [[ $output == *"
± is not known: this file carries none of this type
      flat  flat%"* ]]
    run -0 "$HEAPPROF" top --error=always --sample-type=cpu "$known"
    [[ $output == *"± is not known: only bytes and objects of the heap have errors"* ]]
}

@test "differences have the error of both" {
    known=$(make_profile alloc_space/bytes <<'END'
main;f 100000 | alloc_space_variance=90000000 alloc_samples=50
main;f -600000 | alloc_space_variance=160000000 alloc_samples=50
END
    )
    run -0 "$HEAPPROF" top "$known"
    [[ $output == *" -488.28kB 30.88kB   100%"*" -488.28kB 30.88kB   100%  f"* ]]
}

@test "--temporary ranks by what was freed soon, with lifetimes" {
    known=$(lifetimes_profile "# temporary_threshold_ns 2000000")
    run -0 "$HEAPPROF" top --temporary "$known"
    [ "$output" = "File: app
Type: temporary objects, freed within 2ms
Showing nodes accounting for 21000, 100% of 21000 total
   flat  temp%   freed    mean     min     max other%     cum
  19000 95.00%   19900   200us   800ns      3s     0%   19000  xmalloc
   2000   100%    2000     1us     1us     1us   100%    2000  other
      0     0%       0       -       -       -     0%   21000  main
      0     0%       0       -       -       -     0%   19000  parse
      0     0%       0       -       -       -     0%   19000  run" ]
    run -0 "$HEAPPROF" top --temporary "$(lifetimes_profile)"
    [[ $output == *"freed within 1ms"* ]]
}

@test "--temporary with --cum tells the lifetimes of all that a function called" {
    run -0 "$HEAPPROF" top --temporary --cum --lines -n 3 "$(lifetimes_profile)"
    [[ $output == *"Showing top 3 nodes out of 5
    cum  temp%   freed    mean     min     max other%    flat
  21000 92.11%   21920  2.01ms   800ns      3s  9.19%       0  main src/app.c
  19000 95.00%   19900   200us   800ns      3s     0%       0  parse src/app.c
  19000 92.68%   19920  2.21ms   800ns      3s 0.075%       0  run src/app.c" ]]
}

@test "--by-age ranks what is in use by bytes times age" {
    run -0 "$HEAPPROF" top --by-age "$(lifetimes_profile)"
    [ "$output" = "File: app
Type: inuse_space, ranked by bytes times age
Showing nodes accounting for 31692.47kB, 100% of 31692.47kB total
     flat  flat% objects     age        cum   cum% objects     age
  28125kB 88.74%     480      5s    28125kB 88.74%     480      5s  cache
 683.59kB  2.16%     300      5s   683.59kB  2.16%     300      5s  leak
2883.88kB  9.10%     100   200ms  2883.88kB  9.10%     100   200ms  xmalloc
        0     0%       0       - 31692.47kB   100%     880   4.56s  main
        0     0%       0       -  2883.88kB  9.10%     100   200ms  parse
        0     0%       0       - 31008.88kB 97.84%     580   4.55s  run" ]
    run -0 "$HEAPPROF" top --by-age --cum -n 2 --lines "$(lifetimes_profile)"
    [[ $output == *"  4.56s  main src/app.c"*"  4.55s  run src/app.c" ]]
}

@test "a file without lifetimes is refused by the views of them" {
    known=$(make_profile alloc_objects/count inuse_objects/count inuse_space/bytes <<<"main;f 1 1 10")
    for view in --temporary --by-age; do
        fails_with 1 "heapprof: $known: carries no lifetimes of objects" "$HEAPPROF" top $view "$known"
    done
    known=$(make_profile space/bytes <<<"main;f 10 | age_sum=1")
    fails_with 1 "heapprof: $known: no sample type 'alloc_objects'; it has space" \
        "$HEAPPROF" top --temporary "$known"
    known=$(make_profile alloc_objects/count inuse_objects/count inuse_space/bytes \
        "# temporary_threshold_ns 1000000" </dev/null)
    run -0 "$HEAPPROF" top --temporary "$known"
    [[ $output == *"Showing nodes accounting for 0, 0% of 0 total"* ]]
}

@test "--by gives each value of a label a row" {
    known=$(lifetimes_profile)
    run -0 "$HEAPPROF" top --by=thread --sample-type=alloc_space "$known"
    [[ $output == *"Showing nodes accounting for 84.55MB, 100% of 84.55MB total
      flat  flat%   sum%        cum   cum%
   50.50MB 59.73% 59.73%    50.50MB 59.73%  main
   29.28MB 34.63% 94.36%    29.28MB 34.63%  worker
    4.77MB  5.64%   100%     4.77MB  5.64%  [no thread]" ]]
    run -0 "$HEAPPROF" top --by tid "$known"
    [ "$(rows <<<"$output" | awk '{ print $NF }' | paste -sd ' ')" = "4212 4211 4213" ]
    run -0 "$HEAPPROF" top --by size "$known"
    [ "$(rows <<<"$output" | awk '{ print $NF }' | paste -sd ' ')" = "1152B 96B 1.50kB" ]
    run -0 "$HEAPPROF" top --temporary --by=thread "$known"
    [[ $output == *"  19000 95.00%   19900   200us   800ns      3s     0%   19000  main
   2000   100%    2000     1us     1us     1us   100%    2000  [no thread]" ]]
    run -0 "$HEAPPROF" top --by=function "$known"
    [[ $output == *"  leak"* ]]
}

@test "a label that the profile does not have is refused with those it has" {
    known=$(lifetimes_profile)
    fails_with 1 "heapprof: $known: no label 'cpu'; it has thread, tid, size" \
        "$HEAPPROF" top --by=cpu "$known"
    known=$(make_profile space/bytes <<<"main;f 10")
    fails_with 1 "heapprof: $known: no label 'cpu'; it has no labels" "$HEAPPROF" top --by=cpu "$known"
}

@test "a label's value cannot command the terminal" {
    known=$(make_profile space/bytes <<<$'main;f 10 | @k=\x1b[2J')
    run -0 "$HEAPPROF" top --by=k "$known"
    [[ $output == *'  \x1b[2J' ]]
}

@test "options that contradict each other are one line and status 2" {
    known=$(lifetimes_profile)
    fails_with 2 "heapprof: top: --lines and --by=thread exclude each other" \
        "$HEAPPROF" top --lines --by=thread "$known"
    fails_with 2 "heapprof: top: --temporary and --by-age exclude each other" \
        "$HEAPPROF" top --temporary --by-age "$known"
    fails_with 2 "heapprof: top: --by-age is about inuse_space, whatever --sample-type says" \
        "$HEAPPROF" top --by-age --sample-type=alloc_space "$known"
    fails_with 2 "heapprof: top: --temporary shows no errors: *" \
        "$HEAPPROF" top --temporary --error=always "$known"
    fails_with 2 "heapprof: top: --error takes auto, always or never, not 'maybe'" \
        "$HEAPPROF" top --error=maybe "$known"
    run -0 "$HEAPPROF" top --lines --by=function "$known"
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
