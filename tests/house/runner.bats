#!/usr/bin/env bats
# runner.bats: tests/run counts what passed, failed, was skipped, died or hung.

setup() {
    house=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR" || exit 1
    mkdir build
}

# A bats file from lines that begin with TEST: this file's own bats must not take them for its own.
write_bats() {
    sed 's/^TEST/@test/' >some.bats
}

@test "passed, failed and skipped tests are counted in the last line" {
    write_bats <<'END'
TEST "a good one" { true; }
TEST "a bad one" { echo the reason; false; }
TEST "one left out" { skip "no corpus here"; }
END
    run "$house/tests/run" build some.bats
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "1 passed, 1 failed, 1 skipped" ]
    [[ "$output" == *"the reason"* ]]
    [[ "$output" == *"no corpus here"* ]]
}

@test "when all pass the status is 0" {
    write_bats <<<'TEST "a good one" { true; }'
    run "$house/tests/run" build some.bats
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "1 passed, 0 failed" ]
}

@test "running no test at all is a failure" {
    run "$house/tests/run" build
    [ "$status" -ne 0 ]
    [ "${lines[-1]}" = "0 passed, 0 failed" ]
}

@test "a unit test program that dies before its last test has failed" {
    printf '#!/bin/sh\necho 1..3\necho "ok 1 - a"\nkill -SEGV $$\n' >dies_test
    chmod +x dies_test
    run "$house/tests/run" build ./dies_test
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "1 passed, 2 failed" ]
}

@test "a program that passes its tests but ends with another status has failed" {
    printf '#!/bin/sh\necho 1..1\necho "ok 1 - a"\nexit 99\n' >leaks_test
    chmod +x leaks_test
    run "$house/tests/run" build ./leaks_test
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
}

@test "a skipped cmocka test is a skip, though cmocka calls it not ok" {
    printf '#!/bin/sh\necho 1..2\necho "not ok 1 # SKIP a"\necho "ok 2 - b"\n' >skips_test
    chmod +x skips_test
    run "$house/tests/run" build ./skips_test
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "1 passed, 0 failed, 1 skipped" ]
}

@test "a test with asan: in front is run against the sanitized command" {
    write_bats <<'END'
TEST "it is" { [[ $HEAPPROF == */build/asan/heapprof ]]; }
END
    run "$house/tests/run" build asan:some.bats
    [ "$status" -eq 0 ]
}

@test "a test that hangs is ended and has failed" {
    mkfifo never
    write_bats <<<'TEST "waits for what never comes" { read -r _ <never; }'
    BATS_TEST_TIMEOUT=1 run "$house/tests/run" build some.bats
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
}
