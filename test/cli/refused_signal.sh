#!/bin/sh
# A target that became another user, as under sudo, takes no signal from its recorder: that ends the
# recording, with a trace and a line.
. "$(dirname "$0")/scenario"
need_sampling
need_root make a setuid program

cat >become_root.c <<'END'
#include <unistd.h>
int main(int argc, char **argv)
{
	return argc < 2 || setuid(0) || execvp(argv[1], argv + 1);
}
END
cc -o become_root become_root.c 2>/dev/null || skip "no compiler"
chmod 4755 become_root
mkdir theirs && chmod 777 theirs
cd theirs || fail cd
as_user ../become_root true || skip "setuid has no effect here"
for signal in TERM INT; do
	as_user "$ADAPTRACE" record -q -o $signal.atr ../become_root sh -c 'echo $$ >pid; exec sleep 60' 2>errors &
	recorder=$!
	background="$background $recorder"
	await [ -s pid ]
	target=$(cat pid)
	background="$background $target"
	sleep 0.3
	pid=$(pgrep -P $recorder -f 'adaptrace' || echo $recorder)
	python3 -c 'import os, signal, sys; os.kill(int(sys.argv[1]), getattr(signal, "SIG" + sys.argv[2]))' "$pid" $signal
	wait $recorder
	status=$?
	[ $status = 143 ] || [ $status = 130 ] || fail "record ended with $status: $(cat errors)"
	grep -q "not permitted to pass SIG$signal on to '../become_root'" errors || fail "$(cat errors)"
	kill -0 $target || fail "the target has ended"
	kill -KILL $target
	"$ADAPTRACE" info $signal.atr >said || fail "no trace"
	rm pid
done
pass
