#!/usr/bin/env bats
# heapprof flame without a browser: what it writes, and how it fails. flame_browser.bats looks at
# the pictures.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    HEAPPROF=${HEAPPROF:-$PWD/build/heapprof}
    known=$BATS_TEST_TMPDIR/known.prof
    python3 tests/cli/flame_profile.py alloc_objects/count inuse_space/bytes >"$known" <<'END'
main;app::parse;malloc 10 6291456
main;render;std::vector::push_back 5 3145728
main;render 1 1048576
start;app::parse 4 2097152
END
}

profile() { # TYPE/UNIT...: a profile of the stacks on stdin
    python3 tests/cli/flame_profile.py "$@" >"$BATS_TEST_TMPDIR/made.prof"
    made=$BATS_TEST_TMPDIR/made.prof
}

picture() { # arguments of flame: the SVG goes to $svg, and must be well-formed
    svg=$BATS_TEST_TMPDIR/picture.svg
    "$HEAPPROF" flame "$@" >"$svg"
    xmllint --huge --noout "$svg"
}

# First line of each frame's <title>, in the order of the file.
titles() {
    xmllint --huge --xpath '//*[local-name()="svg"]/*[local-name()="svg"]/*[local-name()="svg"]/*[local-name()="title"]/text()' \
        "$svg" | grep '%)$\|%[a-z ]*)$'
}

frame_count() {
    xmllint --huge --xpath 'count(//*[@class="frames"]/*)' "$svg"
}

note() {
    xmllint --xpath 'string(//*[@class="note"])' "$svg"
}

