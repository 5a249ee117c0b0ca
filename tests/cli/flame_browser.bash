# flame_browser.bash: a headless Chromium for flame_browser.bats, driven through chromedriver's HTTP
# interface (WebDriver, https://www.w3.org/TR/webdriver2/) with curl. Nothing is installed, nothing
# but file:// is opened, and nothing sleeps: the browser itself waits for what a test expects.

# Starts chromedriver on a free port, which it prints once it listens, and one browser session.
browser_start() {
    BROWSER_FOLDER=$(mktemp -d)
    mkfifo "$BROWSER_FOLDER/said"
    chromedriver --port=0 >"$BROWSER_FOLDER/said" 2>&1 3>&- &
    BROWSER_DRIVER=$!
    local line port=
    exec 4<"$BROWSER_FOLDER/said"
    while [ -z "$port" ] && read -r -t 60 line <&4; do
        [[ $line =~ started\ successfully\ on\ port\ ([0-9]+) ]] && port=${BASH_REMATCH[1]}
    done
    cat <&4 >/dev/null 3>&- &
    exec 4<&-
    [ -n "$port" ] || { echo "chromedriver did not start" >&2; return 1; }
    BROWSER_URL=http://127.0.0.1:$port
    local answer
    answer=$(browser_post /session "$(browser_capabilities)") || return 1
    BROWSER_URL+=/session/$(browser_value sessionId <<<"$answer")
    export BROWSER_FOLDER BROWSER_DRIVER BROWSER_URL
}

browser_capabilities() {
    local arguments='"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
        "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--disable-dev-shm-usage", "--window-size=1200,900",
        "--user-data-dir='$BROWSER_FOLDER'/user"'
    printf '{"capabilities": {"alwaysMatch": {"browserName": "chrome",
        "timeouts": {"script": 60000}, "goog:chromeOptions": {"args": [%s]}}}}' "$arguments"
}

browser_stop() {
    [ -n "${BROWSER_URL:-}" ] && curl -s -m 60 -X DELETE "$BROWSER_URL" >/dev/null
    if [ -n "${BROWSER_DRIVER:-}" ]; then
        kill "$BROWSER_DRIVER"
        wait "$BROWSER_DRIVER" 2>/dev/null
    fi
    rm -rf "${BROWSER_FOLDER:?}"
}

browser_post() { # path, JSON body -> JSON answer; a refusal fails and is shown
    local answer
    answer=$(curl -s -m 120 -H 'Content-Type: application/json' --data-binary @- \
        "$BROWSER_URL$1" <<<"$2") || return 1
    if [[ $answer == *'"error":'* ]]; then
        echo "$answer" >&2
        return 1
    fi
    printf '%s\n' "$answer"
}

# The answer's value on stdout (or one member of it): texts as they are, the rest as JSON.
browser_value() {
    python3 -c '
import json, sys
value = json.load(sys.stdin)["value"]
for key in sys.argv[1:]:
    value = value[key]
print(value if isinstance(value, str) else json.dumps(value))' "$@"
}

browser_json() { # text without control characters but tab and newline -> JSON string
    local text=${1//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//$'\n'/\\n}
    printf '"%s"' "${text//$'\t'/\\t}"
}

# What tests say in their scripts: frame(name), and px(element), its box on the screen.
BROWSER_WORDS='
    const frames = [...document.querySelectorAll(".frames > svg")];
    const titleOf = (f) => f.querySelector("title").textContent;
    const frame = (name) => frames.find((f) => titleOf(f).startsWith(name + " ("));
    const px = (element) => element.getBoundingClientRect();
    const shown = (f) => f !== undefined && px(f.querySelector("rect")).width > 0;
    const matched = () => document.querySelector(".matched").textContent;
    const details = () => document.querySelector(".details").textContent;
'

js() { # script with a return -> its value
    local answer
    answer=$(browser_post /execute/sync \
        "{\"script\": $(browser_json "$BROWSER_WORDS $1"), \"args\": []}") || return 1
    browser_value <<<"$answer"
}

eventually() { # expression: waits until it is true, or fails when the script's time is over
    browser_post /execute/async "{\"args\": [], \"script\": $(browser_json "
        const done = arguments[0];
        (function check() { $BROWSER_WORDS
            if ($1) done(true); else requestAnimationFrame(check); })();")}" >/dev/null
}

open_picture() { # file, fragment
    browser_post /url '{"url": "about:blank"}' >/dev/null
    browser_post /url "{\"url\": $(browser_json "file://$1${2:-}")}" >/dev/null
}

window_width() { # pixels; narrower than the browser's own least width too
    browser_post /goog/cdp/execute '{"cmd": "Emulation.setDeviceMetricsOverride", "params":
        {"width": '"$1"', "height": 900, "deviceScaleFactor": 1, "mobile": false}}' >/dev/null
    eventually "Math.abs(px(document.querySelector('.frames')).width - $1) < 50"
}

colour_scheme() { # light or dark
    browser_post /goog/cdp/execute '{"cmd": "Emulation.setEmulatedMedia", "params": {"features":
        [{"name": "prefers-color-scheme", "value": "'"$1"'"}]}}' >/dev/null
}

element() { # script that returns an element -> its WebDriver id
    local answer
    answer=$(browser_post /execute/sync \
        "{\"script\": $(browser_json "$BROWSER_WORDS $1"), \"args\": []}") || return 1
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["value"].values())' <<<"$answer"
}

click() { # script that returns an element: a real click into its middle
    local id
    id=$(element "$1") || return 1
    browser_post "/element/$id/click" '{}' >/dev/null
}

click_frame() { # name
    click "return frame($(browser_json "$1")).querySelector('rect')"
}

point_at() { # name: moves the mouse there
    local id
    id=$(element "return frame($(browser_json "$1")).querySelector('rect')") || return 1
    browser_post /actions '{"actions": [{"type": "pointer", "id": "mouse", "actions": [
        {"type": "pointerMove", "duration": 0, "x": 0, "y": 0,
         "origin": {"element-6066-11e4-a52e-4f735466cecf": "'"$id"'"}}]}]}' >/dev/null
}

# Keys as WebDriver names them, in JSON: a, \uE004 Tab, \uE007 Enter, \uE00C Escape, \uE009
# Control (held until the last key is up), \uE012 to \uE015 the arrows left, up, right, down.
press() {
    local key down='' up=''
    for key in "$@"; do
        down+="{\"type\": \"keyDown\", \"value\": \"$key\"},"
        up="{\"type\": \"keyUp\", \"value\": \"$key\"},$up"
    done
    browser_post /actions '{"actions": [{"type": "key", "id": "keys", "actions": ['"$down${up%,}"']}]}' \
        >/dev/null
}

# Types the text into the search field over what was there, with real keys: WebDriver's own "clear"
# fails in a document without a body.
search_for() {
    local keys
    click 'return document.querySelector(".controls input")' || return 1
    press '\uE009' a
    keys=$(python3 -c '
import json, sys
keys = [{"type": kind, "value": key} for key in sys.argv[1] for kind in ("keyDown", "keyUp")]
print(json.dumps({"actions": [{"type": "key", "id": "keys", "actions": keys}]}))' "$1")
    browser_post /actions "$keys" >/dev/null
}
