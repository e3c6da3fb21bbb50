#!/bin/sh
# Two processes that switch all the time: nothing is lost, both are sampled by what they used.
. "$(dirname "$0")/scenario"
need_sampling

play() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	recorded "$@" "$TARGETS/pingpong" 20000 >said
	check <<'END'
import recording

said = recording.said()
info = recording.info()
assert info["samples"]["lost"] == 0 and info["samples"]["malformed"] == 0, info["samples"]
commands = {command["comm"]: command["weight"] / 1e9 for command in info["commands"]}
commands["ping"] += commands.get("pingpong", 0)
together = said["ping"][0] + said["pong"][0]
assert recording.close(commands["ping"] + commands["pong"], together, 0.05, recording.stolen())
for comm in "ping", "pong":
    assert recording.close(commands[comm], *said[comm], 0.1, recording.stolen())
END
}

play
play --inherit
pass
