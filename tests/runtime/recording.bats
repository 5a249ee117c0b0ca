#!/usr/bin/env bats
# recording.bats: stacks, modules, threads, signal handlers and wrong frees, seen from outside.

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    targets=$BATS_TEST_DIRNAME/../targets
}

profile() {
    "$HEAPPROF" run -q "$@"
}

# Sum of a sample type over the stacks that have the frame.
with_frame() { # FRAME TYPE [FILE]
    "$HEAPPROF" fold --sample-type="$2" "${3:-heap.prof}" |
        awk -v frame="$1" '{ n = $NF; sub(/ [^ ]*$/, ""); k = split($0, f, ";"); for (i = 1; i <= k; i++)
            if (f[i] == frame) { sum += n; break } } END { printf "%d", sum }'
}

@test "a stack of 400 frames is whole" {
    profile --rate=1 "$BUILD/tests/targets/deep_recursion" 400
    [ "$(with_frame main inuse_space)" -eq 1000 ]
    [ "$(with_frame '[truncated]' inuse_space)" -eq 0 ]
    [ "$("$HEAPPROF" fold heap.prof | grep -o 'descend' | wc -l)" -eq 401 ]
}

@test "a stack beyond the depth limit keeps its leaf end under a root frame that says so" {
    profile --rate=1 "$BUILD/tests/targets/deep_recursion" 5000
    [ "$(with_frame '[truncated]' inuse_space)" -eq 1000 ]
    [ "$(with_frame descend inuse_space)" -eq 1000 ]
    [ "$(with_frame main inuse_space)" -eq 0 ]
    [ "$("$HEAPPROF" fold heap.prof | grep -o 'descend' | wc -l)" -ge 128 ]
}

