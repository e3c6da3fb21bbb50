#!/bin/sh
# With few file descriptors less is opened, it is said, and the recording goes on; with none to
# speak of one line says what to raise. The target keeps its own limit.
. "$(dirname "$0")/scenario"
need_sampling

with() { # LIMIT COMMAND...
	limit=$1; shift
	prlimit --nofile="$limit" "$ADAPTRACE" record -q --max-overhead 0 --inherit "$@" >said 2>errors
}

head -1 /proc/stat >stat
with 44 -F "$(rate 10000)" "$TARGETS/quarters" 2 0.2 || fail "44 descriptors: $(cat errors)"
cat errors
complaints errors | grep -q "files may be open.*ulimit -n" || fail "nothing was said: $(cat errors)"
measure <<'END'
import recording
info = recording.info()
used, = recording.said()["used"]
assert recording.close(sum(c["weight"] for c in info["commands"]) / 1e9, used, 0.1,
                       recording.allowance(info))
END
for limit in 4 6 10 16 20; do
	with $limit sh -c 'ulimit -n'
	status=$?
	echo "$limit: $status $(cat errors)"
	[ $status = 0 ] || [ $status = 125 ] || fail "$limit descriptors: $status"
	if [ $status = 0 ]; then
		[ "$(cat said)" = $limit ] || fail "the target's limit is $(cat said)"
	else
		complaints errors | grep -q '^adaptrace: ' || fail "nothing was said"
		complaints errors | grep -q "ulimit -n" || fail "no way out: $(cat errors)"
	fi
done
# Nor does a recording begin whose trace or names could not be had in the end.
for limit in 24 26 28 30 32; do
	prlimit --nofile=$limit "$ADAPTRACE" record -q -o few.atr "$TARGETS/burn" 0.2 >said 2>errors
	status=$?
	[ $status = 125 ] && complaints errors | grep -q "ulimit -n" && continue
	[ $status = 0 ] || fail "$limit descriptors: $status $(cat errors)"
	"$ADAPTRACE" report --json few.atr | grep -q '"symbol":"burn_step"' || fail "$limit descriptors: no names"
done
# What one line says is enough: for a target of many threads, too.
python3 -c 'import threading
for _ in range(200):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("ready", flush=True)
threading.Event().wait()' >ready & target=$!
background="$background $target"
await grep -q ready ready
prlimit --nofile=100 "$ADAPTRACE" record -q -p $target 2>errors && fail "200 threads by 100 descriptors"
enough=$(sed -n 's/.*ulimit -n \([0-9]*\).*/\1/p' errors)
[ "${enough:-0}" -gt 200 ] || fail "no number: $(cat errors)"
if [ "$enough" -le "$(ulimit -Hn)" ]; then
	prlimit --nofile="$enough" "$ADAPTRACE" record -q -p $target --duration 0.2 2>errors ||
		fail "$enough descriptors: $(cat errors)"
fi
pass
