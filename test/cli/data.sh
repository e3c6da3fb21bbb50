#!/bin/sh
# What memory accesses met is kept, as far as the event says: of page faults whether they were for
# code or data; stacks are the same with it and without. What the machine has not is said.
. "$(dirname "$0")/scenario"
need_sampling

for way in '' --inherit; do
	recorded $way -d -e page-faults:u -m 1M --seed 1 "$TARGETS/bursts" 0.3 100 >said
	check <<'END'
import recording
info, samples = recording.info(), recording.samples()
assert info["data"] and info["samples"]["truncated_stacks"] < len(samples) / 2
kinds = recording.weights(samples, lambda s: s["memory"]["level"])
print(kinds)
faults = [s for s in samples if s["stack"][0]["symbol"] == "fault"]
assert {s["memory"]["level"] for s in faults} == {"data"}, faults[0]
assert kinds["code"] > 0
# The class is no frame.
assert {s["stack"][1]["symbol"] for s in faults} == {"main"}
rows = recording.report("adaptrace.atr", "--sort", "mem,symbol")["functions"]
row, = (r for r in rows if r["symbol"] == "fault" and r["self"])
assert row["mem"] == "data" and row["self"] == sum(s["weight"] for s in faults)
assert sum(r["self"] for r in rows if r["mem"] == "code") == kinds["code"]
plain = recording.report()["functions"]
assert sum(r["self"] for r in plain) == sum(r["self"] for r in rows)
assert not any("mem" in r for r in plain)
END
	"$ADAPTRACE" report --sort op,tlb,snoop,latency,mem >out || fail "report: $?"
	grep -q 'op *tlb *snoop *latency *mem' out || fail "$(cat out)"
done
# All keys there are.
keys=mem,op,tlb,snoop,latency,process,thread,comm,cpu,file,line,module,symbol
"$ADAPTRACE" report --sort $keys --limit 3 >out || fail "all keys: $?"
for key in $(echo $keys | tr , ' '); do
	grep '^ *self' out | grep -q " $key" || fail "no column $key: $(cat out)"
done
# Traces that are merged keep it.
mv adaptrace.atr one.atr
recorded -d -e page-faults:u -m 1M --seed 2 "$TARGETS/bursts" 0.3 100 >said
"$ADAPTRACE" merge -o both.atr one.atr adaptrace.atr 2>errors || fail "merge: $(cat errors)"
check <<'END'
import collections
import recording
kinds = [collections.Counter(s["memory"]["level"] for s in recording.samples(f)) for f in ("one.atr", "adaptrace.atr", "both.atr")]
print(kinds)
assert kinds[2] == kinds[0] + kinds[1]
END

recorded -e page-faults:u -o without.atr "$TARGETS/burn" 0.01 >said
"$ADAPTRACE" report --sort mem without.atr 2>errors && fail "classes out of nothing"
one_complaint errors 'record them with adaptrace record --data' || fail "$(cat errors)"
"$ADAPTRACE" report --sort memory 2>errors && fail "no such key"
grep -q 'mem, op, tlb, snoop and latency' errors || fail "$(cat errors)"

# Branch stacks and precise events take a processor that has them.
"$ADAPTRACE" record -q -e cpu-clock:u -g lbr true 2>errors && fail "a clock's branches"
one_complaint errors "'cpu-clock:u' with -g lbr: .*try -g dwarf" || fail "$(cat errors)"
"$ADAPTRACE" record -q -e cpu-clock:p true 2>errors && fail "a precise clock"
one_complaint errors 'only hardware events' || fail "$(cat errors)"
if "$ADAPTRACE" doctor | grep -q '^missing  hardware counters'; then
	"$ADAPTRACE" record -q -e cycles:pp:u true 2>errors && fail "precise cycles"
	one_complaint errors 'hardware counters' || fail "$(cat errors)"
fi
pass
