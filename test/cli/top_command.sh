#!/bin/sh
# adaptrace top records a command or a process by itself, and steers it by keys.
. "$(dirname "$0")/scenario"
need_sampling
command -v tmux >/dev/null || skip "no tmux"

mkdir tmp
terminal() { TMUX= tmux -f /dev/null -S "$work/socket" "$@"; }
shown() { terminal capture-pane -p >picture; }
shows() { shown && grep -q -e "$1" picture; }
expect_picture() { await shows "$1" || fail "no '$1' in: $(cat picture)"; }
press() { terminal send-keys "$@"; }
run_top() { terminal respawn-window -k "TMPDIR=$work/tmp $ADAPTRACE top $*; echo ended with \$?; sleep 60"; }
nothing_left() { [ -z "$(ls tmp)" ] || fail "left: $(ls tmp/*)"; }
terminal new -d -x 90 -y 24 "sleep 60" || skip "tmux does not start here"
background="$background $(terminal display -p '#{pid}')"

run_top no_such_command
expect_picture 'ended with 1'
grep -q 'no_such_command' picture || fail "$(cat picture)"
nothing_left

# What it prints is not on the screen, but behind it.
printf '#!/bin/sh\necho spoken\nexec "$TARGETS/shares" 100000\n' >speaker
chmod +x speaker
export TARGETS
run_top ./speaker
expect_picture '% *±.*%  *[0-9.]* %  *six\|holds nothing in /dev/shm'
! grep -q "holds nothing" picture || skip "no room in /dev/shm"
! grep -q spoken picture || fail "$(cat picture)"
press p
expect_picture 'the program is paused'
press p
expect_picture 'it goes on'
press m
expect_picture 'mark: _'
press 'h i' Enter
expect_picture 'marked'
press e
expect_picture 'ENTER the next one): _'
press 'no-such-event' Enter
expect_picture 'refused: '
press w
expect_picture 'the run so far, .* adaptrace-1.atr'
press q
expect_picture "'./speaker' still runs; end it?"
press y Enter
expect_picture 'keep the trace as adaptrace.atr?'
grep -q '^spoken' picture || fail "$(cat picture)"
press y Enter
expect_picture 'ended with 0'
nothing_left
check <<'END'
from recording import info

for name, expected in ("adaptrace-1.atr", 4), ("adaptrace.atr", 4):
    actions = [(a["action"], a["text"], a["result"]) for a in info(name)["actions"]]
    assert actions[:3] == [("pause", "", "done"), ("resume", "", "done"), ("mark", "h i", "done")], actions
    assert actions[3][0] == "event" and actions[3][2] != "done", actions
    assert len(actions) == expected, actions
END

# A process that nobody records is recorded meanwhile, and goes on.
"$TARGETS/shares" 100000 >/dev/null &
target=$!
background="$background $target"
run_top $target
expect_picture '%  *six'
press q
expect_picture 'keep the trace as adaptrace.atr?'
press n Enter
expect_picture 'ended with 0'
nothing_left
kill -0 $target || fail "the process has ended"

# A signal before the screen is there ends the recorder as well; where there is no trace nothing is left.
run_soon() { terminal respawn-window -k "TMPDIR=$work/tmp timeout --foreground -s TERM $1 $ADAPTRACE top sleep 4321; echo ended with \$?; sleep 60"; }
for soon in 0.01 0.1; do
	run_soon $soon
	expect_picture 'ended with 124'
	await sh -c "! grep -qs '^sleep.4321' /proc/[0-9]*/cmdline"
	[ -z "$(ls tmp)" ] || grep -q 'the trace is\|the trace will be' picture || fail "left: $(ls tmp/*)"
	rm -rf tmp/*
done
terminal kill-server
pass
