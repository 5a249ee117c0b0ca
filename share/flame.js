/* flame.js: zoom, search and keyboard of a flamegraph. Embedded into each picture, no libraries.
 *
 * The frames are the elements of the picture itself, in preorder: x, width and y of each give the
 * tree. All that can be seen follows from one state {zoom, search, flip} that lives in the URL's
 * fragment, so a link shows what its sender saw and the browser's back button undoes a zoom.
 * Without this script the picture is still whole; controls are made here, so none is dead. */
(function () {
    'use strict';

    const SVG = 'http://www.w3.org/2000/svg';
    const HTML = 'http://www.w3.org/1999/xhtml';
    const LABEL_PADDING = 6; /* pixels, as in flame_svg.c */
    const LEAST_LABEL = 3; /* characters */
    const THIN = 3; /* pixels: narrower frames have no edge */

    const root = document.currentScript.parentNode;
    const area = root.querySelector('.frames');
    if (!area)
        return; /* an empty profile */
    const header = root.querySelector('.header');
    const heading = root.querySelector('.heading');
    const details = root.querySelector('.details');
    const note = root.querySelector('.note');
    const row = Number(root.dataset.row);
    const fixed = 'fixed' in root.dataset;
    const flippedAtFirst = 'inverted' in root.dataset;
    const margin = Number(area.getAttribute('x'));
    const restText = details.textContent;
    const frames = readFrames();
    const frameOf = new Map(frames.map((frame) => [frame.element, frame]));
    const rows = Math.max(...frames.map((frame) => frame.depth)) + 1;
    let state = {zoom: 0, search: '', flip: flippedAtFirst};
    let pattern = null; /* RegExp of state.search, null when empty or invalid */
    let current = -1; /* the match that Enter went to */
    let focused = frames[0]; /* the one frame that Tab reaches */
    let width = 0; /* of the frames together, in pixels */
    let letter = 7.25; /* width of one character, measured below */

    function readFrames() {
        const list = [];
        const open = []; /* the ancestors of the frame being read */
        const base = Number(area.firstElementChild.getAttribute('y')) / row;
        for (const element of area.children) {
            const lines = element.querySelector('title').textContent.split('\n');
            const split = lines[0].lastIndexOf(' (');
            const frame = {
                element,
                index: list.length,
                name: lines[0].slice(0, split),
                value: lines[0].slice(split + 2, -1),
                more: lines[1] || '',
                x: parseFloat(element.getAttribute('x')),
                width: parseFloat(element.getAttribute('width')),
                depth: Math.abs(Number(element.getAttribute('y')) / row - base),
                label: element.querySelector('text'),
                colour: element.getAttribute('class').split(' ')[0],
                shown: true,
                above: false,
                thin: false,
                match: false,
                written: {}, /* attributes as they are, so that only changes are written */
            };
            while (open.length > frame.depth)
                open.pop().end = frame.index;
            frame.parent = open.length > 0 ? open[open.length - 1] : null;
            open.push(frame);
            list.push(frame);
        }
        for (const frame of open)
            frame.end = list.length;
        return list;
    }

    function make(namespace, name, parent, attributes) {
        const element = document.createElementNS(namespace, name);
        for (const key in attributes)
            element.setAttribute(key, attributes[key]);
        parent.appendChild(element);
        return element;
    }

    /* Labels. A name that is too long loses its qualifiers, then its end: as in flame_text.c. */

    function baseOf(name) {
        let base = 0;
        let depth = 0;
        for (let i = 0; i + 1 < name.length; i++) {
            const c = name[i];
            if ('(<[{'.includes(c))
                depth++;
            else if (')>]}'.includes(c))
                depth = Math.max(0, depth - 1);
            else if (depth === 0 && (c === '/' || (c === ':' && name[i - 1] === ':')))
                base = i + 1;
        }
        return base;
    }

    /* The first count characters, never half a surrogate pair. */
    function beginning(text, count) {
        const end = /[\uD800-\uDBFF]/.test(text.charAt(count - 1)) ? count - 1 : count;
        return text.slice(0, Math.max(0, end));
    }

    function fit(name, columns) {
        if (name.length <= columns)
            return name;
        const base = baseOf(name);
        if (base > 0 && name.length - base < columns)
            return '\u2026' + name.slice(base);
        return beginning(name.slice(base), columns - 1) + '\u2026';
    }

    /* Only fonts know how wide other alphabets are: measure these and cut until they fit. */
    function fitMeasured(element, text, pixels) {
        element.textContent = text;
        for (let used = element.getComputedTextLength(); used > pixels && text.length > 1;
             used = element.getComputedTextLength()) {
            const keep = Math.min(text.length - 1, Math.floor(text.length * pixels / used));
            text = beginning(text, Math.max(1, keep));
            element.textContent = text + '\u2026';
        }
    }

    function measureLetter() {
        const probe = make(SVG, 'svg', area, {});
        const text = make(SVG, 'text', probe, {y: -100});
        text.textContent = 'm'.repeat(100);
        const length = text.getComputedTextLength();
        area.removeChild(probe);
        if (length > 0)
            letter = length / 100;
    }

    /* Writing an attribute costs much more than comparing it. */
    function write(frame, attribute, value) {
        if (frame.written[attribute] === value)
            return;
        frame.written[attribute] = value;
        frame.element.setAttribute(attribute, value);
    }

    function writeClass(frame) {
        write(frame, 'class', frame.colour + (frame.shown ? '' : ' hidden') +
            (frame.above ? ' above' : '') + (frame.thin ? ' thin' : '') +
            (frame.match ? ' match' : '') +
            (frame.match && frame.index === current ? ' current' : ''));
    }

    function drawLabel(frame, percent, unsure) {
        const pixels = width * percent / 100 - LABEL_PADDING;
        const columns = Math.floor(pixels / letter);
        const text = columns < LEAST_LABEL ? '' : fit(frame.name.slice(0, 4000), columns);
        if (!frame.label && text !== '')
            frame.label = make(SVG, 'text', frame.element, {x: 3, y: 12});
        if (frame.label && frame.label.textContent !== text)
            frame.label.textContent = text;
        if (/[^\x20-\x7e\u2026]/.test(text))
            unsure.push([frame, text, pixels]);
    }

    /* Drawing. */

    function place(frame, zoomed, unsure) {
        const x = frame.above ? 0 : (frame.x - zoomed.x) / zoomed.width * 100;
        const percent = frame.above ? 100 : frame.width / zoomed.width * 100;
        write(frame, 'x', x + '%');
        write(frame, 'width', percent + '%');
        write(frame, 'y', (state.flip ? frame.depth : rows - 1 - frame.depth) * row);
        frame.thin = width * percent / 100 < THIN;
        drawLabel(frame, percent, unsure);
    }

    function draw() {
        const zoomed = frames[state.zoom];
        const unsure = [];
        for (const frame of frames) {
            frame.above = frame.index < zoomed.index && frame.end > zoomed.index;
            frame.shown = frame.above ||
                (frame.index >= zoomed.index && frame.index < zoomed.end);
            if (frame.shown)
                place(frame, zoomed, unsure);
            writeClass(frame);
        }
        for (const [frame, text, pixels] of unsure)
            fitMeasured(frame.label, text, pixels);
        if (!focused.shown)
            moveFocus(zoomed, false);
    }

    function drawMatches() {
        const zoomed = frames[state.zoom];
        let covered = 0;
        let count = 0;
        let free = 0; /* frames from here on lie in no match yet */
        for (const frame of frames) {
            frame.match = pattern !== null && pattern.test(frame.name);
            writeClass(frame);
            if (!frame.match || frame.index < zoomed.index || frame.index >= zoomed.end)
                continue;
            count++;
            if (frame.index >= free) {
                covered += frame.width;
                free = frame.end;
            }
        }
        area.classList.toggle('searching', pattern !== null);
        drawCount(covered / zoomed.width * 100, count);
    }

    function drawCount(percent, count) {
        const invalid = state.search !== '' && pattern === null;
        controls.search.setAttribute('aria-invalid', invalid);
        if (invalid)
            controls.matched.textContent = 'not a regular expression';
        else if (pattern === null)
            controls.matched.textContent = '';
        else
            controls.matched.textContent = 'matched ' + shareText(percent) + ', ' + count +
                (count === 1 ? ' frame' : ' frames');
    }

    function shareText(percent) {
        if (percent >= 99.995)
            return '100%';
        return (percent >= 1 || percent === 0 ? percent.toFixed(2) : percent.toPrecision(2)) + '%';
    }

    function describe(frame) {
        const zoomed = frames[state.zoom];
        let text = frame.value;
        if (state.zoom > 0 && frame !== zoomed && frame.index > zoomed.index)
            text += ', ' + shareText(frame.width / zoomed.width * 100) + ' of zoomed';
        if (frame.parent !== null && frame.parent.index > 0 &&
            (state.zoom === 0 || frame.parent !== zoomed))
            text += ', ' + shareText(frame.width / frame.parent.width * 100) + ' of caller';
        text += ' \u00b7 ' + frame.name.slice(0, 2000);
        if (frame.more)
            text += ' \u00b7 ' + frame.more;
        drawLine(details, text);
    }

    function drawLine(element, text) {
        fitMeasured(element, text, width);
    }

    function resize() {
        const whole = fixed ? Number(root.getAttribute('width'))
                            : root.getBoundingClientRect().width;
        width = Math.max(1, whole - 2 * margin);
        area.setAttribute('width', width);
        controls.holder.setAttribute('width', width);
        measureLetter();
        draw();
        drawLine(heading, headingText);
        drawLine(details, restText);
        if (note)
            drawLine(note, noteText);
        keepHeader();
    }

    /* State. */

    function readState() {
        const values = new URLSearchParams(location.hash.slice(1));
        const zoom = Number(values.get('zoom'));
        return {
            zoom: Number.isInteger(zoom) && zoom > 0 && zoom < frames.length ? zoom : 0,
            search: values.get('search') || '',
            flip: values.has('flip') !== flippedAtFirst,
        };
    }

    function fragment() {
        const values = new URLSearchParams();
        if (state.zoom > 0)
            values.set('zoom', state.zoom);
        if (state.search !== '')
            values.set('search', state.search);
        if (state.flip !== flippedAtFirst)
            values.set('flip', '1');
        return '#' + values;
    }

    /* Not every page may write its history (a picture inside another page, say): then the state is
     * lost with the page, and all else works. */
    function writeState(step) {
        try {
            if (step)
                history.pushState(null, '', fragment());
            else
                history.replaceState(null, '', fragment());
        } catch (refused) {
            return;
        }
    }

    function show(next) {
        const flipped = next.flip !== state.flip;
        state = next;
        pattern = compile(state.search);
        if (controls.search.value !== state.search)
            controls.search.value = state.search;
        controls.reset.disabled = state.zoom === 0;
        controls.flip.textContent = state.flip ? 'Flames' : 'Icicles';
        draw();
        drawMatches();
        if (flipped)
            scrollToRoot();
    }

    function change(values, step) {
        show(Object.assign({}, state, values));
        writeState(step);
    }

    /* A capital letter in the pattern makes it case-sensitive; a letter behind a backslash is
     * none. */
    function compile(text) {
        if (text === '')
            return null;
        try {
            return new RegExp(text, /\p{Lu}/u.test(text.replace(/\\./g, '')) ? '' : 'i');
        } catch (invalid) {
            return null;
        }
    }

    function zoomTo(frame) {
        if (frame.index !== state.zoom)
            change({zoom: frame.index}, true);
        describe(frame);
    }

    function resetZoom() {
        if (state.zoom !== 0)
            change({zoom: 0}, true);
        drawLine(details, restText);
    }

    function searchFor(text) {
        current = -1;
        change({search: text}, false);
    }

    function nextMatch(step) {
        const zoomed = frames[state.zoom];
        const matches = frames.filter((frame) => frame.match && frame.index >= zoomed.index &&
                                                 frame.index < zoomed.end);
        if (matches.length === 0)
            return;
        const at = matches.findIndex((frame) => frame.index === current);
        const start = at < 0 && step < 0 ? 0 : at;
        const match = matches[(start + step + matches.length) % matches.length];
        current = match.index;
        drawMatches();
        bringIntoView(match);
        describe(match);
    }

    /* Scrolling: only a picture that is the whole page does it. */

    const alone = root === document.documentElement;

    function keepHeader() {
        if (alone)
            header.setAttribute('y', Math.max(0, window.scrollY));
    }

    function scrollToRoot() {
        if (alone)
            window.scrollTo(0, state.flip ? 0 : root.getBoundingClientRect().height);
    }

    function bringIntoView(frame) {
        const box = frame.element.getBoundingClientRect();
        const top = header.getBoundingClientRect().bottom;
        if (alone && box.top < top)
            window.scrollBy(0, box.top - top - 3 * row);
        else if (alone && box.bottom > window.innerHeight)
            window.scrollBy(0, box.bottom - window.innerHeight + 3 * row);
    }

    /* Keyboard: one frame is in the Tab order; arrows walk the tree from there. */

    function moveFocus(frame, take) {
        focused.element.setAttribute('tabindex', -1);
        focused = frame;
        focused.element.setAttribute('tabindex', 0);
        if (take) {
            focused.element.focus({preventScroll: true});
            bringIntoView(focused);
        }
    }

    function child(frame) {
        const next = frames[frame.index + 1];
        return next && next.parent === frame ? next : null;
    }

    /* The next frame shown on the same row, to the left (-1) or right (1). */
    function neighbour(frame, step) {
        for (let i = frame.index + step; i > 0 && i < frames.length; i += step)
            if (frames[i].depth === frame.depth)
                return frames[i].shown ? frames[i] : null;
        return null;
    }

    function frameKey(event) {
        const outward = state.flip ? 'ArrowDown' : 'ArrowUp';
        const inward = state.flip ? 'ArrowUp' : 'ArrowDown';
        let next = null;
        if (event.key === 'Enter' || event.key === ' ')
            zoomTo(focused);
        else if (event.key === outward)
            next = nextShown(child(focused));
        else if (event.key === inward)
            next = focused.parent;
        else if (event.key === 'ArrowLeft')
            next = neighbour(focused, -1);
        else if (event.key === 'ArrowRight')
            next = neighbour(focused, 1);
        else if (event.key === 'Home')
            next = frames[state.zoom];
        else
            return;
        event.preventDefault();
        if (next)
            moveFocus(next, true);
    }

    /* Above the zoomed frame only the way to it is shown. */
    function nextShown(frame) {
        while (frame && !frame.shown)
            frame = frames[frame.end] && frames[frame.end].parent === frame.parent
                ? frames[frame.end] : null;
        return frame;
    }

    function pageKey(event) {
        const searching = document.activeElement === controls.search;
        const find = (event.key === 'f' || event.key === 'F') && (event.ctrlKey || event.metaKey);
        const typing = event.target.matches && event.target.matches('input, textarea, select');
        if ((find && !searching) || event.key === 'F3' || (event.key === '/' && !typing)) {
            /* Ctrl-F a second time is the browser's own. */
            event.preventDefault();
            controls.search.focus({preventScroll: true});
            controls.search.select();
        } else if (event.key === 'Escape' && state.search !== '') {
            searchFor('');
        } else if (event.key === 'Escape') {
            resetZoom();
        }
    }

    function frameAt(event) {
        let element = event.target;
        while (element && element.parentNode !== area)
            element = element.parentNode;
        return element ? frameOf.get(element) : undefined;
    }

    /* Controls. */

    function makeControls() {
        const holder = make(SVG, 'foreignObject', header,
                            {x: margin, y: 32, width: '100%', height: 28});
        const bar = make(HTML, 'div', holder, {class: 'controls', role: 'toolbar'});
        const search = make(HTML, 'input', bar, {
            type: 'search',
            placeholder: 'Search (Ctrl-F)',
            'aria-label': 'Search frames by regular expression',
            title: 'A regular expression. Capital letters make it case-sensitive. Enter: next match',
            autocomplete: 'off',
            spellcheck: 'false',
        });
        const matched = make(HTML, 'output', bar, {class: 'matched', 'aria-live': 'polite'});
        const reset = make(HTML, 'button', bar, {type: 'button', class: 'reset', title: 'Esc'});
        const flip = make(HTML, 'button', bar, {type: 'button', class: 'flip'});
        reset.textContent = 'Reset zoom';
        search.addEventListener('input', () => searchFor(search.value));
        search.addEventListener('keydown', (event) => {
            if (event.key === 'Enter')
                nextMatch(event.shiftKey ? -1 : 1);
        });
        reset.addEventListener('click', resetZoom);
        flip.addEventListener('click', () => change({flip: !state.flip}, false));
        return {holder, search, matched, reset, flip};
    }

    function listen() {
        area.addEventListener('click', (event) => {
            const frame = frameAt(event);
            if (frame) {
                moveFocus(frame, false);
                zoomTo(frame);
            }
        });
        area.addEventListener('mouseover', (event) => {
            const frame = frameAt(event);
            if (frame)
                describe(frame);
        });
        area.addEventListener('mouseleave', () => drawLine(details, restText));
        area.addEventListener('focusin', (event) => {
            const frame = frameAt(event);
            if (frame) {
                moveFocus(frame, false);
                describe(frame);
            }
        });
        area.addEventListener('keydown', frameKey);
        window.addEventListener('keydown', pageKey);
        window.addEventListener('resize', resize);
        window.addEventListener('scroll', keepHeader);
        window.addEventListener('popstate', () => show(readState()));
        window.addEventListener('hashchange', () => show(readState()));
    }

    function describeToReaders() {
        area.setAttribute('role', 'tree');
        area.setAttribute('aria-label', headingText);
        for (const frame of frames) {
            frame.element.setAttribute('role', 'treeitem');
            frame.element.setAttribute('aria-level', frame.depth + 1);
            frame.element.setAttribute('tabindex', -1);
        }
        focused.element.setAttribute('tabindex', 0);
    }

    const headingText = heading.textContent;
    const noteText = note ? note.textContent : '';
    const controls = makeControls();
    if (!fixed) {
        root.removeAttribute('viewBox');
        root.setAttribute('width', '100%');
    }
    if (note)
        make(SVG, 'title', note, {}).textContent = noteText;
    describeToReaders();
    listen();
    state = readState();
    resize();
    show(state);
    scrollToRoot();
})();