@test "libraries that take turns at one address are told apart" {
    for name in first second third; do
        printf '#include <stdlib.h>\nstatic void *volatile kept;\nvoid plugin_allocate(void);\n__attribute__((noinline)) static void in_%s(void) { kept = malloc(%d); }\nvoid plugin_allocate(void) { in_%s(); }\n' \
            $name $((${#name} * 1000)) $name >$name.c
        gcc -shared -fPIC -O1 -g -o $name.so $name.c
    done
    profile --rate=1 "$BUILD/tests/targets/reloads_plugins" twice ./first.so ./second.so ./third.so
    [ "$(with_frame in_first inuse_space)" -eq 10000 ]
    [ "$(with_frame in_second inuse_space)" -eq 12000 ]
    [ "$(with_frame in_third inuse_space)" -eq 10000 ]
    [ "$(with_frame in_first alloc_objects)" -eq 2 ]
}

@test "blocks that threads hand to each other are counted exactly" {
    run profile --rate=1 "$BUILD/tests/targets/threads_pass_blocks"
    [ "$status" -eq 0 ]
    read -r objects bytes <<<"$output"
    [ "$(with_frame allocate_block inuse_objects)" -eq "$objects" ]
    [ "$(with_frame allocate_block inuse_space)" -eq "$bytes" ]
    [ "$(with_frame allocate_block alloc_objects)" -eq 160000 ]
}

@test "the peak of several threads is what the stacks held then" {
    profile --rate=1 "$BUILD/tests/targets/threads_pass_blocks" >/dev/null
    peak=$("$HEAPPROF" fold --sample-type=peak_space heap.prof | awk '{ sum += $NF } END { print sum }')
    inuse=$("$HEAPPROF" fold --sample-type=inuse_space heap.prof | awk '{ sum += $NF } END { print sum }')
    [ "$peak" -ge "$inuse" ]
    go tool pprof -raw heap.prof | grep -q "peak_space"
}

@test "a signal handler that allocates inside an allocation is counted and harmless" {
    run profile --rate=1 "$BUILD/tests/targets/handler_allocates"
    [ "$status" -eq 0 ]
    counted=$("$HEAPPROF" fold --sample-type=alloc_objects heap.prof |
        awk '{ n = $NF; sub(/ [^ ]*$/, "") } /;allocate_in_(main|handler)$/ { sum += n } END { print sum }')
    echo "made $output, counted $counted"
    [ "$counted" -eq "$output" ]
    [ "$(with_frame allocate_in_main inuse_objects)" -eq 0 ]
    [ "$(with_frame allocate_in_handler inuse_objects)" -eq 0 ]
    run go tool pprof -comments heap.prof
    [[ "$output" != *reentrant* ]]
}

@test "handlers that allocate where another thread is do not wait for each other" {
    run profile --rate=1 "$BUILD/tests/targets/handlers_cross"
    [ "$status" -eq 0 ]
    [ "$output" = "done" ]
    run go tool pprof -comments heap.prof
    [[ "$output" != *lock_forced* ]]
    [ "$(with_frame work inuse_objects)" -eq 0 ]
}

@test "a wrong free of a recorded block ends the program with a line and SIGABRT" {
    for how in double inside after_realloc; do
        run profile --rate=1 "$BUILD/tests/targets/wrong_free" $how
        [ "$status" -eq 134 ]
        [[ "${lines[0]}" =~ ^free\(\):\ (invalid\ pointer|double\ free\ detected):\ 0x[0-9a-f]+$ ]]
        "$HEAPPROF" top heap.prof >/dev/null
    done
}

@test "a program's own operator new is reached by every form, recorded or not" {
    g++ -std=c++17 -O1 -g -o replaced "$targets/replaced_new.cc"
    bare=$(./replaced)
    [ "$bare" = "new 3 delete 3" ]
    [ "$(profile --rate=1 ./replaced)" = "$bare" ]
    [ "$(profile ./replaced)" = "$bare" ]
    [ "$(with_frame main alloc_space)" -gt 0 ] || [ -s heap.prof ]
}

@test "the allocator that the user preloads gets what is not sampled" {
    for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0; do
        for rate in 1 512K; do
            output=$(LD_PRELOAD=$library profile --rate=$rate "$BUILD/tests/targets/threads_pass_blocks")
            [[ "$output" =~ ^[0-9]+\ [0-9]+$ ]]
        done
        LD_PRELOAD=$library profile --rate=64K -o sampled.prof "$BUILD/tests/targets/known_sites"
        "$HEAPPROF" top sampled.prof >/dev/null
    done
}

@test "with --no-follow a child's environment has nothing of ours, and it has no profile" {
    output=$(env -i PATH="$PATH" "$HEAPPROF" run -q --no-follow --rate=1 sh -c 'unset PWD; env; /bin/ls / >/dev/null')
    [[ "$output" != *heapprof* ]]
    [[ "$output" != *HEAPPROF* ]]
    [ "$(ls)" = heap.prof ]
}

@test "with --no-follow what the user preloads stays preloaded" {
    # shellcheck disable=SC2016
    output=$(LD_PRELOAD=libjemalloc.so.2 profile --no-follow sh -c 'echo "$LD_PRELOAD"; env | grep ^LD_PRELOAD=')
    [ "$output" = $'libjemalloc.so.2\nLD_PRELOAD=libjemalloc.so.2' ]
}

@test "under a limit on address space the program keeps what it needs" {
    run bash -c "ulimit -v 262144; exec \"\$HEAPPROF\" run -q -o limited.prof /usr/bin/python3.11 -c 'print(len([bytes(1000) for i in range(140000)]))'"
    [ "$status" -eq 0 ]
    [ "$output" = 140000 ]
    [ -s limited.prof ]
}

@test "where there is no room for the profile a line says so and an older file stays" {
    echo older >heap.prof
    run bash -c "ulimit -v 60000; exec \"\$HEAPPROF\" run --max-memory=64M \"$BUILD/tests/targets/known_sites\""
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == "heapprof: no profile: "*"too little memory left"*"heap.prof is an older one, left alone" ]]
    [ "$(cat heap.prof)" = older ]
}
