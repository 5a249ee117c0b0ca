#!/usr/bin/env bats
# readme.bats: what the README says is so: its options, its links, its make targets.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || exit 1
    HEAPPROF=${HEAPPROF:-$PWD/build/heapprof}
    unset BUILD
}

# The long options in the README's section "### heapprof COMMAND", sorted.
options_in_readme() {
    awk -v heading="### heapprof $1" '
        /^##/ { inside = index($0, heading) == 1 }
        inside && /^\|/ { print }' README.md | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

# The long options that begin a line of the command's --help, sorted.
options_in_help() {
    "$HEAPPROF" "$1" --help | grep -oE -- '^ *(-[a-zA-Z0-9], *)?--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' | sort -u
}

same_options() {
    local in_readme in_help
    in_readme=$(options_in_readme "$1")
    in_help=$(options_in_help "$1" | grep -vxE -- '--help|--version')
    [ -n "$in_help" ]
    diff <(echo "$in_readme") <(echo "$in_help")
}

@test "the README lists the options of run, as --help does" {
    same_options run
}

@test "the README lists the options of top, as --help does" {
    same_options top
}

@test "the README lists the options of flame, as --help does" {
    same_options flame
}

@test "the README lists the options of fold, as --help does" {
    same_options fold
}

@test "the README lists the options of leaks, as --help does" {
    same_options leaks
}

@test "the README lists the options of info, as --help does" {
    same_options info
}

@test "every make target in the README exists" {
    local target
    while read -r target; do
        make -n "$target" >/dev/null || { echo "make $target"; return 1; }
    done < <(grep -oE '(`|^ +)make [a-z]+' README.md | awk '{ print $NF }' | sort -u)
}

@test "every link in the README leads to a file of the project" {
    local link failed=0
    for link in $(grep -oE '\]\([^)]+\)' README.md | tr -d '])('); do
        [[ $link == http* || $link == \#* ]] || [ -e "$link" ] || { echo "$link"; failed=1; }
    done
    [ "$failed" = 0 ]
}

@test "the README's packages are those of the list" {
    local listed package
    listed=$(awk '$1 == "build" && $2 != "gcc" && $2 != "libc6-dev" { print $2 }' tests/packages.txt | sort)
    for package in $listed; do
        grep -qw -- "$package" README.md || { echo "$package"; return 1; }
    done
}

@test "the picture parses as XML" {
    xmllint --noout share/doc/flame.svg
}
