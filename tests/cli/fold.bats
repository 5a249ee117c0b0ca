#!/usr/bin/env bats
# heapprof fold: stacks as lines of text. What becomes of odd names is in folded_test.c.

bats_require_minimum_version 1.5.0
load helper

setup() {
    find_heapprof
    cd "$BATS_TEST_TMPDIR" || return 1
    known=$(make_profile alloc_objects/count inuse_space/bytes <<'END'
main;app::parse;malloc 10 6291456
main;render > draw;malloc 5 3145728
main;app::parse;malloc 1 1048576
main 0 0
END
    )
}

@test "each stack is a line, root first, with inlined frames, merged and sorted" {
    run -0 "$HEAPPROF" fold "$known"
    [ "$output" = "main;app::parse;malloc 7340032
main;render;draw;malloc 3145728" ]
}

@test "--sample-type picks other values" {
    run -0 "$HEAPPROF" fold --sample-type alloc_objects "$known"
    [ "$output" = "main;app::parse;malloc 11
main;render;draw;malloc 5" ]
}

@test "-o writes a file, and only a whole one" {
    "$HEAPPROF" fold -o out.folded "$known"
    [ "$(wc -l <out.folded)" -eq 2 ]
    [ "$(stat -c %a out.folded)" = "$(printf '%o' $((0666 & ~$(umask))))" ]
    echo old >out.folded
    fails_with 1 "heapprof: none.prof: *" "$HEAPPROF" fold -o out.folded none.prof
    [ "$(<out.folded)" = old ]
    [ "$(echo ./*)" = "./made.prof ./out.folded ./stderr ./stdout" ]
}

@test "output that cannot be written is a failure" {
    run -1 to_full_disk "$HEAPPROF" fold "$known"
    [[ $output == heapprof:*"No space left on device" && ${#lines[@]} -eq 1 ]]
    run -1 to_closed "$HEAPPROF" fold "$known"
    [[ $output == heapprof:* && ${#lines[@]} -eq 1 ]]
    fails_with 1 "heapprof: /dev/full: *No space left on device" "$HEAPPROF" fold -o /dev/full "$known"
    fails_with 1 "heapprof: no/such/folder: *" "$HEAPPROF" fold -o no/such/folder "$known"
}

@test "lines split back into frames and values, whatever the names" {
    hostile=$(make_profile space/bytes <<'END'
ma\nin;a 1 2;b\r\x85\u2028c;\udcffd 10
main;x\x3by 20
main;x\x3ay 22
END
    )
    run -0 "$HEAPPROF" fold "$hostile"
    [ "$output" = "ma in;a 1 2;b   c;"$'\xef\xbf\xbd'"d 10
main;x:y 42" ]
}

@test "the lines of every real profile add up to its samples" {
    need_corpus
    for file in "$CORPUS"/felixge-pprofutils/*.pprof "$CORPUS"/dd-trace-go/heap.pprof; do
        sum=$("$HEAPPROF" fold --sample-type 0 "$file" | awk '{ sum += $NF } END { printf "%d", sum }')
        total=$(python3 - "$file" <<'END'
import subprocess, sys
raw = subprocess.run(["go", "tool", "pprof", "-raw", "-symbolize=none", sys.argv[1]],
                     capture_output=True, text=True).stdout.split("\n")
total = 0
for line in raw[raw.index("Samples:") + 2:]:
    if line == "Locations":
        break
    values, colon, _ = line.partition(":")
    if colon and values.split() and all(word.lstrip("-").isdigit() for word in values.split()):
        total += int(values.split()[0])
print(total)
END
        )
        [ "$sum" = "$total" ] || { echo "$file: $sum, not $total"; return 1; }
    done
}
