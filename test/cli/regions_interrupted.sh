#!/bin/sh
# A program goes on whatever happens to it in its first call: that is where the recorder is met.
. "$(dirname "$0")/scenario"
need_sampling

echo 'int MPI_Barrier(void *comm) { return !!comm; }' |
	gcc -shared -fPIC -o libfake.so -x c - || fail "no library"
gcc -std=gnu11 -Wall -Wextra -I"$here/../../include" -o interrupted "$here/../regions/interrupted.c" \
	-pthread -L. -lfake -Wl,-rpath,"$work" || fail "no program"

./interrupted loader || fail "an error of the loader is another one"

# A thread that ends does not end with the lock of all in its hands.
recorded -m 1M --mpi -F 100 -g none timeout 30 ./interrupted cancel >said
[ "$(cat said)" = marked ] || fail "a mark was where the thread ended"
"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
check <<'E'
import json
calls = sorted(c['call'] for c in map(json.loads, open('dump')) if 'call' in c)
assert calls == ['behind', 'ending'], calls
E

recorded -m 1M --mpi -F 100 -g none ./interrupted handler
"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
check <<'E'
import json
calls = sorted(c['call'] for c in map(json.loads, open('dump')) if 'call' in c)
assert calls == ['signal', 'signal'], calls
E

# Signals neither make the wait for a recorder that does not answer longer, nor wait for themselves.
mkfifo go
without_answer() { # MODE
	rm -f status
	start_recording -m 1M --mpi -F 100 -g none \
		sh -c "read -r line <go; timeout 15 ./interrupted $1; echo \$? >status" 2>errors
	kill -STOP "$recorder"
	echo >go
	await test -s status
	kill -CONT "$recorder"
	wait "$recorder"
	[ "$(cat status)" = 0 ] || fail "the program did not go on: $1: $(cat status)"
}
without_answer signal
# Nor does a child wait for what a thread of its parent did as it was forked.
without_answer fork

# Where the recorder is gone, a thread that may wait for it does so once, and not at each call.
lose_recorder -m 1M --mpi --events-wait 1000 -F 100 -g none \
	sh -c './interrupted alone; echo $? >ended' 2>errors
echo >go
await test -s ended
[ "$(cat ended)" = 0 ] || fail "the program ended with $(cat ended)"
"$ADAPTRACE" recover adaptrace.atr 2>errors || fail "$(cat errors)"
pass
