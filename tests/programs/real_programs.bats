#!/usr/bin/env bats
# real_programs.bats: programs from Debian, unmodified: their own output and status, the functions
# that somebody who knows them expects, and pprof's rows for all six figures.

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
}

# Every figure of a profile, as `heapprof top` and as pprof print it, cut as usual and not at all.
same_as_pprof() { # FILE
    local type
    for type in alloc_objects alloc_space inuse_objects inuse_space peak_objects peak_space; do
        go tool pprof -symbolize=none -top -nodecount=30 -sample_index=$type "$1" 2>/dev/null >pprof.txt
        "$HEAPPROF" top --error=never --sample-type=$type "$1" >top.txt
        diff pprof.txt top.txt
        go tool pprof -symbolize=none -top -nodecount=0 -nodefraction=0 -sample_index=$type "$1" 2>/dev/null >pprof.txt
        "$HEAPPROF" top --error=never -n 0 --node-fraction=0 --sample-type=$type "$1" >top.txt
        diff pprof.txt top.txt
    done
}

# Each name is a function of the profile.
has_functions() { # FILE NAME...
    local file=$1 name
    shift
    "$HEAPPROF" top -n 0 --node-fraction=0 --sample-type=alloc_space "$file" >all.txt
    for name in "$@"; do
        grep -qE " $name( \((inline|partial-inline)\))?\$" all.txt || {
            echo "no $name in $file"
            return 1
        }
    done
}

@test "python3 that builds a large dict" {
    run "$HEAPPROF" run -q /usr/bin/python3.11 -c 'd = {i: str(i) for i in range(500000)}; print(len(d))'
    [ "$status" -eq 0 ]
    [ "$output" = 500000 ]
    has_functions heap.prof Py_BytesMain PyEval_EvalCode _PyMem_RawMalloc
    same_as_pprof heap.prof
}

@test "python3.11-dbg, with its static functions" {
    run "$HEAPPROF" run -q python3.11-dbg -c 'd = {i: str(i) for i in range(200000)}; print(len(d)); raise SystemExit(3)'
    [ "$status" -eq 3 ]
    [ "$output" = 200000 ]
    has_functions heap.prof pymain_run_command run_mod run_eval_code_obj _PyObject_Malloc
    same_as_pprof heap.prof
}

@test "sqlite3 with a million rows in memory" {
    run "$HEAPPROF" run -q sqlite3 :memory: 'create table t(a, b);
        with recursive c(x) as (select 1 union all select x + 1 from c where x < 1000000)
        insert into t select x, hex(x) from c; select count(*), sum(length(b)) from t;'
    [ "$status" -eq 0 ]
    [ "$output" = "1000000|11777792" ]
    has_functions heap.prof sqlite3_step
    same_as_pprof heap.prof
}

@test "redis-server with four I/O threads under redis-benchmark" {
    "$HEAPPROF" run -q --rate=64K redis-server --unixsocket "$PWD/redis" --port 0 --save '' --io-threads 4 --io-threads-do-reads yes >redis.log &
    local pid=$! tries
    for ((tries = 0; tries < 600; tries++)); do
        if redis-cli -s redis ping 2>/dev/null | grep -q PONG; then
            break
        fi
        read -rt 0.05 <> <(:) || true
    done
    redis-benchmark -s redis -q -n 30000 -r 30000 -d 500 -t set,lpush >benchmark.log
    redis-cli -s redis dbsize >size.txt
    redis-cli -s redis shutdown nosave || true
    wait $pid
    [ "$(cat size.txt)" -gt 10000 ]
    has_functions heap.prof main aeMain processCommand setCommand zmalloc
    same_as_pprof heap.prof
}

@test "g++ on heavy headers, whose work is in the child cc1plus" {
    printf '#include <map>\n#include <regex>\n#include <string>\n#include <vector>\nint main() { std::map<std::string, std::vector<int>> m; std::regex r("a+b"); m["x"].push_back(1); return (int)m.size() - 1; }\n' >heavy.cc
    run "$HEAPPROF" run -q g++ -O2 heavy.cc -o heavy
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    ./heavy
    local file compiler=
    for file in heap.*.prof; do
        if go tool pprof -raw "$file" 2>/dev/null | grep -q cc1plus; then
            compiler=$file
        fi
    done
    [ -n "$compiler" ]
    has_functions "$compiler" main xmalloc xcalloc
    same_as_pprof "$compiler"
}

@test "a C++ program with threads" {
    cat >threads.cc <<'END'
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>
namespace shop {
struct Shelf {
    std::map<int, std::string> books;
    void fill(int n) { for (int i = 0; i < n; i++) books[i] = std::string(200, 'x'); }
};
}
int main()
{
    std::vector<std::unique_ptr<shop::Shelf>> shelves(4);
    std::vector<std::thread> threads;
    for (auto &shelf : shelves)
        threads.emplace_back([&shelf] { shelf.reset(new shop::Shelf); shelf->fill(20000); });
    for (auto &thread : threads)
        thread.join();
    std::printf("%zu\n", shelves[3]->books.size());
}
END
    g++ -O1 -g -pthread threads.cc -o threads
    run "$HEAPPROF" run -q ./threads
    [ "$status" -eq 0 ]
    [ "$output" = 20000 ]
    has_functions heap.prof shop::Shelf::fill
    same_as_pprof heap.prof
}

@test "a Rust program" {
    cat >shelves.rs <<'END'
use std::collections::HashMap;
#[inline(never)]
fn fill_shelf(n: usize) -> HashMap<usize, String> {
    (0..n).map(|i| (i, format!("book {}", i))).collect()
}
fn main() {
    let shelf = fill_shelf(200000);
    println!("{}", shelf.len());
}
END
    rustc -O -g shelves.rs 2>/dev/null
    run "$HEAPPROF" run -q ./shelves
    [ "$status" -eq 0 ]
    [ "$output" = 200000 ]
    has_functions heap.prof shelves::fill_shelf shelves::main
    same_as_pprof heap.prof
}
