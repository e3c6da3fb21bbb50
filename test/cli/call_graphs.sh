#!/bin/sh
# Stacks by call frame information, by frame pointers, by libunwind, and none.
. "$(dirname "$0")/scenario"
need_sampling

stacks() { # DEEP ARGUMENTS...
	deep=$1; shift
	echo "-- $*"
	recorded "$@" "$TARGETS/contexts" -r 20 0.2 >said
	check "$deep" <<'END'
import sys
import recording
samples = [s for s in recording.samples() if s["stack"][0]["module"] == "contexts"]
assert len(samples) > 1000
rooted = sum(any(f["symbol"] == "main" for f in s["stack"]) for s in samples)
depth = sum(not f["inlined"] for s in samples for f in s["stack"]) / len(samples)
print(rooted, "of", len(samples), "reach main;", depth, "frames")
complete = sum(s["complete"] for s in samples)
if sys.argv[1] == "deep":
    assert rooted > 0.9 * len(samples) and complete > 0.9 * len(samples), complete
else:
    assert depth == 1 and not complete, complete
names = recording.weights(samples, lambda s: s["stack"][0]["symbol"])
assert names["burn_step"] > 0.8 * sum(names.values()), names
END
}

stacks deep
stacks deep -g dwarf,8K
stacks deep -g fp
stacks deep --unwinder=libunwind
stacks flat -g none
"$ADAPTRACE" report --tree >said
grep -q 'callers are missing, as record -g none finds none' said || fail "no word: $(head -5 said)"
"$ADAPTRACE" report >said
grep -q 'callers are missing' said && fail "a table has no callers anyway"
"$ADAPTRACE" convert --flamegraph --force 2>said
grep -q 'callers are missing' said || fail "no word: $(cat said)"

# A caller is where it called, not where the call returns to.
line=$(grep -n 'explore(count, ns);' "$here/../targets/contexts.c" | cut -d: -f1)
for graph in dwarf fp; do
	echo "-- lines of callers, $graph"
	recorded -g $graph "$TARGETS/contexts" 10 0.1 >said
	check "$line" <<'END'
import collections
import sys
import recording
lines = collections.Counter()
for sample in recording.samples():
    below = False
    for frame in sample["stack"]:
        if below and frame["symbol"] == "main":
            lines[frame["line"]] += 1
        below = frame["symbol"] == "explore"
print(lines)
assert lines[int(sys.argv[1])] > 0.9 * sum(lines.values()) > 100
END
done

if [ "$(uname -m)" = x86_64 ]; then
	echo "-- frame pointers that are none"
	recorded -g fp "$TARGETS/no_frame_pointer" 1000000000 >said
	check <<'END'
import recording
samples = recording.samples()
known = sum(s["complete"] for s in samples)
truncated = recording.info()["samples"]["truncated_stacks"]
print(len(samples), "samples,", known, "complete,", truncated, "truncated")
assert len(samples) > 100 and known < 0.1 * len(samples)
# A sample that stands for one more has one stack.
assert 0.97 * (len(samples) - known) <= truncated <= len(samples) - known
END
	"$ADAPTRACE" report >said
	grep -q 'end in code without frame pointers; record -g dwarf, the default, needs none' said ||
		fail "no word of what to do: $(head -5 said)"
fi

if [ "$(uname -m)" = aarch64 ]; then
	echo "-- callers of functions that keep no frame, by frame pointers"
	recorded -g fp "$TARGETS/contexts" 10 0.1 >said
	check <<'END'
import recording
stacks = [[f["symbol"] for f in s["stack"]] for s in recording.samples()]
burning = [stack for stack in stacks if stack[0] == "burn_step" and "burn_until" in stack]
assert len(burning) > 30, len(burning)
assert not [stack for stack in stacks if stack[:2] == ["burn_step", "main"]]
END
fi

echo "-- programs that are being executed have no stack yet"
recorded -m 4M sh -c 'for i in $(seq 200); do /bin/true; done'
check <<'END'
import recording
execs = [s for s in recording.samples() if any("execve" in (f["symbol"] or "") for f in s["stack"])]
lost = [s for s in execs if any(f["symbol"] == "[unknown]" for f in s["stack"])]
print(len(execs), "samples of execve,", len(lost), "of them below nothing known")
assert execs or recording.info()["user_only"]
assert not lost, lost[0]
END
pass
