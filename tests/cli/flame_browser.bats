#!/usr/bin/env bats
# The flamegraph as a person uses it: in a browser, from disk. `heapprof flame` without a browser is
# in flame.bats.

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    export HEAPPROF=${HEAPPROF:-$PWD/build/heapprof} TESTS=$BATS_TEST_DIRNAME
    export PICTURES=$BATS_FILE_TMPDIR
    # shellcheck disable=SC1091 # checked by itself
    . "$TESTS/flame_browser.bash"
    # 12 MB: main 10 (parse 6, render 4), start 2. "parse" stands in two places.
    python3 "$TESTS/flame_profile.py" inuse_space/bytes >"$PICTURES/known.prof" <<'END'
main;app::parse;malloc 4194304
main;app::parse;Malloc_large 2097152
main;render;app::parse 1048576
main;render;std::vector::push_back 3145728
start;app::parse 2097152
END
    python3 "$TESTS/flame_profile.py" inuse_space/bytes >"$PICTURES/hostile.prof" <<'END'
main;<script>window.owned = 1</script> 1000
main;]]><script>window.owned = 2</script> 1000
main;" onload="window.owned = 3" x=" 1000
main;&lt\u003b</title></svg> 1000
main;line\nbreak\ttab\x1b[31m 1000
main;bad\udcff\udcc3( 1000
main;\u202eevil 1000
main;\u65e5\u672c\u8a9e\u306e\u95a2\u6570\u540d\u65e5\u672c\u8a9e\u306e\u95a2\u6570 1000
main;\U0001f642\U0001f642\U0001f642\U0001f642\U0001f642\U0001f642 1000
main;wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww (9, 3%) 1000
END
    for name in known hostile; do
        "$HEAPPROF" flame "$PICTURES/$name.prof" -o "$PICTURES/$name.svg" || return 1
    done
    browser_start
}

teardown_file() {
    # shellcheck disable=SC1091 # checked by itself
    . "$TESTS/flame_browser.bash"
    browser_stop
}

setup() {
    # shellcheck disable=SC1091 # checked by itself
    . "$TESTS/flame_browser.bash"
    colour_scheme light
    open_picture "$PICTURES/known.svg"
    window_width 1200
}

# Names of labels that leave their frame or that are not a cut form of its name; "[]" is right.
MISFITS='
    const labels = frames.map((f) => [f, f.querySelector("text")])
        .filter(([f, t]) => t && t.textContent !== "" && shown(f));
    if (labels.length === 0) return "no labels at all";
    return labels.filter(([f, t]) => {
        const box = t.getBBox(), name = titleOf(f), text = t.textContent;
        const cut = text.replace(/^\u2026|\u2026$/, "");
        return box.x < 0 || box.x + box.width > px(f.querySelector("rect")).width + 0.5 ||
            !name.includes(cut);
    }).map(([f, t]) => t.textContent);'

@test "labels fit inside their frames at every width" {
    for picture in known hostile; do
        open_picture "$PICTURES/$picture.svg"
        for width in 400 1200 2400; do
            window_width "$width"
            [ "$(js "$MISFITS")" = "[]" ]
        done
    done
}

@test "labels of a large real profile fit inside their frames, zoomed or not" {
    corpus=../shared/corpus/dd-trace-go/big-heap.pprof
    [ -r "$corpus" ] || skip "no corpus of real profiles"
    "$HEAPPROF" flame "$corpus" -o "$PICTURES/large.svg"
    open_picture "$PICTURES/large.svg"
    window_width 1200
    [ "$(js "$MISFITS")" = "[]" ]
    click 'return frames.filter((f) => px(f).width > 40).pop().querySelector("rect")'
    [ "$(js "$MISFITS")" = "[]" ]
    [ "$(js 'return document.querySelectorAll(".frames > .above").length > 0')" = true ]
}

@test "frames are as wide as their values" {
    for width in 400 1200; do
        window_width "$width"
        run js 'const all = px(frame("all")).width;
            const share = (name) => px(frame(name)).width / all;
            return [share("main") * 12, share("render") * 12, share("start") * 12,
                    share("malloc") * 12].map((mb) => mb.toFixed(2)).join(" ")'
        [ "$output" = "10.00 4.00 2.00 4.00" ]
    done
}

@test "every frame has a title with name, value and share" {
    [ "$(js 'return titleOf(frame("main")).split("\n")[0]')" = "main (10MB, 83.33%)" ]
    [ "$(js 'return frames.every((f) => / \([0-9.]+MB, [0-9.]+%\)\n/.test(titleOf(f)))')" = true ]
}

@test "a click zooms: the frame takes the whole width, its callers stay, the rest goes" {
    click_frame render
    run js 'const all = px(document.querySelector(".frames")).width;
        const wide = (name) => Math.abs(px(frame(name)).width - all) < 1;
        return [wide("render"), wide("main"), wide("all"), shown(frame("start")),
                shown(frame("malloc")), frame("main").classList.contains("above"),
                (px(frame("std::vector::push_back")).width / all).toFixed(2)].join(" ")'
    [ "$output" = "true true true false false true 0.75" ]
    [ "$(js 'return location.hash')" != "" ]
}

@test "the reset button undoes the zoom" {
    [ "$(js 'return document.querySelector(".reset").disabled')" = true ]
    click_frame render
    click 'return document.querySelector(".reset")'
    [ "$(js 'return frames.every(shown) && document.querySelectorAll(".above").length === 0')" = true ]
}

@test "Escape undoes the zoom" {
    click_frame render
    press '\uE00C'
    [ "$(js 'return frames.every(shown)')" = true ]
}

@test "the back button undoes one zoom after the other, forward does it again" {
    click_frame main
    click_frame render
    browser_post /back '{}'
    eventually 'shown(frame("malloc")) && !shown(frame("start"))'
    browser_post /back '{}'
    eventually 'frames.every(shown)'
    browser_post /forward '{}'
    eventually 'shown(frame("malloc")) && !shown(frame("start"))'
}

@test "a link to a zoomed and searched picture opens just so" {
    click_frame render
    search_for push
    link=$(js 'return location.hash')
    open_picture "$PICTURES/known.svg" "$link"
    [ "$(js 'return !shown(frame("start")) && shown(frame("render"))')" = true ]
    [ "$(js 'return document.querySelector(".controls input").value')" = push ]
    [ "$(js 'return matched()')" = "matched 75.00%, 1 frame" ]
}

@test "a link with nonsense behind the # opens the whole picture" {
    for fragment in '#zoom=-1' '#zoom=999999' '#zoom=1e400&search=(' '#%E0%A4%A' '#zoom'; do
        open_picture "$PICTURES/known.svg" "$fragment"
        [ "$(js 'return frames.every(shown)')" = true ]
    done
}

@test "a search tells how much of the memory its matches cover, nested ones once" {
    search_for parse
    [ "$(js 'return matched()')" = "matched 75.00%, 3 frames" ]
    search_for 'main|parse'
    [ "$(js 'return matched()')" = "matched 100%, 4 frames" ]
    search_for 'render|push'
    [ "$(js 'return matched()')" = "matched 33.33%, 2 frames" ]
    search_for '^render$'
    [ "$(js 'return matched()')" = "matched 33.33%, 1 frame" ]
    [ "$(js 'return [...document.querySelectorAll(".match")].map(titleOf).join().split(" ")[0]')" = render ]
    search_for nothing_of_this_name
    [ "$(js 'return matched()')" = "matched 0.00%, 0 frames" ]
}

@test "a search counts within the zoomed part" {
    click_frame render
    search_for parse
    [ "$(js 'return matched()')" = "matched 25.00%, 1 frame" ]
    click 'return document.querySelector(".reset")'
    [ "$(js 'return matched()')" = "matched 75.00%, 3 frames" ]
}

@test "a search ignores case unless the pattern has a capital letter" {
    search_for malloc
    [ "$(js 'return matched()')" = "matched 50.00%, 2 frames" ]
    search_for Malloc
    [ "$(js 'return matched()')" = "matched 16.67%, 1 frame" ]
    search_for '\Smalloc|\bMalloc'
    [ "$(js 'return matched()')" = "matched 16.67%, 1 frame" ]
}

@test "a pattern that is not valid says so and matches nothing" {
    search_for 'mal('
    [ "$(js 'return matched()')" = "not a regular expression" ]
    [ "$(js 'return document.querySelectorAll(".match").length')" = 0 ]
}

@test "Enter in the search goes from match to match, Escape ends it" {
    search_for parse
    press '\uE007'
    first=$(js 'return titleOf(document.querySelector(".current"))')
    press '\uE007'
    second=$(js 'return titleOf(document.querySelector(".current"))')
    [ "$first" != "$second" ]
    press '\uE008' '\uE007'
    [ "$(js 'return titleOf(document.querySelector(".current"))')" = "$first" ]
    press '\uE00C'
    [ "$(js 'return matched()')" = "" ]
}

@test "Ctrl-F goes to the search field" {
    press '\uE009' f
    press p
    [ "$(js 'return document.querySelector(".controls input").value')" = p ]
}

@test "the keyboard walks the frames and zooms" {
    js 'frame("all").focus(); return 0'
    press '\uE013'
    [ "$(js 'return titleOf(document.activeElement).split(" ")[0]')" = main ]
    press '\uE014'
    [ "$(js 'return titleOf(document.activeElement).split(" ")[0]')" = start ]
    press '\uE012'
    press '\uE013'
    [ "$(js 'return titleOf(document.activeElement).split(" ")[0]')" = app::parse ]
    press '\uE007'
    [ "$(js 'return !shown(frame("render")) && shown(frame("malloc"))')" = true ]
    press '\uE015'
    [ "$(js 'return titleOf(document.activeElement).split(" ")[0]')" = main ]
}

@test "Tab reaches the frames" {
    js 'document.querySelector(".flip").focus(); return 0'
    reached=false
    for _ in 1 2 3 4; do
        press '\uE004'
        reached+=" $(js 'return frames.includes(document.activeElement)')"
    done
    [[ $reached == *true* ]]
}

@test "pointing at a frame shows its value, shares and name" {
    point_at render
    eventually 'details().startsWith("4MB, 33.33%, 40.00% of caller \u00b7 render")'
    click_frame main
    point_at std::vector::push_back
    eventually 'details().startsWith("3MB, 25.00%, 30.00% of zoomed, 75.00% of caller")'
}

@test "flames become icicles and back" {
    [ "$(js 'return px(frame("all")).top > px(frame("malloc")).top')" = true ]
    click 'return document.querySelector(".flip")'
    [ "$(js 'return px(frame("all")).top < px(frame("malloc")).top')" = true ]
    click 'return document.querySelector(".flip")'
    [ "$(js 'return px(frame("all")).top > px(frame("malloc")).top')" = true ]
}

@test "a picture made with --inverted starts as icicles" {
    "$HEAPPROF" flame --inverted "$PICTURES/known.prof" -o "$PICTURES/inverted.svg"
    open_picture "$PICTURES/inverted.svg"
    [ "$(js 'return px(frame("all")).top < px(frame("malloc")).top')" = true ]
    click_frame render
    [ "$(js 'return px(frame("all")).top < px(frame("render")).top && !shown(frame("start"))')" = true ]
}

@test "a picture of fixed width keeps it" {
    "$HEAPPROF" flame --width 600 "$PICTURES/known.prof" -o "$PICTURES/fixed.svg"
    open_picture "$PICTURES/fixed.svg"
    [ "$(js 'return px(document.documentElement).width')" = 600 ]
    [ "$(js "$MISFITS")" = "[]" ]
}

@test "hostile names are shown, not run" {
    open_picture "$PICTURES/hostile.svg"
    [ "$(js 'return typeof window.owned')" = undefined ]
    [ "$(js 'return document.querySelectorAll("script").length')" = 1 ]
    [ "$(js 'return frames.length')" = 12 ]
    [ "$(js 'return frame("<script>window.owned = 1</script>") !== undefined')" = true ]
    click_frame ']]><script>window.owned = 2</script>'
    search_for '<script>'
    [ "$(js 'return matched()')" = "matched 100%, 1 frame" ]
    [ "$(js 'return typeof window.owned')" = undefined ]
}

@test "the picture loads nothing but itself" {
    [ "$(js 'return performance.getEntriesByType("resource").length')" = 0 ]
}

@test "an empty profile opens without an error and says that it is empty" {
    python3 "$TESTS/flame_profile.py" inuse_space/bytes </dev/null >"$PICTURES/empty.prof"
    "$HEAPPROF" flame "$PICTURES/empty.prof" -o "$PICTURES/empty.svg"
    open_picture "$PICTURES/empty.svg"
    [[ "$(js 'return document.querySelector(".empty").textContent')" == "No samples: inuse_space"* ]]
}

@test "labels can be read on every colour, in light and in dark" {
    for scheme in light dark; do
        colour_scheme "$scheme"
        run js '
            const light = (rgb) => rgb.match(/[0-9.]+/g).slice(0, 3).map((c) => c / 255)
                .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const f = frame("main"), before = f.getAttribute("class");
            const fill = (e) => light(getComputedStyle(e).fill);
            const names = ["n"];
            for (const hue of "abcdefg") for (const shade of "0123") names.push(hue + shade);
            for (const way of "ux") for (const much of "123") names.push(way + much);
            names.push("n match");
            document.querySelector(".frames").classList.add("searching");
            const poor = names.filter((name) => {
                f.setAttribute("class", name);
                const two = [fill(f.querySelector("rect")), fill(f.querySelector("text"))];
                return (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05) < 4.5;
            });
            f.setAttribute("class", before);
            return poor;'
        [ "$output" = "[]" ]
    done
    [ "$(js 'return getComputedStyle(document.querySelector(".ground")).fill')" = "rgb(27, 26, 25)" ]
}
