#!/bin/sh
# The same storm without a cgroup: short processes are under-sampled then, and what is missing is
# shown as [unsampled], so that sampled and [unsampled] together are what wait4 says. Where 30 samples
# or more cover most of a command its functions are shown times what is missing, in all tables.
. "$(dirname "$0")/scenario"
need_sampling
need_totals

storm() { # COUNT ARGUMENTS-OF-RECORD...
	count=$1; shift
	echo "-- $*"
	recorded --inherit "$@" "$TARGETS/storm" "$count" 2 short 2000 long 6000 >said
	measure "$count" <<'END'
import sys
import recording

count, info = int(sys.argv[1]), recording.info()
commands = {command["comm"]: command for command in info["commands"]}
rows = recording.report("adaptrace.atr", "--sort", "comm")["functions"]
# All commands together: each process until it is buried, before or after its memory is taken apart.
said, whole = recording.said(), sum(command["exact"] for command in commands.values()) / 1e9
buried = sum(said[comm][0] - said[comm + "-life"][0] for comm in ("short", "long"))
assert recording.between(whole, said["used"][0] - buried, said["used"][0], 0.05, recording.stood_still())
for comm in "short", "long":
    command = commands[comm]
    assert command["tasks"] == count, command
    assert command["exact"] >= command["weight"] * 0.9
    # The kernel's clocks go on while a virtual machine stands still, where wait4 knows that it did.
    used = recording.of_storm(info, comm)
    assert recording.between(command["exact"] / 1e9, *used, 0.05, recording.stood_still())
    total = sum(row["self"] for row in rows if row["comm"] == comm)
    assert recording.between(total / 1e9, *used, 0.05, recording.allowance(info))
# Trees mark what was not sampled as tables do.
marked = {row["comm"]: row for row in rows if row.get("unsampled")}
trees = recording.report("adaptrace.atr", "--tree", "--sort", "comm")["trees"]
trees = {tree["comm"]: tree["children"] for tree in trees if tree.get("unsampled")}
assert trees.keys() == marked.keys(), (trees.keys(), marked.keys())
for comm, (branch,) in trees.items():
    assert branch["unsampled"]
    assert all(branch[name] == marked[comm][name] for name in ("self", "sampled", "exact")), branch
END
}

# From 0.1 ms, with reductions, to 20 ms.
storm 150 -m 64K -F "$(rate 10000)"
storm 100 -F 1000
storm 100 -F 200
storm 100 -F 100
storm 100 -F 50

# Three samples in each, and a little more: with 8 there are 24 in all, and page faults are no such samples.
for count in 8 20; do
	recorded --inherit -e cpu-clock -e page-faults -F 50 "$TARGETS/storm" "$count" 2 short 62000 >said
	check "$count" <<'END'
import sys
import recording

count = int(sys.argv[1])
taken = sum(sample["event"] == "cpu-clock" for sample in recording.samples())
report = recording.report("adaptrace.atr", "-e", "cpu-clock")
print(count, taken, report["scaled"])
assert taken >= 30 or not report["scaled"], report["scaled"]
row, = (row for row in report["functions"] if row["symbol"] == "burn_step")
code = recording.report("adaptrace.atr", "-e", "cpu-clock", "--annotate", "burn_step")
assert code["function"]["self"] == row["self"], (code["function"], row)
assert sum(line["self"] for line in code["lines"]) == row["self"], code["lines"]
END
done
pass
