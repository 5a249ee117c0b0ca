#!/usr/bin/env bats
# run.bats: heapprof run as a launcher: status, signals, descriptors, environment, files, messages.

bats_require_minimum_version 1.5.0
load run_helper

setup() {
    launcher_setup
}

@test "the exit status is the command's" {
    run -3 "$heapprof" run -q sh -c 'exit 3'
    run -0 "$heapprof" run -q true
}

@test "the fatal signal is the command's, and there is no second core" {
    run -143 "$heapprof" run -q sh -c 'kill -TERM $$'
    run -139 "$heapprof" run -q sh -c 'kill -SEGV $$'
    run -137 "$heapprof" run -q sh -c 'kill -KILL $$'
    python3 - "$heapprof" <<'END'
import os, subprocess, sys
p = subprocess.run([sys.argv[1], "run", "-q", "sh", "-c", "kill -ABRT $$"], stderr=subprocess.DEVNULL)
assert p.returncode == -6, p.returncode
END
}

@test "without a terminal, a command that is stopped and continued by others goes on" {
    cat >stopped <<'END'
(/bin/sleep 0.1; /bin/sleep 0.1; kill -CONT $$) &
kill -STOP $$
echo continued
END
    # timeout makes a process group that is not orphaned: there a stop signal stops.
    run -0 --separate-stderr setsid -w sh -c 'timeout 20 "$@"; exit $?' sh "$heapprof" run -q sh stopped
    [ "$output" = continued ]
}

@test "a command that does not exist is 127, one that cannot be executed 126" {
    run -127 --separate-stderr "$heapprof" run nosuchcommand
    [ "$stderr" = "heapprof: nosuchcommand: command not found" ]
    : >plain
    run -126 --separate-stderr "$heapprof" run ./plain
    [ "${#stderr_lines[@]}" = 1 ]
    printf '#!/no/such/interpreter\n' >script
    chmod +x script
    run -127 --separate-stderr "$heapprof" run ./script
    [[ $stderr == *"interpreter does not exist" ]]
    [ ! -e heap.prof ]
    no_run_folder
}

@test "usage errors are one line and status 2" {
    for option in --nosuch --rate=0 --rate=x --allocator=x --format=x \
        --seed=x --seed=-1 --max-memory=x '--output=%z' '--output=x%'; do
        run -2 --separate-stderr "$heapprof" run "$option" true
        [ "${#stderr_lines[@]}" = 1 ]
        [ -z "$output" ]
    done
    run -2 --separate-stderr "$heapprof" run
    [ "${#stderr_lines[@]}" = 1 ]
    [ "$(echo *)" = '*' ]
}

@test "options end at the command" {
    run -0 --separate-stderr "$heapprof" run -q echo -q --rate=3
    [ "$output" = "-q --rate=3" ]
    run -0 --separate-stderr "$heapprof" run -q -- echo --
    [ "$output" = "--" ]
}

@test "nothing of ours is on stdout" {
    run -0 --separate-stderr "$heapprof" run -v "$fake" hello record=5
    [ -z "$output" ]
    [ -n "$stderr" ]
}

@test "the summary names the file and the next command to try" {
    run -0 --separate-stderr "$heapprof" run --rate=1 -o 'my file.prof' "$fake" hello record=2048
    [[ $stderr == *"peak heap     2kB"* ]]
    [[ $stderr == *"wrote         my file.prof"* ]]
    [[ $stderr == *"next          heapprof top 'my file.prof'"* ]]
}

@test "-q says nothing when all is well" {
    run -0 --separate-stderr "$heapprof" run -q "$fake" hello record=5
    [ -z "$stderr" ]
}

@test "the command has the descriptors that it would have alone" {
    # shellcheck disable=SC2217 # what stdin is, is what is tested
    ls -l /proc/self/fd </dev/null 3>&- 4>/dev/null | awk '{ print $(NF-2), $(NF-1), $NF }' >bare.txt
    "$heapprof" run -q ls -l /proc/self/fd </dev/null 3>&- 4>/dev/null | awk '{ print $(NF-2), $(NF-1), $NF }' >ours.txt
    diff <(sed 's/\[[0-9]*\]//; s/[0-9]*\/fd//' bare.txt) <(sed 's/\[[0-9]*\]//; s/[0-9]*\/fd//' ours.txt)
}

@test "descriptors that were closed stay closed, and no message lands in a file of ours" {
    # shellcheck disable=SC2016 # $$ is the command's own
    list_own='ls /proc/$$/fd >fds.txt'
    sh -c "$list_own" <&- 2>&- 3>&-
    mv fds.txt bare.txt
    "$heapprof" run -q sh -c "$list_own" <&- 2>&- 3>&-
    diff bare.txt fds.txt
    run bash -c "'$heapprof' run -q '$fake' hello record=5 <&- >&- 2>&- && '$heapprof' top heap.prof"
    [ "$status" = 0 ]
}

