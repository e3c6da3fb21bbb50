#!/bin/sh
# One budget for events at rates of some 10,000, 1,000 and 10 a second: those that fill it are
# thinned, in bursts as well, and the rare one is kept whole.
. "$(dirname "$0")/scenario"
need_sampling

for way in '' --inherit; do
	"$ADAPTRACE" record --max-overhead 0 $way -m 64K -g none -e page-faults:u \
		-e task-clock:u:freq=1000 -e cpu-clock:u:freq=10 \
		"$TARGETS/bursts" 3 700 >said 2>line || fail "record ended with $?"
	check <<'END'
import recording
info, samples = recording.info(), recording.samples()
faults, often, rare = info["events"]
thinned = {r["event"] for r in info["reductions"]}
print(thinned, [(e["name"], e["taken"], e["stored"], e["final_period"]) for e in info["events"]])
assert info["memory"]["used"] <= info["memory"]["budget"]
# Nobody touched the rare one: not the bursts, and not those who come a hundred times as often.
assert rare["name"] not in thinned
# Of its 30 and more there is none where the kernel was at work just then: 5 are there by all odds.
assert rare["stored"] == rare["taken"] >= 5, rare
assert rare["final_period"] == rare["initial_period"]
# The line at the end tells of the one that was thinned most.
most = max(info["events"], key=lambda e: e["final_period"] / e["initial_period"])
said = f"{most['name']} kept 1 of {most['final_period'] // most['initial_period']},"
assert said in open("line").read(), said
# Who brought the flood has paid for it, most of all.
assert faults["name"] in thinned
assert faults["final_period"] >= 4 * faults["initial_period"], faults
assert faults["final_period"] // faults["initial_period"] >= \
    often["final_period"] // often["initial_period"]
# And what is left of it still stands for all of them.
weights = recording.weights(samples, "event")
said, = recording.said()["faults"]
print(weights[faults["name"]], said)
lost = info["samples"]["lost"] * faults["final_period"]
assert recording.close(weights[faults["name"]], said, 0.05, 200 + lost)
END
done
pass
