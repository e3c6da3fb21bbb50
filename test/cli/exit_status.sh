#!/bin/sh
# The exit status is the target's own, and adaptrace's failures have numbers that env's have.
. "$(dirname "$0")/scenario"
need_sampling

expect() { # STATUS ARGUMENTS-OF-RECORD...
	expected=$1; shift
	record "$@" 2>said
	status=$?
	[ "$status" = "$expected" ] || fail "record $* ended with $status, not $expected: $(cat said)"
}

expect 0 true
expect 3 sh -c 'exit 3'
expect 255 sh -c 'exit 255'
expect 143 sh -c 'kill -TERM $$'
"$ADAPTRACE" report | grep -q '(killed by signal 15)$' || fail "$("$ADAPTRACE" report)"
expect 143 sh -c 'exit 143'
"$ADAPTRACE" report | grep -q '(exit status 143)$' || fail "$("$ADAPTRACE" report)"
expect 137 sh -c 'kill -KILL $$'
expect 139 sh -c 'ulimit -c 0; kill -SEGV $$'
expect 0 -- true
expect 127 no-such-command
expect 127 ./no-such-command
expect 126 "$work"
touch plain && expect 126 ./plain
"$ADAPTRACE" record ./plain 2>&1 | grep -q 'is it an executable file' || fail "no way out of EACCES"
"$ADAPTRACE" record 'true 1' 2>&1 | grep -q 'leave out the quotes' || fail "no way out of quotes"
printf '#!/no/such/shell\n' >script && chmod +x script && expect 127 ./script
grep -q 'the interpreter that it names is missing' said || fail "no word of the interpreter: $(cat said)"
expect 125 --no-such-option true
expect 125 -e no-such-event true
expect 125
# Daemons ignore that children end, and whom they start inherits it: then these have no status.
for way in '' --inherit; do
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$ADAPTRACE" record -q $way sh -c 'exit 7' 2>said
	status=$?
	[ $status = 7 ] || fail "of daemons: $status, not 7: $(cat said)"
done
# What could not be executed leaves no trace of it.
rm -f adaptrace.atr
expect 127 no-such-command
[ ! -e adaptrace.atr ] || fail "a trace of nothing was written"
for file in /dev/shm/adaptrace*; do
	[ ! -e "$file" ] || [ ! -O "$file" ] || echo "left behind (by somebody): $file"
done
pass
