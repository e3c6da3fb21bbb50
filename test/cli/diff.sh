#!/bin/sh
# What became of functions from one run to another: the last two recordings, or any two.
. "$(dirname "$0")/scenario"
need_sampling

cp "$TARGETS/shares" app
recorded -F 5000 -e cpu-clock ./app 12 >said
recorded -F 5000 -e cpu-clock ./app 36 >said

echo "-- a run of three times the work"
check <<'END'
import json
import recording

said = json.loads(recording.output_of("diff", "-j", "--no-inline"))
assert [run["file"] for run in said["before"]] == ["adaptrace.atr.old"]
assert [run["file"] for run in said["after"]] == ["adaptrace.atr"]
(event,) = said["events"]
before = recording.report("adaptrace.atr.old", "--no-inline")
after = recording.report("adaptrace.atr", "--no-inline")
assert event["unit"] == "ns" and event["event"].removesuffix(":u") == "cpu-clock"


more = [recording.whole(trace) / report["total_weight"]
        for trace, report in (("adaptrace.atr.old", before), ("adaptrace.atr", after))]
print(f"shown times {more[0]:.4f} and {more[1]:.4f}")
assert abs(event["before"]["total_weight"] - before["total_weight"] * more[0]) < 1
assert abs(event["after"]["total_weight"] - after["total_weight"] * more[1]) < 1


def self_of(report, row):
    return sum(r["self"] for r in report["functions"]
               if (r["symbol"], r["module"]) == (row["symbol"], row["module"]))


rows = event["functions"]
for row in rows:
    assert abs(row["before"]["self"] - self_of(before, row) * more[0]) <= 1, row
    assert abs(row["after"]["self"] - self_of(after, row) * more[1]) <= 1, row
    assert abs(row["change"] - (row["after"]["self"] - row["before"]["self"])) <= 1
    assert row["error"] > 0
whole = event["after"]["total_weight"] - event["before"]["total_weight"]
assert abs(sum(row["change"] for row in rows) - whole) <= len(rows)
assert rows == sorted(rows, key=lambda row: -abs(row["change"]))
assert [row["symbol"] for row in rows[:2]] == ["six", "three"], rows[:2]
assert rows[0]["change"] > rows[0]["error"]

# Of each run they had the same shares.
said = json.loads(recording.output_of("diff", "--json", "--no-inline", "--shares"))
(event,) = said["events"]
assert event["unit"] == "percent"
for row in event["functions"]:
    assert abs(row["change"]) < 20, row
    if row["symbol"] == "six":
        assert 40 < row["before"]["self"] < 80 and 40 < row["after"]["self"] < 80, row
END

echo "-- tables"
"$ADAPTRACE" diff --no-inline >out || fail "of the last two"
grep -q '^one run each: errors are of sampling alone' out || fail "$(cat out)"
grep -q '^before: adaptrace.atr.old: ./app 12$' out && grep -q '^after: adaptrace.atr: ./app 36$' out || fail "$(cat out)"
grep -q '^ *+[0-9.]* m*s ± *[0-9.]* m*s .* six  *app$' out || fail "$(cat out)"
"$ADAPTRACE" diff adaptrace.atr adaptrace.atr -q >out || fail "with itself"
[ ! -s out ] || fail "a run differs from itself: $(cat out)"
"$ADAPTRACE" diff adaptrace.atr adaptrace.atr --no-inline -q --all >out || fail "all of it"
grep -q ' six  *app$' out || fail "not all: $(cat out)"
"$ADAPTRACE" diff --sort total --sort comm -q --all | grep -q '  app$' || fail "by command"

echo "-- several runs a side"
mkdir one three none
cp adaptrace.atr.old one/1.atr
for i in 1 2; do recorded -F 5000 -e cpu-clock -o one/$((i + 1)).atr ./app 12 >said; done
cp adaptrace.atr three/1.atr
touch three/notes
check <<'END'
import json
import recording

said = json.loads(recording.output_of("diff", "--json", "--no-inline", "one", "three"))
assert [run["file"] for run in said["before"]] == ["one/1.atr", "one/2.atr", "one/3.atr"]
assert [run["file"] for run in said["after"]] == ["three/1.atr"]
(event,) = said["events"]

totals = [recording.whole(f"one/{i}.atr") for i in (1, 2, 3)]
assert abs(event["before"]["total_weight"] - sum(totals) / 3) <= 1
assert event["change"] > event["error"] > 0, event
rows = {row["symbol"]: row for row in event["functions"]}
assert rows["six"]["change"] > rows["six"]["error"] > 0, rows["six"]
END
"$ADAPTRACE" diff one three >out || fail "of folders"
grep -q '^before: 3 runs, the first one/1.atr: ./app 12$' out || fail "$(cat out)"
grep -q '^one run each' out && fail "one run each: $(cat out)"

echo "-- another name of the program"
cp app app-new
recorded -F 5000 -e cpu-clock -o new.atr ./app-new 12 >said
for options in '' --shares '--sort symbol,module,comm'; do
	"$ADAPTRACE" diff adaptrace.atr new.atr $options >out || fail "of two names"
	grep -q "^warning: functions of 'app' are in 'app-new' after: --sort symbol " out ||
		fail "two names are not told: $(cat out)"
	"$ADAPTRACE" diff adaptrace.atr new.atr $options --json |
		grep -q '"warnings":\["functions of .app. are in .app-new. after: ' ||
		fail "two names are not told in JSON"
done
for options in '--sort symbol' '--sort module' -q; do
	"$ADAPTRACE" diff adaptrace.atr new.atr $options | grep "^warning: functions of" &&
		fail "two names are told with $options"
done
"$ADAPTRACE" diff | grep "^warning: functions of" && fail "two names are told of one"

echo "-- refusals"
refused() { # STATUS WORDS OPTIONS...
	wanted=$1 words=$2; shift 2
	"$ADAPTRACE" diff "$@" >out 2>err
	status=$?
	[ "$status" = "$wanted" ] || fail "diff $* ended with $status"
	head -1 err | grep -q -e "$words" || fail "diff $* said: $(cat err)"
	[ ! -s out ] || fail "diff $* wrote: $(cat out)"
}
refused 1 "'none.atr'" none.atr
refused 1 "'none.atr'" adaptrace.atr none.atr
refused 1 "the run before 'one/1.atr'; record once more, or name both" one/1.atr
refused 1 "the run before 'one'; record once more, or name both" one
refused 1 "event 'cycles' is not in" -e cycles
refused 2 'two traces' a b c
refused 1 "no trace in 'none'" none adaptrace.atr
refused 1 "'gone.atr'" one gone.atr
refused 2 'never the same' --sort thread
for key in mem op tlb snoop latency; do
	refused 1 "'adaptrace.atr.old' has no memory accesses" --sort symbol,$key
done
refused 2 'never the same' --sort symbol,process
refused 2 'one event at a time' -e cpu-clock -e page-faults
refused 2 'exclude each other' --all --limit 3
refused 2 'exclude each other' --limit 3 --json --all
recorded -e page-faults -o faults.atr true
refused 1 'no event was sampled in both' adaptrace.atr faults.atr
refused 1 'no event was sampled in both' adaptrace.atr faults.atr --json
pass
