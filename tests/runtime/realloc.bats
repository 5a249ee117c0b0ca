#!/usr/bin/env bats
# realloc.bats: a block whose size changes is live with its last size where that was asked for.

load profile_helper

setup() {
    profile_setup
    program=$targets/reallocs
    bare=$("$program")
    [[ "$bare" == "ok 12 12 12 12 12" ]]
}

@test "realloc in all its forms is counted exactly at each call site" {
    expect output "$(profile --rate=1 "$program")" "$bare"
    expect losses "$(losses)" ""
    wanted=$(sed -n 's/^ \*     \([a-z_]*\) *\([0-9]*\/[0-9]*\) *\([0-9]*\/[0-9]*\).*/\1 \2 \3/p' \
        "$BATS_TEST_DIRNAME/../targets/reallocs.c")
    [ "$(wc -l <<<"$wanted")" -eq 13 ]
    # shellcheck disable=SC2046 # one word a function
    found=$(sites "$program" $(cut -d' ' -f1 <<<"$wanted") | cut -d' ' -f1-3)
    diff <(echo "$wanted") <(echo "$found")
}

@test "at other rates realloc answers as it does bare, and what is freed is not live" {
    for rate in 2 100 4096 512K; do
        for seed in 1 2 3; do
            expect "output at rate $rate" "$(profile --rate=$rate --seed=$seed "$program")" "$bare"
            expect "losses at rate $rate" "$(losses)" ""
            freed=$(sites "$program" small_and_freed page_and_freed to_nothing begin | cut -d' ' -f3)
            expect "live at rate $rate" "$(sort -u <<<"$freed")" 0/0
        done
    done
}
