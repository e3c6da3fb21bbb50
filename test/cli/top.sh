#!/bin/sh
# The screen of adaptrace top, in a terminal of its own: rows, keys, sizes, and the recording's end.
. "$(dirname "$0")/scenario"
need_sampling
command -v tmux >/dev/null || skip "no tmux"
"$ADAPTRACE" top </dev/null >/dev/null 2>errors
[ $? = 2 ] && one_complaint errors "top needs a terminal" || fail "$(cat errors)"

start_recording -F 1000 -o x.atr "$TARGETS/shares" 100000 >/dev/null 2>errors
if grep -q "no room in /dev/shm" errors; then
	skip "no room in /dev/shm"
fi
terminal() { TMUX= tmux -f /dev/null -S "$work/socket" "$@"; }
shown() { terminal capture-pane -p >picture; }
shows() { shown && grep -q -e "$1" picture; }
expect_picture() { await shows "$1" || fail "no '$1' in: $(cat picture)"; }
press() { terminal send-keys "$@"; }
terminal new -d -x 80 -y 24 "$ADAPTRACE top x.atr 2>said; echo ended with \$?; sleep 60" ||
	skip "tmux does not start here"
background="$background $(terminal display -p '#{pid}')"

expect_picture '% *±.*%  *[0-9.]* %  *six'
grep -q 'last [0-9.]* s▾ *± error *whole run *function' picture || fail "$(cat picture)"
grep -q 'shares 100000 · .* · all (.*Hz) · 0 lost · cpu-clock' picture || fail "$(cat picture)"
! grep -q 'module' picture || fail "80 columns are too few for modules: $(cat picture)"
terminal resize-window -x 120 -y 30
expect_picture 'six  *shares$'
grep -q 'last minute  *function  *module' picture || fail "$(cat picture)"
grep -q 'shares 100000 · .* · recording all (.*Hz) · 0 lost · cpu-clock' picture || fail "$(cat picture)"
press s
expect_picture 'whole run▾'
press s t
expect_picture '100.0 %.*shares [0-9]*$'
press f
expect_picture ' three '
press /
press -l 'thré'
expect_picture 'filter: thré_$'
press BSpace
expect_picture 'filter: thr_$'
press Enter
expect_picture 'filter: thr$'
! shows '  six ' || fail "the filter lets six pass: $(cat picture)"
press Enter
expect_picture 'callers of three:'
press q
expect_picture 'filter: thr$'
press Escape
"$ADAPTRACE" ctl x.atr pause --recording || fail "pause"
expect_picture ' · recording-paused, all ('
"$ADAPTRACE" top --once --json x.atr 2>/dev/null | grep -q '"state": *"recording-paused"' || fail "the state"
"$ADAPTRACE" ctl x.atr resume || fail "resume"
press g
expect_picture '─ main\| main'
press Right
expect_picture '^ *self  call path'
press f
expect_picture 'whole run.*function'
press g
expect_picture '^ *total *self  call path'
press q '?'
expect_picture 'freeze the picture'
press q
# Once the run is sampled too rarely, a window shows the last second, as long as somebody looks.
"$ADAPTRACE" ctl x.atr overhead 0.01 2>errors || fail "$(cat errors)"
await sh -c "'$ADAPTRACE' ctl x.atr status | grep -q 'floor [456]'"
"$ADAPTRACE" ctl x.atr overhead 0 2>errors || fail "$(cat errors)"
expect_picture 'recording 1 of .*Hz), window .* Hz ·'
terminal resize-window -x 40 -y 10
expect_picture '% *±'
# A long answer has as many lines as it takes.
press e
press -l nonsuch
press Enter
expect_picture "refused: unknown event 'nonsuch'"
expect_picture 'list shows what there is$'
kill $recorder
wait $recorder
terminal resize-window -x 120 -y 24
expect_picture 'the recording has ended'
sleep 1.2 # it stays, tick after tick
shows '^ *[1-9][0-9.]* % .* six ' || fail "the last picture is gone: $(cat picture)"
press p
expect_picture 'the recorder has just ended'
press q
expect_picture 'ended with 0'
[ ! -s said ] || fail "$(cat said)"
# Signs are ASCII where the terminal takes no UTF-8.
terminal respawn-window -k "LC_ALL=C $ADAPTRACE top x.atr"
expect_picture '%.*+-.*%.* six'
! LC_ALL=C grep -q '[^ -~]' picture || fail "not ASCII: $(cat picture)"
sleep 1.2
shows '^ *[1-9][0-9.]* % .* six ' || fail "the last second of a file is gone: $(cat picture)"
terminal respawn-window -k "TERM=dumb $ADAPTRACE top x.atr; echo ended with \$?; sleep 60"
expect_picture 'ended with 2'
grep -q 'top needs a terminal' picture || fail "$(cat picture)"
terminal kill-server
pass
