#!/usr/bin/env bats
# heapprof itself: which command runs, help, and usage errors.

bats_require_minimum_version 1.5.0
load helper

setup() {
    find_heapprof
}

@test "without a command the usage goes to stderr, with status 2" {
    run -2 --separate-stderr "$HEAPPROF"
    [ -z "$output" ]
    [[ $stderr == "usage: heapprof COMMAND"* ]]
}

@test "--help, -h and help list every command on stdout" {
    for way in --help -h help; do
        run -0 --separate-stderr "$HEAPPROF" $way
        [ -z "$stderr" ]
        for command in run top flame fold leaks info; do
            [[ $output == *$'\n'"  $command "* ]]
        done
    done
}

@test "--version is one line, also behind a command" {
    run -0 "$HEAPPROF" --version
    [[ $output =~ ^heapprof\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    version=$output
    for command in run top flame fold leaks info; do
        run -0 "$HEAPPROF" $command --version
        [ "$output" = "$version" ]
    done
}

@test "each command describes itself, the same by help and --help, within 80 columns" {
    for command in run top flame fold leaks info; do
        run -0 "$HEAPPROF" help $command
        [[ $output == "usage: heapprof $command [options] "* ]]
        [[ $output == *"--help"* && $output == *"--version"* ]]
        [ "$(wc -L <<<"$output")" -le 80 ]
        help=$output
        run -0 "$HEAPPROF" $command --help
        [ "$output" = "$help" ]
        run -0 "$HEAPPROF" $command -h
        [ "$output" = "$help" ]
    done
}

@test "options are described in one aligned column" {
    run -0 "$HEAPPROF" top --help
    [[ $output == *"
  -n, --node-count N      show at most N rows (default 30; 0 shows all)
      --node-fraction F   leave out functions below this fraction of the total
                          (default 0.005)
      --cum               sort by cumulative value
"* ]]
}

@test "a command that does not exist is one line and status 2" {
    fails_with 2 "heapprof: unknown command 'tpo', did you mean 'top'?" "$HEAPPROF" tpo
    fails_with 2 "heapprof: unknown command 'annotate', try 'heapprof --help'" "$HEAPPROF" annotate
    fails_with 2 "heapprof: unknown command 'flam', did you mean 'flame'?" "$HEAPPROF" help flam
    fails_with 2 "heapprof: unknown command '', *" "$HEAPPROF" ""
}

@test "an option that does not exist is one line and status 2" {
    fails_with 2 "heapprof: unknown option --frobnicate, try 'heapprof --help'" "$HEAPPROF" --frobnicate
    for command in run top flame fold leaks info; do
        fails_with 2 "heapprof: $command: unknown option --frobnicate, *" "$HEAPPROF" $command --frobnicate x
        fails_with 2 "heapprof: $command: unknown option -Z, *" "$HEAPPROF" $command -Z x
    done
    fails_with 2 "heapprof: top: unknown option --node-cuont, did you mean --node-count?" \
        "$HEAPPROF" top --node-cuont=3 x
}

@test "a report wants exactly one file" {
    for command in top flame fold leaks info; do
        fails_with 2 "heapprof: $command: needs exactly one profile file" "$HEAPPROF" $command
        fails_with 2 "heapprof: $command: needs exactly one profile file" "$HEAPPROF" $command a b
    done
}

@test "control characters of arguments do not reach the terminal" {
    fails_with 2 "heapprof: unknown command '?\[31m', *" "$HEAPPROF" $'\e[31m'
    fails_with 1 "heapprof: a?b: *" "$HEAPPROF" top $'a\nb'
}

@test "help that cannot be written is a failure" {
    run -1 to_full_disk "$HEAPPROF" --help
    [ "$output" = "heapprof: standard output: cannot write: No space left on device" ]
}

@test "with stdin, stdout and stderr closed nothing is written to the wrong file" {
    cd "$BATS_TEST_TMPDIR" || return 1
    known=$(make_profile space/bytes <<<"main;f 10")
    before=$(sha256sum <"$known")
    status=0
    "$HEAPPROF" top "$known" <&- >&- 2>&- || status=$?
    [ "$status" -eq 1 ]
    [ "$(sha256sum <"$known")" = "$before" ]
}