@test "each frame has its name, value and share, callers before callees, the widest first" {
    picture "$known"
    run titles
    [ "$output" = "all (12MB, 100%)
main (10MB, 83.33%)
app::parse (6MB, 50.00%)
malloc (6MB, 50.00%)
render (4MB, 33.33%)
std::vector::push_back (3MB, 25.00%)
start (2MB, 16.67%)
app::parse (2MB, 16.67%)" ]
}

@test "what ends in a function itself and where its code is stand in its title too" {
    picture "$known"
    grep -A1 '<title>render (' "$svg" | grep -q '^self 1MB (8.33%), in app, app.c</title>'
    grep -A1 '<title>main (' "$svg" | grep -q '^self 0, in app, app.c</title>'
}

@test "--sample-type chooses the values, counts say of what" {
    picture --sample-type=alloc_objects "$known"
    grep -q '<title>main (16 objects, 80.00%)' "$svg"
    [ "$(xmllint --xpath 'string(/*/*[local-name()="title"])' "$svg")" = "app: alloc_objects" ]
}

@test "a sample type that the profile does not have is an error" {
    run "$HEAPPROF" flame --sample-type=cpu "$known"
    [ "$status" -eq 1 ]
    [[ "$output" == "heapprof: $known: no sample type 'cpu'; it has alloc_objects,"* ]]
}

@test "x, width and row of a frame follow from its values" {
    picture "$known"
    grep -q 'x="0%" width="83.333333%" y="34" height="16"><title>main ' "$svg"
    grep -q 'x="83.333333%" width="16.666667%" y="34" height="16"><title>start ' "$svg"
    grep -q 'x="50%" width="25%" y="0" height="16"><title>std::vector::push_back ' "$svg"
}

@test "--inverted puts the root on top" {
    picture --inverted "$known"
    grep -q 'y="0" height="16"><title>all ' "$svg"
    grep -q 'y="51" height="16"><title>malloc ' "$svg"
}

@test "--sort=name orders siblings by name" {
    profile a/bytes <<'END'
b 10
c 20
a 5
END
    picture --sort=name "$made"
    run titles
    [[ "$output" == *$'\na (5B'*$'\nb (10B'*$'\nc (20B'* ]]
    picture --sort=value "$made"
    run titles
    [[ "$output" == *$'\nc (20B'*$'\nb (10B'*$'\na (5B'* ]]
}

@test "inlined functions are frames of their own, the outer one below" {
    profile inuse_space/bytes <<'END'
main;outer > middle > inner;malloc 100
END
    picture "$made"
    run titles
    [ "$(cut -d' ' -f1 <<<"$output" | tr '\n' ' ')" = "all main outer middle inner malloc " ]
}

@test "equal names are one frame, recursion is not" {
    profile inuse_space/bytes <<'END'
main;f > g 100
main;f;g 100
main;f;f;g 50
END
    picture "$made"
    run titles
    [ "$output" = "all (250B, 100%)
main (250B, 100%)
f (250B, 100%)
g (200B, 80.00%)
f (50B, 20.00%)
g (50B, 20.00%)" ]
}

@test "the picture needs no scripts: each label fits its frame, cut with an ellipsis" {
    profile inuse_space/bytes <<'END'
a::rather::long::name::of::function 100
short 100
another_name_that_is_far_too_long_for_its_frame_however_one_cuts_it_down 50
b 750
END
    picture --width=600 "$made"
    python3 - "$svg" <<'END'
import sys
import xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
area = root.find(svg + "svg[@class='frames']")
labels = {}
for frame in area:
    text = frame.find(svg + "text")
    if text is not None:
        room = float(frame.get("width").rstrip("%")) / 100 * float(area.get("width"))
        assert 3 + len(text.text) * 7.2 <= room, text.text
        labels[frame.find(svg + "title").text.split(" (")[0]] = text.text
assert labels["a::rather::long::name::of::function"] == "functi…", labels
assert labels["short"] == "short" and labels["all"] == "all", labels
assert labels["another_name_that_is_far_too_long_for_its_frame_however_one_cuts_it_down"] == "an…"
END
}

@test "a function has the same colour in every picture" {
    picture "$known"
    colour=$(grep -o '<svg class="[a-g][0-3]" [^>]*><title>render ' "$svg" | cut -d'"' -f2)
    profile inuse_space/bytes <<'END'
render 1
END
    picture "$made"
    grep -q "<svg class=\"$colour\" [^>]*><title>render " "$svg"
}

@test "frames that are no functions are grey" {
    profile inuse_space/bytes <<'END'
[truncated];main 1
END
    picture "$made"
    grep -q '<svg class="n" [^>]*><title>\[truncated\] ' "$svg"
}

@test "hostile names give well-formed XML" {
    profile inuse_space/bytes <<'END'
main;<script>alert(1)</script> 1
main;]]> 1
main;"'&\x3b<>&amp\x3b&#0\x3b 1
main;line\nbreak\r\n\ttab 1
main;\x01\x02\x1b[31m\x7f\x9b 1
main;\udcff\udcfe\udcc3(\udced\udca0\udc80 1
main;\ufffe\uffff\ufdd0\u202e\u2028 1
main;\U0001f642\u65e5\u672c\u8a9e 1
END
    picture "$made"
    [ "$(frame_count)" = 10 ]
    [ "$(xmllint --xpath 'count(//*[local-name()="script"])' "$svg")" = 1 ]
    grep -q '<title>line\\nbreak\\r\\n\\ttab (1B' "$svg"
    grep -q "<title>&quot;&#39;&amp;;&lt;&gt;&amp;amp;&amp;#0; (1B" "$svg"
    grep -q '<title>\\x01\\x02\\x1b\[31m\\x7f� (1B' "$svg"
}

@test "hostile titles, sample types and units give well-formed XML" {
    profile $'<in&use>\x01/"b"\'' <<'END'
main 1
END
    picture --title $'</title><script>\x1b\xff]]>' "$made"
    [ "$(xmllint --xpath 'count(//*[local-name()="script"])' "$svg")" = 1 ]
}

@test "a name of 70,000 characters is cut in the middle, and says so" {
    profile inuse_space/bytes < <(printf 'main;begin%070000dend 5\n' 0)
    picture "$made"
    [ "$(stat -c %s "$svg")" -lt 60000 ]
    grep -q '<title>begin00*0 … 62328 bytes left out … 00*end (5B' "$svg"
}

@test "many narrow frames give a small file that says what is left out" {
    profile inuse_space/bytes < <(echo 'main;wide 1000000'; seq -f 'main;narrow%g 1' 30000)
    picture "$made"
    [ "$(frame_count)" = 3 ]
    [ "$(note)" = "30000 frames narrower than 0.01% not shown (29.30kB, 2.91% in all). " ]
    picture --min-width=0 --max-frames=0 "$made"
    [ "$(frame_count)" = 30003 ]
    [ "$(note)" = "" ]
}

@test "--max-frames keeps the widest frames" {
    profile inuse_space/bytes < <(seq 5000 | sed 's/.*/main;f& &/')
    picture --min-width=0 --max-frames=102 "$made"
    [ "$(frame_count)" = 102 ]
    grep -q '<title>f5000 ' "$svg"
    grep -q '<title>f4901 ' "$svg"
    run ! grep -q '<title>f4900 ' "$svg"
}

@test "a stack of 3,000 frames is drawn to a depth of 1,023 and says so" {
    profile inuse_space/bytes < <(printf 'root'; printf ';f%g' {1..2999}; echo ' 7')
    picture "$made"
    [ "$(frame_count)" = 1024 ]
    [ "$(note)" = "1977 frames deeper than 1023 not shown. " ]
}

@test "a profile without samples gives a picture that says so" {
    for stacks in '' 'main 0'; do
        profile inuse_space/bytes <<<"$stacks"
        picture "$made"
        [ "$(xmllint --xpath 'string(//*[@class="empty"])' "$svg")" = \
            "No samples: inuse_space is 0 everywhere in this profile." ]
    done
}

@test "a difference shows what grew and what shrank, as wide as both together" {
    profile inuse_space/bytes <<'END'
main;a;grew 5242880
main;a;shrank -3145728
main;b -2097152
END
    picture "$made"
    run titles
    [ "$output" = "all (0, 100% of all change)
main (0, 100% of all change)
a (+2MB, 80.00% of all change)
grew (+5MB, 50.00% of all change)
shrank (-3MB, 30.00% of all change)
b (-2MB, 20.00% of all change)" ]
    grep -q '<svg class="u3" x="0%" width="50%" [^>]*><title>grew ' "$svg"
    grep -q '<svg class="x3" x="50%" width="30%" [^>]*><title>shrank ' "$svg"
    grep -q '^grew 5MB, shrank 3MB, self 0, in app' "$svg"
    [[ "$(note)" == *"Difference of two profiles"* ]]
}

@test "the largest values are drawn, more than 64 bits are an error with nothing written" {
    profile inuse_space/bytes <<'END'
a 9223372036854775807
b -9223372036854775808
END
    picture "$made"
    grep -q 'width="50%" y="0" height="16"><title>b ' "$svg"
    profile inuse_space/bytes <<'END'
a 9223372036854775807
b 9223372036854775807
c 9223372036854775807
END
    run "$HEAPPROF" flame "$made"
    [ "$status" -eq 1 ]
    [ "$output" = "heapprof: inuse_space: the values add up to more than 64 bits can hold" ]
}

@test "the picture refers to nothing outside itself" {
    picture "$known"
    run grep -n 'http[s]*:' "$svg"
    [ "$(grep -v 'www.w3.org/\(2000/svg\|1999/xhtml\)' <<<"$output")" = "" ]
    run ! grep -qi '@import\|url(\|href' "$svg"
}

@test "the same profile gives the same picture" {
    picture "$known"
    "$HEAPPROF" flame - <"$known" | cmp - "$svg"
}

@test "-o writes a file, which appears whole or not at all" {
    run "$HEAPPROF" flame "$known" -o "$BATS_TEST_TMPDIR/out.svg"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
    xmllint --noout "$BATS_TEST_TMPDIR/out.svg"
    echo old >"$BATS_TEST_TMPDIR/kept.svg"
    run "$HEAPPROF" flame "$BATS_TEST_TMPDIR/absent.prof" -o "$BATS_TEST_TMPDIR/kept.svg"
    [ "$status" -eq 1 ]
    [ "$(cat "$BATS_TEST_TMPDIR/kept.svg")" = old ]
    run "$HEAPPROF" flame "$known" -o "$BATS_TEST_TMPDIR/no/such/folder.svg"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "a full disk and a closed standard output are errors" {
    run "$HEAPPROF" flame "$known" -o /dev/full
    [ "$status" -eq 1 ]
    [[ "$output" == "heapprof: "*"No space left on device"* ]]
    run bash -c "'$HEAPPROF' flame '$known' >/dev/full"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
    run bash -c "'$HEAPPROF' flame '$known' >&-"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "a file that is no profile is an error with nothing on standard output" {
    for content in '' 'not a profile' $'\x1f\x8b\x08'; do
        printf '%s' "$content" >"$BATS_TEST_TMPDIR/bad"
        run --separate-stderr "$HEAPPROF" flame "$BATS_TEST_TMPDIR/bad"
        [ "$status" -eq 1 ]
        [ "$output" = "" ]
        # shellcheck disable=SC2154 # set by run
        [ "${#stderr_lines[@]}" -eq 1 ]
        # shellcheck disable=SC2154 # set by run
        [[ "$stderr" == "heapprof: $BATS_TEST_TMPDIR/bad: "* ]]
    done
}

@test "wrong options and operands are usage errors" {
    for arguments in "" "$known $known" "--width=10 $known" "--width=999999999 $known" \
        "--min-width=2 $known" "--sort=colour $known" "--no-such-option $known"; do
        # shellcheck disable=SC2086 # words on purpose
        run "$HEAPPROF" flame $arguments
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
    done
}

@test "real profiles give well-formed pictures whose root holds the total" {
    corpus=../shared/corpus
    [ -d "$corpus" ] || skip "no corpus of real profiles"
    count=0
    for file in "$corpus"/dd-trace-go/*.pprof "$corpus"/felixge-pprofutils/*.pprof \
        "$corpus"/google-pprof/*/*.pb.gz "$corpus"/synthetic/*.pb; do
        "$HEAPPROF" flame "$file" >"$BATS_TEST_TMPDIR/real.svg" 2>"$BATS_TEST_TMPDIR/said" || {
            [ "$(wc -l <"$BATS_TEST_TMPDIR/said")" -eq 1 ]
            [ ! -s "$BATS_TEST_TMPDIR/real.svg" ]
            continue
        }
        xmllint --huge --noout "$BATS_TEST_TMPDIR/real.svg"
        grep -q '<title>all (\|class="empty"' "$BATS_TEST_TMPDIR/real.svg"
        count=$((count + 1))
    done
    [ "$count" -ge 20 ]
}