@test "the environment differs in LD_PRELOAD and HEAPPROF_ variables only" {
    env | grep -v '^_=' | sort >bare.txt
    "$heapprof" run -q env | grep -v '^_=' | sort >ours.txt
    run diff bare.txt ours.txt
    run bash -c 'diff bare.txt ours.txt | grep "^[<>]" | grep -v "^> LD_PRELOAD=" | grep -v "^> HEAPPROF_"'
    [ -z "$output" ]
}

@test "entries that the user has in LD_PRELOAD follow ours, whose path has no space or colon" {
    cp "$BATS_TEST_TMPDIR/bin/libheapprof.so" other.so
    mkdir "$BATS_TEST_TMPDIR/a folder:x"
    # A sanitized command minds the order of preloaded libraries.
    ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0" \
        TMPDIR="$BATS_TEST_TMPDIR/a folder:x" LD_PRELOAD=$PWD/other.so \
        run -0 --separate-stderr "$heapprof" run -q sh -c 'echo "$LD_PRELOAD"'
    [[ $output =~ ^/[^\ :]*/heapprof-[^\ :/]*/libheapprof\.so:$PWD/other\.so$ ]]
}

@test "a long TMPDIR does not break the socket" {
    local long
    long=$BATS_TEST_TMPDIR/$(printf 'x%.0s' {1..120})
    mkdir "$long"
    TMPDIR=$long "$heapprof" run -q --rate=1 "$fake" hello record=5
    [ -e heap.prof ]
}

@test "the folder of a run is private and goes with it" {
    "$heapprof" run -q sh -c 'stat -c "%a %F" "${HEAPPROF_SOCKET%/*}" "$HEAPPROF_SOCKET"; echo "$HEAPPROF_SOCKET"' >out.txt
    [ "$(sed -n 1p out.txt)" = "700 directory" ]
    [ ! -e "$(dirname "$(sed -n 3p out.txt)")" ]
}

@test "signal mask and dispositions are the caller's" {
    python3 - "$heapprof" <<'END'
import signal, subprocess, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
show = ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"]
kw = dict(stdout=subprocess.PIPE, restore_signals=False)
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
# glibc's own signals, which only the kernel can be asked to ignore
import ctypes
ignore = (ctypes.c_ulong * 4)(1, 0, 0, 0)
ctypes.CDLL(None).syscall(13, 33, ignore, None, 8)
bare = subprocess.run(show, **kw).stdout
ours = subprocess.run([sys.argv[1], "run", "-q"] + show, stderr=subprocess.DEVNULL, **kw).stdout
assert bare == ours, (bare, ours)
END
}

