#!/bin/sh
# Two processes that switch all the time are both sampled by what they used.
. "$(dirname "$0")/scenario"
need_sampling

play() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	recorded "$@" "$TARGETS/pingpong" 20000 >said
	check <<'END'
import recording

said = recording.said()
info = recording.info()
assert info["samples"]["malformed"] == info["samples"]["late"] == 0, info["samples"]
if info["user_only"]:
    raise SystemExit  # nearly all of it is the kernel's
commands = {command["comm"]: command["weight"] / 1e9 for command in info["commands"]}
commands["ping"] += commands.get("pingpong", 0)
together = said["ping"][0] + said["pong"][0]
assert recording.close(commands["ping"] + commands["pong"], together, 0.05, recording.allowance(info))
for comm in "ping", "pong":
    assert recording.close(commands[comm], *said[comm], 0.1, recording.allowance(info))
END
}

play
play --inherit
pass
