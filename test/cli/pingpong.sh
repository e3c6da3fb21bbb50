#!/bin/sh
# Two processes that switch all the time are both sampled by what they used. No clock ticks while a
# task is switched, where the kernel's own totals end before or after it: what is missed is told.
. "$(dirname "$0")/scenario"
need_sampling

play() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	recorded "$@" "$TARGETS/pingpong" 20000 >said
	measure <<'END'
import recording

said = recording.said()
info = recording.info()
assert info["samples"]["malformed"] == info["samples"]["late"] == 0, info["samples"]
if info["user_only"]:
    raise SystemExit  # nearly all of it is the kernel's
commands = {command["comm"]: command["weight"] / 1e9 for command in info["commands"]}
commands["ping"] += commands.get("pingpong", 0)
sampled = {comm: commands[comm] for comm in ("ping", "pong")}
used = {comm: said[comm][0] for comm in sampled}
allowed = recording.allowance(info)
exact = info["events"][0]["exact"] / 1e9

together, counted = sum(sampled.values()), max(exact, sum(used.values()))
print(f"sampled {together}, exact {exact}, used {sum(used.values())}")
assert together <= counted * 1.05 + allowed
assert together >= counted * 0.5
if together < exact * 0.9:
    report = recording.output_of("report", "adaptrace.atr")
    assert b" exact " in report.split(b"\n\n")[0] or b"[unsampled]" in report, report
for comm in sampled:
    expected = together * used[comm] / sum(used.values())
    assert recording.close(sampled[comm], expected, 0.1, allowed)
END
}

play
play --inherit
pass
