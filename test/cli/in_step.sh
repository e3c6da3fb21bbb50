#!/bin/sh
# All CPUs are sampled at the same instants where the timers can be restarted: with events of CPUs or
# of a cgroup. Their periods are the same then, and restarts are few. Elsewhere nothing is claimed.
. "$(dirname "$0")/scenario"
"$ADAPTRACE" doctor >text || skip "this kernel permits no sampling here"
grep -q '^works    whole CPUs' text || skip "whole CPUs may not be sampled here"

"$ADAPTRACE" record --in-step=maybe true 2>errors && fail "--in-step=maybe"
one_complaint errors '--in-step takes yes or no' || fail "$(cat errors)"

nr=$(nproc)
recorded -e cpu-clock -F 1000 -a -o wide.atr --in-step=yes "$TARGETS/quarters" "$nr" 2 >/dev/null
recorded -e cpu-clock -F 1000 -a -o apart.atr --in-step=no "$TARGETS/quarters" "$nr" 0.5 >/dev/null
recorded -e cpu-clock -F 1000 -o inherit.atr --in-step=yes --inherit "$TARGETS/burn" 0.3 >/dev/null
recorded -e cpu-clock -F 1000 -o launched.atr --in-step=yes "$TARGETS/burn" 1 >launched
recorded -e page-faults -a -o faults.atr --in-step=yes "$TARGETS/burn" 0.1 >/dev/null
# A small buffer: the period doubles several times.
recorded -e cpu-clock -F 5000 -m 64K -a -o halved.atr --in-step=yes "$TARGETS/quarters" "$nr" 4 >/dev/null
# One of 16 ranks of this node, as its launcher says.
OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_SIZE=16 "$ADAPTRACE" record -q -e cpu-clock --in-step=no -o rank.atr \
	"$TARGETS/burn" 0.2 >out 2>errors || fail "$(cat errors)"
check <<'END'
import recording

def weights(path):
    """Of samples on the level that most are of."""
    levels = {}
    for s in recording.samples(path):
        levels.setdefault(s["level"], set()).add(s["weight"])
    return levels.values()

def steps(path):
    info = recording.info(path)
    return info["in_step"], info

for path in "wide.atr", "halved.atr", "launched.atr":
    step, info = steps(path)
    if path == "launched.atr":
        if info["counting"] != "cgroup":
            continue
        # The recorder is in the target's cgroup, and is not counted.
        assert {t["pid"] for t in info["threads"]} == {info["pid"]}, info["threads"]
        (used,), (stalled,) = recording.said("launched")["used"], recording.said("launched")["stalled"]
        assert recording.close(info["events"][0]["exact"] / 1e9, used, 0.05, stalled), (info["events"], used)
    print(path, step, info["cost"])
    assert step["asked"] and step["grid_ns"] == info["events"][0]["base_period"], step
    assert step["median_off_ns"] <= step["p90_off_ns"] <= info["events"][0]["final_period"], step
    # Some are made in advance on each CPU.
    assert step["restarts"] <= info["samples"]["taken"] / 50 + 4 * info["nr_cpus"], step
    assert all(len(w) == 1 for w in weights(path)), weights(path)
    assert info["cost"]["sample_ns"] > 0 and info["cost"]["calls_ns"] == 0, info["cost"]
    assert 0 < info["cost"]["one_cpu_pct"] <= info["cost"]["coupled_pct"] + 1e-3, info["cost"]
step, info = steps("wide.atr")
assert step["restarts"] > 0
assert len(recording.info("halved.atr")["reductions"]) > 1

for path, asked in ("apart.atr", False), ("inherit.atr", True), ("faults.atr", True):
    step, info = steps(path)
    assert step == {"asked": asked, "grid_ns": 0, "median_off_ns": 0, "p90_off_ns": 0,
                    "restarts": 0, "unsteered_cpus": 0}, (path, step)
assert info["nr_cpus"] == 1 or any(len(w) > 1 for w in weights("apart.atr"))

cost = recording.info("rank.3.atr")["cost"]
assert abs(cost["coupled_pct"] - min(16 * cost["one_cpu_pct"], 100)) < 0.1, cost

text = recording.output_of("info", "wide.atr").decode()
assert "in step" in text and "restart" in text and "program lost" in text, text
END
pass
