#!/bin/sh
# Where /dev/shm becomes full while the buffer still grows, the buffer stays as it is and is reduced
# as a full one is: the run goes on, and one line says so.
. "$(dirname "$0")/scenario"
need_sampling
need_root "have a /dev/shm of its own"
unshare -m mount -t tmpfs -o size=6m tmpfs /dev/shm 2>/dev/null || skip "no mounts can be made here"

cat >run <<'END'
mount -t tmpfs -o size=6m tmpfs /dev/shm
exec "$ADAPTRACE" record -q --max-overhead 0 -m 4M -F 20000 \
	sh -c 'head -c 8M /dev/zero >/dev/shm/filler 2>/dev/null; exec "$0" 100000 0.7' "$TARGETS/contexts"
END
unshare -m sh run >said 2>errors || fail "record ended with $?: $(cat errors)"
one_complaint errors 'became full: the buffer could not grow beyond' || fail "$(cat errors)"
check <<'END'
import recording

info = recording.info()
memory, counts = info["memory"], info["samples"]
print(memory, counts)
assert memory["used"] <= 2 << 20
assert info["reductions"] and {r["cause"] for r in info["reductions"]} == {"memory"}
assert counts["taken"] == counts["stored"] + counts["reduced"]
assert counts["stored"] == len(recording.samples()) > 500
END

# Where it has no room for the whole of it to begin with, other memory serves, which the control socket hands
# out: all that looks at a recorder works, and nothing is left of one that is killed, which is said.
cat >run <<'END'
mount -t tmpfs -o size=$1 tmpfs /dev/shm
begin() {
	"$ADAPTRACE" record -q --max-overhead 0 -m 100M -F 2000 --history 0.2s --on 'cpu > 0.000001: mark=busy' "$TARGETS/burn" 20 2>errors &
	recorder=$!
	for i in $(seq 100); do
		"$ADAPTRACE" ctl status 2>/dev/null | grep -q '^[1-9].* samples taken' && break
		sleep 0.1
	done
	burn=$(pgrep -x burn -P $recorder)
}
begin
"$ADAPTRACE" ctl $recorder detail 0.2 2>said && "$ADAPTRACE" ctl $burn mark here || exit 3
for i in $(seq 100); do
	"$ADAPTRACE" snapshot -o s.atr 2>/dev/null && "$ADAPTRACE" info s.atr | grep -q 'mark: busy' && break
	rm -f s.atr
	sleep 0.1
done
"$ADAPTRACE" top --once --json adaptrace.atr >top.json || exit 4
"$ADAPTRACE" watch --json adaptrace.atr 2>/dev/null | head -2 >lines
[ "$(wc -l <lines)" = 2 ] || exit 5
"$ADAPTRACE" ctl stop || exit 6
kill $burn
wait $recorder
[ -z "$(ls /dev/shm)" ] || exit 7
mv adaptrace.atr whole.atr
begin
kill -KILL $recorder
kill $burn
"$ADAPTRACE" recover 2>recover
[ $? = 1 ] || exit 8
[ -z "$(ls /dev/shm)" ] || exit 9
END
for size in 64k 64m; do
	rm -f ./*.atr
	unshare -m sh run $size >said 2>other || fail "$size: record or what looks at it ended with $?: $(cat errors said other)"
	complaints errors | grep -q '/dev/shm.*nothing to recover' || fail "$size: $(cat errors)"
	grep -q 'nothing to recover\|nothing is left to recover' recover || fail "$size: $(cat recover)"
	check <<'END'
import json, recording

info, seen = recording.info("whole.atr"), recording.info("s.atr")
assert not info["reductions"] and info["samples"]["stored"] > seen["samples"]["stored"] > 0, (info, seen)
assert {a["text"] for a in seen["actions"]} >= {"here", "busy"} and len(info["windows"]) == 1, info["actions"]
assert info["history"]["full"], info["history"]
assert json.load(open("top.json"))["samples"] > 0
END
done

# Where it has room for the buffer and hardly more, the trace is one all the same.
for size in 400k 500k 600k; do
	cat >run <<END
mount -t tmpfs -o size=$size tmpfs /dev/shm
exec "\$ADAPTRACE" record -q -m 64K "\$1" 0.1
END
	unshare -m sh run "$TARGETS/burn" >said 2>errors || fail "record ended with $?: $(cat errors)"
	check <<'END'
import recording

info = recording.info()
assert len(info["events"]) == 1 and info["threads"], info
assert {s["comm"] for s in recording.samples()} == {"burn"}
END
done
pass
