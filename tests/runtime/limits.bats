#!/usr/bin/env bats
# limits.bats: under limits on address space and data a program gets what it gets bare.
#
# needs_memory takes a known amount in blocks of one size, frees a third of them and takes it again.

load profile_helper

setup() {
    profile_setup
    program=$targets/needs_memory
}

# as_bare LIMIT MEGABYTES SIZE: output and status are those of the bare run at each rate, with the
# limit set for heapprof or for the program alone; stderr is empty, or one line says that there is
# no profile.
as_bare() {
    local limit=$1 status=0 output bare place rate command
    shift
    bare=$(prlimit "$limit" "$program" "$@")
    for rate in 1 4096 512K; do
        for place in outside inside; do
            rm -f heap.prof
            command=(profile --rate="$rate" prlimit "$limit" "$program" "$@")
            [ $place = inside ] ||
                command=(prlimit "$limit" "$HEAPPROF" run -q --rate="$rate" "$program" "$@")
            status=0
            output=$("${command[@]}" 2>err) || status=$?
            expect "$limit, $*, rate $rate, set $place" "$output, $status" "$bare, 0"
            if [ -e heap.prof ]; then
                expect "on stderr, rate $rate, set $place" "$(<err)" ""
            else
                [ "$(wc -l <err)" -eq 1 ]
                [[ "$(<err)" == "heapprof: no profile: "*" has too little "* ]]
            fi
        done
    done
}

@test "of 256 MiB of address space a program gets the 150 that it needs" {
    as_bare --as=$((256 << 20)) 150 64
    as_bare --as=$((256 << 20)) 150 100000
    as_bare --as=$((256 << 20)) 150 4000000
}

@test "of 64 MiB of data a program gets the 32 that it needs" {
    as_bare --data=$((64 << 20)) 32 64
    as_bare --data=$((64 << 20)) 32 1000
    as_bare --data=$((64 << 20)) 32 100000
    as_bare --data=$((64 << 20)) 32 4000000
}

@test "where the limit leaves no room for the profile, one line says so and the program runs" {
    as_bare --data=$((4 << 20)) 2 1000
    as_bare --as=$((8 << 20)) 2 1000
    [ ! -e heap.prof ]
}
