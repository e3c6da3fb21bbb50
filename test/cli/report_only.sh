#!/bin/sh
# --only shows of some threads and CPUs what tables of all have of them, errors included; --sort
# total puts rows in the order of their totals.
. "$(dirname "$0")/scenario"
need_sampling

cp "$TARGETS/threads" one
cp "$TARGETS/burn" two
for way in '' --inherit; do
	recorded $way -m 1M -F 1000 sh -c './one 3 0.3 & ./two 0.3; wait' >said

	check <<'END'
import recording

PARTS = {"comm": "comm", "process": "pid", "thread": "tid", "cpu": "cpu"}
whole = recording.report()
# Exact totals are known of all together: by inherited events tables are scaled to them, and show
# what was not sampled.
scaled = whole["scaled"] or any("exact" in row for row in whole["functions"])


def same(row, other, whole):
    """The largest weight of one sample, which is in the error, is that of a part here, and so is
    the whole, which no error is beyond."""
    if scaled:
        return row["samples"] == other["samples"]
    exact = all(row[name] == other[name] for name in ("self", "total", "samples"))
    error = min(other["error"], whole)
    return exact and abs(row["error"] - error) <= error / 20


for key, member in PARTS.items():
    # By its own names: several threads of one number are one choice, and rows of their own.
    rows = recording.report("adaptrace.atr", "--sort", f"{key},symbol,module")["functions"]
    rows = [row for row in rows if "exact" not in row]
    weight = 0
    for value in {row[member] for row in rows}:
        part = recording.report("adaptrace.atr", "--only", f"{key}={value}")
        weight += part["total_weight"]
        assert not part["scaled"], part["scaled"]
        of_value = {(row["symbol"], row["module"]): row for row in rows if row[member] == value}
        if len(of_value) < sum(row[member] == value for row in rows):
            continue
        got = {(row["symbol"], row["module"]): row for row in part["functions"]}
        assert got.keys() == of_value.keys(), (key, value)
        for name, row in got.items():
            assert same(row, of_value[name], part["total_weight"]), (key, value, row, of_value[name])
    assert scaled or weight == whole["total_weight"], (key, weight)

# Of one key either will do, of several all must.
cpus = {row["cpu"] for row in recording.report("adaptrace.atr", "--sort", "cpu")["functions"] if "cpu" in row}
every = [word for cpu in cpus for word in ("--only", f"cpu={cpu}")]
both = recording.report("adaptrace.atr", *every, "--only", "comm=one", "--only", "comm=two")
alone = [recording.report("adaptrace.atr", "--only", f"comm={comm}") for comm in ("one", "two")]
assert both["total_weight"] == sum(part["total_weight"] for part in alone), both
assert both["samples"] == sum(part["samples"] for part in alone)

# Views other than tables are of the same samples.
view = recording.report("adaptrace.atr", "--only", "comm=two", "--callers", "burn_step", "--all")
rows = {row["symbol"]: row for row in alone[1]["functions"]}
assert view["function"]["total"] == rows["burn_step"]["total"]
code = recording.report("adaptrace.atr", "--only", "comm=two", "--annotate", "burn_step", "--no-inline")
assert code["function"]["self"] == rows["burn_step"]["self"], (code["function"], rows["burn_step"])
threads = recording.report("adaptrace.atr", "--only", "comm=two", "--per-thread")["threads"]
assert {thread["comm"] for thread in threads} == {"two"}, threads

by_total = recording.report("adaptrace.atr", "--sort", "total")["functions"]
totals = [row["total"] for row in by_total]
assert totals == sorted(totals, reverse=True)
assert len(by_total) == len(whole["functions"]) and "module" in by_total[0]
assert {"comm", "module"} <= set(recording.report("adaptrace.atr", "--sort", "comm,total,dso")["functions"][0])
END
done

"$ADAPTRACE" report --only comm=two --only cpu=0 --only cpu=1 --time 0.1, >out 2>err ||
	fail "$(cat err)"
grep -q '^shown: comm=two, cpu=0, cpu=1, from .* of the run, [0-9]* of [0-9]* samples\{0,1\}$' out || fail "$(head -6 out)"
# The last --sort holds, and of those before it nothing.
for keys in comm,symbol total symbol,total; do
	"$ADAPTRACE" report --sort $keys >out || fail "--sort $keys"
	for before in total comm total,cpu; do
		"$ADAPTRACE" report --sort $before --sort $keys | cmp -s - out || fail "--sort $before --sort $keys"
	done
done
"$ADAPTRACE" report --time 0.1,0.2 >out || fail "a part"
for part in 100ms,200ms '100.0 ms,0.2 s' 100000us,0.2s 100000µs,200000000ns \
	'0 h 0 min 100 ms,0h0min0.2s'; do
	"$ADAPTRACE" report --time "$part" | cmp -s - out || fail "--time $part"
done
for part in 0min,1min 0h,0.01h 0,1m; do
	"$ADAPTRACE" report --time $part | grep -q '^cpu-clock\(:u\)\{0,1\}: ' || fail "--time $part"
done
for part in 1x,2 1,2parsecs '1 2,4' '1 s -1 s,4' -1s,2 nan,1 1e300h, 2min,1min; do
	"$ADAPTRACE" report --time "$part" >out 2>err
	[ $? = 2 ] && one_complaint err "'$part'.*2min,3min" || fail "--time $part: $(cat err)"
done
for words in comm=three comm=tw cpu=99999 thread=1 'comm=one --only process=1'; do
	"$ADAPTRACE" report --only $words >out 2>err
	[ $? = 1 ] && one_complaint err "'adaptrace.atr' is of " && [ ! -s out ] ||
		fail "--only $words: $(cat out err)"
done
"$ADAPTRACE" report --only rank=0 >out 2>err
[ $? = 1 ] && one_complaint err 'has no ranks; adaptrace merge' || fail "--only rank=0: $(cat out err)"
for words in comm= comm who=me cpu=x cpu=-1 thread=1x; do
	"$ADAPTRACE" report --only $words >out 2>err
	[ $? = 2 ] && one_complaint err "'$words'.*comm=NAME" || fail "--only $words: $(cat err)"
done
pass
