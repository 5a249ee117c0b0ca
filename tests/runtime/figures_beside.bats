#!/usr/bin/env bats
# figures_beside.bats: what stands beside the samples: counted bytes, resident memory, sizes, and
# the memory over time.

load profile_helper

setup() {
    profile_setup
}

# comment NAME: the comment's value.
comment() {
    python3 -B "$reader" comment heap.prof "$1"
}

@test "the bytes asked for are counted exactly, also beside forked children" {
    local exact counted
    for argument in alone fork; do
        profile --rate=1 "$targets/labelled_threads" $argument >tids
        exact=$(python3 -B "$reader" total heap.prof | cut -d' ' -f1)
        profile --rate=4096 "$targets/labelled_threads" $argument >tids
        counted=$(comment counted)
        # The private mimalloc of --rate=1 has thread-local storage: 16 bytes more of libc's for
        # the vector that it allocates with the first thread (dtv_t).
        expect "counted, $argument" "$counted" "$((${exact#*/} - 16)) 0"
    done
}

@test "a thread that is killed leaves less than its last gap uncounted, and is told of" {
    profile --rate=4096 sh -c 'kill -9 $$' || true
    run comment counted
    [[ "$output" =~ ^[0-9]+\ [01]$ ]]
}

@test "the summary has the counted bytes, the error that was and the one expected" {
    run "$HEAPPROF" run --rate=4096 --no-symbolize -o heap.prof "$targets/labelled_threads"
    [[ "$output" =~ counted\ +[0-9.]+kB\;\ allocated\ is\ ([0-9.]+)%\ off,\ up\ to\ ([0-9.]+)%\ was\ expected ]]
    awk -v off="${BASH_REMATCH[1]}" -v most="${BASH_REMATCH[2]}" \
        'BEGIN { exit !(most > 1 && most < 100 && off < 3 * most) }'
    run "$HEAPPROF" run --rate=1 --no-symbolize -o heap.prof "$targets/labelled_threads"
    [[ "$output" != *"counted"* ]]
}

@test "errors from fewer than ten samples are said to be lower bounds" {
    run "$HEAPPROF" run --rate=30K --seed=1 --no-symbolize -o heap.prof "$targets/labelled_threads" fork
    [[ "$output" =~ allocated\ +[0-9.]+kB\ ±\ [0-9.]+kB\ or\ more ]]
    run "$HEAPPROF" info heap.prof
    [[ "$output" =~ alloc_space\ +[0-9.]+kB\ ±\ [0-9.]+kB\ or\ more ]]
}

@test "the peak of resident memory is told, of runs that are over in no time too" {
    local rss
    for megabytes in 10 150; do
        run "$HEAPPROF" run --no-symbolize -o heap.prof "$targets/needs_memory" $megabytes 100000
        [[ "$output" == *"  peak RSS      "* ]]
        rss=$(comment peak_rss)
        ((rss > megabytes << 20 && rss < (megabytes + 30) << 20))
    done
    # ended by a signal: seen by the launcher's looks alone
    python3 - <<'END' >child.py
print("""import os, time
block = bytearray(100 << 20)
time.sleep(0.1)
os.kill(os.getpid(), 9)""")
END
    "$HEAPPROF" run -q --no-symbolize -o heap.prof /usr/bin/python3 child.py || true
    rss=$(comment peak_rss)
    ((rss > 100 << 20 && rss < 200 << 20))
}

@test "sizes and memory over time are in the file, and info shows them" {
    cat >grow.py <<'END'
import time
blocks = []
for i in range(5):
    blocks.append(bytearray(20 << 20))
    time.sleep(0.05)
blocks.clear()
time.sleep(0.05)
END
    profile /usr/bin/python3 grow.py
    run comment timeline
    [[ "$output" == "live allocated rss "* ]]
    tr ' ' '\n' <<<"$output" | grep : | awk -F: '
        $1 < time || $3 < allocated { exit bad = 1 }
        { time = $1; live = $2; allocated = $3; if ($2 > most) most = $2; if ($4 > rss) rss = $4; n++ }
        END { exit bad || !(n >= 10 && most > 80e6 && most < 130e6 && rss > 100e6 && live < 20e6 && allocated > 80e6) }'
    run comment sizes
    [[ " $output " =~ \ 25:[0-9]+:10[0-9]{7}\  ]]
    run "$HEAPPROF" info heap.prof
    [[ "$output" == *"sizes of what was allocated"*"memory over time"* ]]
    [[ "$output" =~ peak\ RSS\ +1[0-9][0-9] ]]
    if command -v go >/dev/null; then # other tools do not see it
        run go tool pprof -top heap.prof
        [[ "$output" != *"timeline"* ]]
    fi
}

@test "the timeline of a long run has at most 2000 points" {
    profile --rate=64K /usr/bin/python3 -c 'import time; time.sleep(1)'
    points=$(comment timeline | tr ' ' '\n' | grep -c :)
    ((points >= 8 && points <= 2000))
}

@test "the private mimalloc says how much it has committed" {
    run "$HEAPPROF" run --allocator=mimalloc --no-symbolize -o heap.prof "$targets/needs_memory" 100 1000
    [[ "$output" =~ allocator\ +mimalloc,\ ([0-9.]+)MB\ committed,\ at\ most\ ([0-9.]+)MB ]]
    awk -v now="${BASH_REMATCH[1]}" -v most="${BASH_REMATCH[2]}" 'BEGIN { exit !(most >= now && most >= 90 && most < 300) }'
}
