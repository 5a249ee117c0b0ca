# shellcheck shell=sh
# rows.sh: a row of the table: measured in pairs, judged against its target, counted.
#
# Read by run.sh, which sets BENCH (the benchmark programs), HEAPPROF (the command), PAIRS, ROWS and
# WORK (the folder that it all runs in). A section is a file that calls these. Each row is one line:
# what has been measured, the target and whether it is met. Nothing here fails because of a figure.

# section TEXT: what the rows up to the next section are compared with.
section() {
    section_title=$1
    section_shown=
}

# row_wanted LABEL: whether ROWS (a regular expression, empty for all) wants the row; then its
# section's title has been printed, and the label begins the row's line.
row_wanted() {
    printf '%s: %s\n' "$section_title" "$1" | grep -Eq -e "$ROWS" || return 1
    [ -n "$section_shown" ] || printf '== %s\n' "$section_title"
    section_shown=yes
    printf '  %-48s ' "$1"
}

# judge FIGURE LIMIT [TEXT]: ends the row's line. Met when FIGURE is at most LIMIT, which TEXT says
# in the row's own terms. LIMIT - stands for a row without a target.
judge() {
    if [ "$2" = - ]; then
        echo
        return
    fi
    verdict=$(awk -v figure="$1" -v limit="$2" \
        'BEGIN { print figure != "" && figure + 0 <= limit + 0 ? "ok" : "MISSED" }')
    echo "$verdict" >>"$WORK/verdicts"
    printf '   target %s %s\n' "${3:-$2}" "$verdict"
}

# A row that could not be measured.
failed() {
    echo FAILED >>"$WORK/verdicts"
    echo "FAILED: $1"
    [ ! -s "$WORK/stderr" ] || head -n 20 "$WORK/stderr"
}

# pairs_of [-t] [-n PAIRS] [-d DIVISOR] A... --- B...: what paired says, kept for figure.
pairs_of() {
    paired_options=
    while :; do
        case $1 in
        -t) paired_options="$paired_options -t" && shift ;;
        -n | -d) paired_options="$paired_options $1 $2" && shift 2 ;;
        *) break ;;
        esac
    done
    # shellcheck disable=SC2086 # words or none
    "$BENCH/paired" -n "$PAIRS" $paired_options row "$@" >"$WORK/paired" 2>"$WORK/stderr"
}

# figure wall|cpu ratio|interval|extra|bare: of what pairs_of has kept; nothing where it is not.
figure() {
    awk -v kind="$1" -v what="$2" '$1 == kind {
        for (i = 1; i < NF; i++) {
            if (what == $i && what == "bare") print $(i + 3)
            if (what == $i && what != "bare") print $(i + 1) + 0
            if (what == "interval" && $i == "ratio" && $(i + 2) ~ /^\(/)
                print $(i + 2), $(i + 3), $(i + 4)
        }
    }' "$WORK/paired"
}

# kind_of OPTION...: together, only CPU time says something; in turn, wall time is what counts.
kind_of() {
    case " $* " in
    *" -t "*) echo cpu ;;
    *) echo wall ;;
    esac
}

# ratio_row "OPTIONS" LIMIT LABEL A... --- B...: how many times A's time B takes.
ratio_row() {
    options=$1
    limit=$2
    label=$3
    shift 3
    row_wanted "$label" || return 0
    # shellcheck disable=SC2086 # words or none
    pairs_of $options "$@" || {
        failed "$*"
        return 0
    }
    kind=$(kind_of "$options")
    printf '%-4s %.3f %-18s' "$kind" "$(figure "$kind" ratio)" "$(figure "$kind" interval)"
    [ "$kind" = cpu ] || printf ' cpu %.3f' "$(figure cpu ratio)"
    printf ' of %.0f ms' "$(figure "$kind" bare)"
    judge "$(figure "$kind" ratio)" "$limit"
}

# extra_row "OPTIONS" LIMIT UNITS WHAT LABEL A... --- B...: the ns, for each of UNITS millions of
# WHAT, that B takes more than A.
extra_row() {
    options=$1
    limit=$2
    millions=$3
    what=$4
    label=$5
    shift 5
    row_wanted "$label" || return 0
    # shellcheck disable=SC2086 # words or none
    pairs_of $options "$@" || {
        failed "$*"
        return 0
    }
    kind=$(kind_of "$options")
    extra=$(awk -v ms="$(figure "$kind" extra)" -v millions="$millions" \
        'BEGIN { printf "%+.2f", ms / millions }')
    printf '%-4s %s ns a %s (%.3f of %.0f ms)' "$kind" "$extra" "$what" \
        "$(figure "$kind" ratio)" "$(figure "$kind" bare)"
    judge "$extra" "$limit" "$limit ns"
}

# installed COMMAND|FILE WHAT: whether it is there; else one line says which rows are left out.
installed() {
    command -v "$1" >/dev/null && return 0
    [ -e "$1" ] && return 0
    echo "  (rows with $2 are left out: it is not installed)"
    return 1
}

# The last line: how many rows have met their targets.
count_rows() {
    touch "$WORK/verdicts"
    awk '{ rows[$1]++ } END {
        printf "targets: %d met, %d missed", rows["ok"], rows["MISSED"]
        if (rows["FAILED"] > 0) printf ", %d rows could not be measured", rows["FAILED"]
        print ""
    }' "$WORK/verdicts"
}
