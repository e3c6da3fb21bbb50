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

# Where it has no room for the whole of it to begin with, ordinary memory serves, and that is said.
cat >run <<'END'
mount -t tmpfs -o size=6m tmpfs /dev/shm
exec "$ADAPTRACE" record -q --max-overhead 0 -m 16M -F 20000 "$1" 100000 0.3
END
unshare -m sh run "$TARGETS/contexts" >said 2>errors || fail "record ended with $?: $(cat errors)"
one_complaint errors '/dev/shm.*nothing to recover' || fail "$(cat errors)"
check <<'END'
import recording

info = recording.info()
assert not info["reductions"] and info["samples"]["stored"] > 1000, info
END

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