@test "a signal sent to the launcher reaches the command" {
    for signal in INT TERM HUP QUIT USR1 USR2 ALRM WINCH; do
        rm -f ready
        # bash starts background jobs with SIGINT and SIGQUIT ignored: python sets them right.
        python3 - "$heapprof" "$signal" <<'END'
import os, signal, subprocess, sys
number = getattr(signal, "SIG" + sys.argv[2])
script = f'trap "echo got; exit 7" {sys.argv[2]}; echo ready; while :; do read -t 0.1 x <> <(:); done'
p = subprocess.Popen([sys.argv[1], "run", "-q", "bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
assert p.stdout.readline() == b"ready\n"
p.send_signal(number)
assert p.stdout.read() == b"got\n"
assert p.wait() == 7, p.returncode
END
    done
}

@test "a signal sent to the whole process group reaches the command once" {
    python3 - "$heapprof" "${BUILD:-$root/build}/tests/targets/counts_terms" <<'END'
import os, signal, subprocess, sys
for to_group, also_to_launcher in ((True, False), (True, True), (False, True)):
    p = subprocess.Popen([sys.argv[1], "run", "-q", sys.argv[2]], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    assert p.stdout.readline() == b"ready\n"
    if also_to_launcher:
        os.kill(p.pid, signal.SIGTERM)  # as timeout(1) does: first the one it has started
    if to_group:
        os.killpg(p.pid, signal.SIGTERM)
    assert p.stdout.read() == b"1\n"
    assert p.wait() == 0, p.returncode
END
}

@test "what the terminal sends comes once; ^Z stops both and fg wakes both; stdin is usable" {
    python3 "$BATS_TEST_DIRNAME/run_terminal.py" "$heapprof"
}

@test "the output's folder is tried before the command starts" {
    run -1 --separate-stderr "$heapprof" run -o /no/such/folder/x.prof touch started
    [ "$stderr" = "heapprof: /no/such/folder/x.prof: cannot be written: No such file or directory" ]
    mkdir folder
    run -1 --separate-stderr "$heapprof" run -o folder touch started
    [ ! -e started ]
}

@test "-o names the command's file, and others get the pid before the suffix" {
    "$heapprof" run -q --rate=1 -o out.pprof "$fake" hello record=1 child hello record=2 end wait
    set -- out*
    [ "$#" = 2 ]
    [[ $1 =~ ^out\.[0-9]+\.pprof$ ]]
}

@test "%p is the pid, %e the program, %n a number" {
    "$heapprof" run -q -o '%e-%p-%n-%%.prof' sh -c "echo \$\$ >pid.txt; exec '$fake' hello"
    [ -e "fake_runtime-$(cat pid.txt)-1-%.prof" ]
}

@test "-o - and /dev/stdout are written straight" {
    "$heapprof" run -q -o - "$fake" hello record=5 >a.prof
    "$heapprof" top a.prof
    echo before >b.txt
    "$heapprof" run -q -o /dev/stdout --format=folded --rate=1 "$fake" hello record=5 >>b.txt
    [ "$(sed -n 1p b.txt)" = before ]
    [[ $(sed -n 2p b.txt) == *"record 5" ]]
    [ "$(echo *)" = "a.prof b.txt" ]
}

@test "a device stays a device, a FIFO gets the profile" {
    "$heapprof" run -q -o /dev/null "$fake" hello record=5
    [ -c /dev/null ]
    mkfifo pipe
    cat pipe >got.prof &
    "$heapprof" run -q -o pipe "$fake" hello record=5
    wait $!
    [ -p pipe ]
    "$heapprof" top got.prof
}

@test "--format=folded and svg are written under their own suffixes" {
    "$heapprof" run -q --rate=1 --format=folded "$fake" hello record=5
    [[ $(cat heap.folded) == *"record 5" ]]
    "$heapprof" run -q --format=svg "$fake" hello record=5
    xmllint --huge --noout heap.svg
}

@test "--no-symbolize writes addresses" {
    "$heapprof" run -q --no-symbolize "$fake" hello record=5
    run "$heapprof" top heap.prof
    [[ $output != *record$'\n'* ]]
    [[ $output != *" record" ]]
}

@test "when the folder is gone at the end, the profile goes to TMPDIR and one line says where" {
    mkdir gone
    run -0 --separate-stderr "$heapprof" run -q -o gone/x.prof sh -c "rm -r gone; exec '$fake' hello record=5"
    [[ $stderr =~ ^heapprof:\ gone/x\.prof:\ .*the\ profile\ is\ in\ ($TMPDIR/heapprof-[^/]*/x\.prof)$ ]]
    "$heapprof" top "${BASH_REMATCH[1]}"
}

@test "when the disk is full, the profile goes to TMPDIR" {
    run -0 --separate-stderr "$heapprof" run -q -o /dev/full "$fake" hello record=5
    [[ $stderr =~ ^heapprof:\ /dev/full:\ .*No\ space\ .*in\ ($TMPDIR/heapprof-[^/]*/full)$ ]]
    "$heapprof" top "${BASH_REMATCH[1]}"
}

@test "a static program runs, gets no file, and the line says why" {
    printf 'int main(void) { return 5; }\n' >five.c
    gcc -static five.c -o five
    run -5 --separate-stderr "$heapprof" run -q ./five
    [ "$stderr" = "heapprof: no profile: ./five is statically linked" ]
    [ ! -e heap.prof ]
    gcc -static-pie five.c -o five-pie
    run -5 --separate-stderr "$heapprof" run -q ./five-pie
    [[ $stderr == *"./five-pie is statically linked" ]]
    echo old >heap.prof
    run -5 --separate-stderr "$heapprof" run -q ./five
    [ "$stderr" = "heapprof: no profile: ./five is statically linked; heap.prof is an older one, left alone" ]
    [ "$(cat heap.prof)" = old ]
    printf '#!%s\n' "$PWD/five" >script
    chmod +x script
    run -5 --separate-stderr "$heapprof" run -q ./script
    [[ $stderr == *"/five is statically linked"* ]]
}

@test "a musl program runs without our library" {
    printf '#include <stdio.h>\nint main(void) { puts("hello"); return 5; }\n' >five.c
    musl-gcc five.c -o five
    run -5 --separate-stderr "$heapprof" run -q ./five
    [ "$output" = hello ]
    [[ $stderr == *"no profile: "*"musl"* ]]
}

@test "a dynamic program that does not load the runtime gets a line too" {
    run -0 --separate-stderr "$heapprof" run -q true
    [[ $stderr == "heapprof: no profile: "*"did not load the runtime library"* ]]
}

@test "the run ends for a reader behind it although children live on" {
    mkfifo hold
    "$heapprof" run "$fake" hello child quiet hello read=hold end print=over 2>&1 \
        </dev/null 3>&- | cat >out.txt
    grep -q over out.txt
    : >hold
    eventually no_run_folder
}

@test "a launcher that is killed leaves the command running" {
    mkfifo hold
    "$heapprof" run -q sh -c 'echo $$ >pid; read x <hold; echo "$x" >result' 3>&- &
    local launcher=$!
    eventually test -s pid
    kill -KILL $launcher
    wait $launcher || true
    echo alive >hold
    eventually test -s result
    [ "$(cat result)" = alive ]
}
