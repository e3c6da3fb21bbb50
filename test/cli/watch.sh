#!/bin/sh
# A recording as JSON lines: every sample once, with its path; a slow reader loses whole lines.
. "$(dirname "$0")/scenario"
need_sampling
"$ADAPTRACE" watch x.atr 2>errors
[ $? = 2 ] && one_complaint errors "give --json" || fail "$(cat errors)"

start_recording -F 1000 -o x.atr "$TARGETS/shares" 100000 >/dev/null 2>errors
if grep -q "no room in /dev/shm" errors; then
	skip "no room in /dev/shm"
fi
target=$(target_of $recorder) || fail "no target"
"$ADAPTRACE" watch --json --samples --interval 0.2 $target >samples 2>said &
samples=$!
"$ADAPTRACE" watch --json --tables --interval 0.2 x.atr >tables 2>&1 &
tables=$!
background="$background $samples $tables"
check <<'END'
import fcntl, json, subprocess, time, recording

# The pipe has room for less than two lines.
slow = subprocess.Popen([recording.ADAPTRACE, "watch", "--json", "--interval", "0.1", "x.atr"],
                        stdout=subprocess.PIPE)
fcntl.fcntl(slow.stdout, fcntl.F_SETPIPE_SZ, 4096)
time.sleep(1)
left_out = 0
for line in slow.stdout:
    left_out += json.loads(line).get("left_out", 0)
    if left_out > 1:
        break
assert left_out > 1, left_out
slow.kill()
slow.wait()
END
kill $recorder
wait $recorder
wait $samples || fail "watch ended with $?: $(cat said)"
wait $tables || fail "watch ended with $?"
check <<'END'
import collections, json, recording

lines = [json.loads(line) for line in open("samples")]
assert lines[0]["watch"] == 1 and lines[0]["sample"] == ["after_ns", "thread", "path"], lines[0]
assert lines[-1] == {"state": "ended"}, lines[-1]
functions, paths, threads, leaves, times = {}, {0: (None, None)}, {}, collections.Counter(), []
size = nr = 0
for line, text in zip(lines[1:-1], list(open("samples"))[1:-1]):
    functions.update((f[0], f[1]) for f in line.get("functions", []))
    paths.update((p[0], (p[1], p[2])) for p in line.get("paths", []))
    threads.update((t[0], t[2]) for t in line.get("threads", []))
    at, numbers = line["first_ns"], line["samples"]
    assert len(numbers) == 3 * line["nr"] and line["left_out"] == 0, line
    for after, thread, path in zip(numbers[::3], numbers[1::3], numbers[2::3]):
        at += after
        times.append((at, threads[thread]))
        caller, function = paths[path]
        leaves[functions[function]] += 1
        while caller:
            caller, function = paths[caller]
    assert at <= line["time_ns"], line
    if line["nr"] > 20 and "paths" not in line:
        size, nr = size + len(text), nr + line["nr"]
assert not nr or size / nr < 32, size / nr
# All samples of the trace are there since the first that was written.
first = min(times)[0]
stored = collections.Counter((s["time_ns"], s["tid"]) for s in recording.samples("x.atr"))
# One that also stands for a sample that was owed is there twice.
assert all(nr <= stored[s] for s, nr in collections.Counter(times).items() if s in stored), "too often"
missing = [s for s in stored if s[0] > first and s not in set(times)]
assert len(missing) <= len(times) / 50, (len(missing), len(times))
assert leaves["six"] > 0.4 * sum(leaves.values()), leaves

rows = [json.loads(line) for line in open("tables")]
assert not any("snapshot" in text for row in rows for text in row.get("warnings", []))
assert any(f["symbol"] == "six" for row in rows for f in row.get("functions", []))
assert rows[-1] == {"state": "ended"}, rows[-1]
END
pass
