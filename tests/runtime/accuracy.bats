#!/usr/bin/env bats
# accuracy.bats: what the profile says against what the program has allocated, by the sampling
# law's own standard errors (accuracy.py).

judge() {
    python3 -B "$BATS_TEST_DIRNAME/accuracy.py" "$1"
}

@test "estimates of sizes from a quarter of the rate to four times it have no bias, and the law's spread" {
    judge sizes_around_the_rate
}

@test "the variances in the file are the estimates' own" {
    run judge variances_in_the_file
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" != *absent* ]] || skip "the file has no variances of objects"
}

@test "blocks as large as the rate and larger are not scaled too high" {
    judge big_blocks
}

@test "a stack of many small and few huge objects is right in bytes and in objects" {
    judge two_sizes_at_one_stack
}

@test "95 of 100 stacks are within two of the standard errors that the file tells" {
    judge thousand_stacks
}
