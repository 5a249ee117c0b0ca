#!/usr/bin/env bats
# structure.bats: the shape of the source tree: who may include whom, what lies where.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

# The files of the project that git would carry, NUL-free names, one a line; without git, all but
# the build folder.
project_files() {
    git ls-files --cached --others --exclude-standard 2>/dev/null ||
        find . -path ./build -prune -o -type f -printf '%P\n'
}

# Prints the includes of project headers in folder $1 that are not of the folders $2...
foreign_includes() {
    local folder=$1 allowed
    shift
    allowed=$(IFS='|' && echo "$*")
    grep -nE '^ *# *include *"' "$folder"/*.[ch] | grep -vE "\"($allowed)/" || true
}

@test "proto includes nothing of the other folders" {
    run foreign_includes proto proto
    [ -z "$output" ]
}

@test "symbolize includes only proto" {
    run foreign_includes symbolize symbolize proto
    [ -z "$output" ]
}

@test "cli includes only proto, symbolize and the data of share" {
    run foreign_includes cli cli proto symbolize share
    [ -z "$output" ]
}

@test "runtime takes from proto only the store's layout and the messages" {
    run bash -c 'grep -nE "^ *# *include *\"" runtime/*.[ch] |
        grep -vE "\"(runtime/[a-z_]+\.h|proto/store_layout\.h|proto/messages\.h)\""'
    [ -z "$output" ]
}

@test "every header compiles alone" {
    mkdir -p "$BATS_TEST_TMPDIR/include"
    protoc-c --proto_path=proto --c_out="$BATS_TEST_TMPDIR/include" profile.proto
    mkdir "$BATS_TEST_TMPDIR/include/proto"
    mv "$BATS_TEST_TMPDIR"/include/profile.pb-c.* "$BATS_TEST_TMPDIR/include/proto/"
    local failed=0
    for header in proto/*.h symbolize/*.h cli/*.h runtime/*.h; do
        gcc -std=gnu11 -D_GNU_SOURCE -mcx16 -I. -I"$BATS_TEST_TMPDIR/include" -Wall -Wextra -Werror \
            -fsyntax-only -x c -include "$header" /dev/null || failed=1
    done
    [ "$failed" = 0 ]
}

@test "every source includes its own header first" {
    local failed=0 source header first
    for source in proto/*.c symbolize/*.c cli/*.c runtime/*.c; do
        header=${source%.c}.h
        [ -e "$header" ] || continue
        first=$(grep -m1 -E '^# *include' "$source")
        [ "$first" = "#include \"$header\"" ] || { echo "$source: $first"; failed=1; }
    done
    [ "$failed" = 0 ]
}

@test "every C file begins by saying what it is for" {
    local failed=0 file
    for file in proto/*.[ch] symbolize/*.[ch] cli/*.[ch] runtime/*.[ch] tests/*/*.[ch]; do
        head -n 1 "$file" | grep -qF "/* ${file##*/}: " || { echo "$file"; failed=1; }
    done
    [ "$failed" = 0 ]
}

@test "the top level holds only what is agreed" {
    local expected="LICENSE Makefile README.md cli proto runtime share symbolize tests"
    run bash -c "$(declare -f project_files)"'; project_files | cut -d/ -f1 | grep -v "^\." | sort -u | tr "\n" " "'
    [ "${output% }" = "$expected" ]
}

@test "no file is named after nothing" {
    run bash -c "$(declare -f project_files)"'; project_files | grep -E "(^|/)(utils?|common|misc|helpers?)\.[ch]$"'
    [ -z "$output" ]
}

@test "every unit test is named after the source it tests, or begins with its name" {
    local failed=0 file subject
    for file in tests/proto/*_test.c tests/symbolize/*_test.c tests/cli/*_test.c tests/runtime/*_test.c; do
        subject=${file#tests/}
        subject=${subject%_test.c}
        while [ ! -e "$subject.c" ] && [ ! -e "$subject.h" ] && [[ $subject == *_* ]]; do
            subject=${subject%_*}
        done
        [ -e "$subject.c" ] || [ -e "$subject.h" ] || { echo "$file"; failed=1; }
    done
    [ "$failed" = 0 ]
}

@test "the map names every folder and only files that exist" {
    local failed=0 name
    for name in cli proto runtime symbolize share tests; do
        grep -qF "$name/" share/doc/architecture.md || { echo "$name/ is not on the map"; failed=1; }
    done
    for name in $(grep -oE '`[a-z_.]+/[A-Za-z0-9_./-]+`' share/doc/architecture.md | tr -d '`' | sort -u); do
        [[ $name == build/* ]] || [ -e "$name" ] || { echo "$name does not exist"; failed=1; }
    done
    [ "$failed" = 0 ]
}
