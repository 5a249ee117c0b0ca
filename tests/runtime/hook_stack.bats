#!/usr/bin/env bats
# hook_stack.bats: the stack walker on code of several compilers and flags, at every instruction;
# on C++; inside a library; across dlclose. libunwind's local unwinding says what is right.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || exit 1
    unset LD_BIND_NOW # the lazy binder is among what is walked
    program=$BATS_TEST_TMPDIR/program
}

# compiler, flags...: builds stack_shapes.c so and runs it.
shapes_agree() {
    local compiler=$1
    shift
    "$compiler" -std=gnu11 -D_GNU_SOURCE -I. -g "$@" tests/runtime/stack_shapes.c \
        "$BUILD/runtime/hooks.a" -lunwind -lcmocka -Wl,-z,lazy -o "$program"
    run bash -c '"$0" 2>"$0.differences"' "$program"
    echo "$output"
    cat "$program.differences"
    [ "$status" -eq 0 ]
    [[ "$output" == *" stacks, 0 differ" ]]
    [ "${output%% *}" -gt 1000 ]
}

@test "code of gcc without optimisation is walked right at every instruction" {
    shapes_agree gcc -O0
}

@test "code of gcc -O2 without frame pointers is walked right at every instruction" {
    shapes_agree gcc -O2 -fomit-frame-pointer
}

@test "code of gcc -O2 with frame pointers is walked right at every instruction" {
    shapes_agree gcc -O2 -fno-omit-frame-pointer
}

@test "code of gcc -O3 for AVX2 is walked right at every instruction" {
    grep -qw avx2 /proc/cpuinfo || skip "no AVX2 here"
    shapes_agree gcc -O3 -mavx2
}

@test "small code with branch protection is walked right at every instruction" {
    shapes_agree gcc -Os -fcf-protection=full
}

@test "code at a fixed address is walked right at every instruction" {
    shapes_agree gcc -O2 -no-pie
}

@test "code of clang without optimisation is walked right at every instruction" {
    shapes_agree clang -O0
}

@test "code of clang -O2 is walked right at every instruction" {
    shapes_agree clang -O2
}

@test "code of clang -O2 with frame pointers is walked right at every instruction" {
    shapes_agree clang -O2 -fno-omit-frame-pointer
}

@test "the part of a function that lies apart, as function.cold, is walked right" {
    shapes_agree gcc -O2
    nm "$program" | grep -q ' mostly.*\.cold$'
}

@test "code of gcc -O1 is walked right at every instruction" {
    shapes_agree gcc -O1
}

@test "code of clang -O3 is walked right at every instruction" {
    shapes_agree clang -O3
}

@test "random stacks are the same with the memory of the last one and without" {
    local build seed=1
    for build in "gcc -O0" "gcc -O1" "gcc -O2" "gcc -O2 -fno-omit-frame-pointer" "gcc -O3" \
        "clang -O0" "clang -O2" "clang -O2 -fno-omit-frame-pointer"; do
        $build -std=gnu11 -D_GNU_SOURCE -mcx16 -I. -g tests/runtime/stack_random.c \
            "$BUILD/runtime/hooks.a" -lunwind -lcmocka -pthread -o "$program"
        run "$program" $seed 10000
        echo "$build: $output"
        [ "$status" -eq 0 ]
        [[ "$output" =~ ^([0-9]+)\ stacks,\ 0\ differ,\ ([0-9]+)\ met,\ .*\ ([0-9]+)\ steps$ ]]
        [ "${BASH_REMATCH[1]}" -ge 10000 ]
        [ "${BASH_REMATCH[2]}" -ge 1000 ] # else the memory was hardly tried
        [ "${BASH_REMATCH[3]}" -ge 1000 ] # else hardly in the middle of anything
        seed=$((seed + 1))
    done
}

@test "Rust is walked right while panics pass" {
    command -v rustc >/dev/null || skip "no rustc here"
    local level
    for level in 0 2 3; do
        rustc --edition=2021 --crate-type=staticlib -g -C opt-level=$level -C panic=unwind \
            -o "$BATS_TEST_TMPDIR/libstack_rust.a" tests/runtime/stack_rust.rs
        gcc -std=gnu11 -D_GNU_SOURCE -I. -g tests/runtime/stack_rust.c \
            "$BATS_TEST_TMPDIR/libstack_rust.a" "$BUILD/runtime/hooks.a" -lunwind -lcmocka \
            -pthread -ldl -lm -lgcc_s -o "$program"
        run "$program"
        echo "$level: $output"
        [ "$status" -eq 0 ]
        [[ "$output" == *" stacks, 0 differ" ]]
    done
}

@test "C++ is walked right while exceptions pass" {
    local compiler level
    for compiler in g++ clang++; do
        for level in -O0 -O2; do
            "$compiler" -D_GNU_SOURCE -I. $level -g tests/runtime/stack_exceptions.cc \
                "$BUILD/runtime/hooks.a" -lunwind -lcmocka -pthread -o "$program"
            run "$program"
            echo "$compiler $level: $output"
            [ "$status" -eq 0 ]
            [[ "$output" == *" stacks, 0 differ" ]]
        done
    done
}

@test "frames of the library that captures are left out wherever they are" {
    local library=$BATS_TEST_TMPDIR/libcapture.so
    gcc -std=gnu11 -D_GNU_SOURCE -I. -O2 -fPIC -fvisibility=hidden -DLIBRARY -shared \
        tests/runtime/stack_library.c "$BUILD/runtime/hooks.a" -o "$library"
    gcc -std=gnu11 -D_GNU_SOURCE -I. -O1 -rdynamic tests/runtime/stack_library.c "$library" -o "$program"
    run "$program"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "called: leaf main, end 0" ]
    [ "${lines[1]}" = "through the library: leaf main, end 0" ]
    [ "${lines[2]}" = "interrupted: interrupted main, end 0" ]
}

@test "an object that takes another's address is walked by its own rules once the other is forgotten" {
    local size
    for size in 40 104; do
        gcc -O1 -g -fPIC -fno-stack-protector -DFRAME_BYTES=$size -shared \
            tests/runtime/stack_plugin.c -o "$BATS_TEST_TMPDIR/plugin$size.so"
    done
    gcc -std=gnu11 -D_GNU_SOURCE -I. -O2 tests/runtime/stack_reload.c \
        "$BUILD/runtime/hooks.a" -lunwind -lcmocka -o "$program"
    run "$program" "$BATS_TEST_TMPDIR/plugin40.so" "$BATS_TEST_TMPDIR/plugin104.so" forget
    [ "$status" -eq 0 ]
    # Not forgotten, the old rules would be used: the test does see the difference.
    run "$program" "$BATS_TEST_TMPDIR/plugin40.so" "$BATS_TEST_TMPDIR/plugin104.so" keep
    [ "$status" -eq 1 ]
}
