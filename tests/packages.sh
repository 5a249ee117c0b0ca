#!/bin/sh
# packages.sh check|install KIND...: the Debian packages of these kinds (see packages.txt).
#
# check prints what is missing and how to get it, and fails when something is. install gets it
# with apt-get where that is possible (as root, or through sudo when that asks for no password);
# elsewhere it does as check does. Nothing is fetched when nothing is missing. Services that a
# package brings are not started: a test that needs one starts its own.
set -eu

list=$(dirname "$0")/packages.txt
action=${1:?check or install}
shift

has_header() {
    printf '#include <%s>\n' "$1" | "${CC:-gcc}" -E -o /dev/null - 2>/dev/null
}

# The compiler answers with the bare name when it knows no such library.
has_library() {
    case $("${CC:-gcc}" -print-file-name="$1" 2>/dev/null) in
    */*) return 0 ;;
    *) return 1 ;;
    esac
}

is_there() {
    case $1 in
    command:*) command -v "${1#command:}" >/dev/null 2>&1 ;;
    header:*) has_header "${1#header:}" ;;
    library:*) has_library "${1#library:}" ;;
    file:*) [ -e "${1#file:}" ] ;;
    *) echo "packages.txt: what is $1?" >&2 && exit 2 ;;
    esac
}

missing_of() {
    while read -r kind package probe; do
        [ "$kind" = "$1" ] || continue
        is_there "$probe" || echo "$package"
    done <"$list"
}

missing_packages() {
    for wanted in "$@"; do
        missing_of "$wanted"
    done | sort -u
}

explain() {
    echo "heapprof: missing Debian packages:" >&2
    for package in $missing; do
        echo "  $package" >&2
    done
    # shellcheck disable=SC2086 # one word a package
    echo "install them with: apt-get install --no-install-recommends" $missing >&2
}

# Packages with a service start it when they are installed, unless policy-rc.d forbids it.
forbid_services() {
    policy=/usr/sbin/policy-rc.d
    [ ! -e $policy ] || return 0
    trap 'rm -f $policy' EXIT
    trap 'exit 1' HUP INT TERM
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
}

fetch() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 && return 0
    tail -n 20 "$log" >&2
    echo "heapprof: apt-get $1 failed" >&2
    return 1
}

missing=$(missing_packages "$@")
[ -n "$missing" ] || exit 0
if [ "$action" = check ] || ! command -v apt-get >/dev/null 2>&1; then
    explain
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        exec sudo -n sh "$0" install "$@"
    fi
    explain
    exit 1
fi

# shellcheck disable=SC2086 # one word a package
echo "installing Debian packages:" $missing >&2
log=$(mktemp)
forbid_services
fetch update
# shellcheck disable=SC2086
fetch install -y --no-install-recommends $missing
rm -f "$log"
missing=$(missing_packages "$@")
[ -z "$missing" ] || {
    explain
    exit 1
}
