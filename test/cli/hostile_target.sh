#!/bin/sh
# Targets that close every descriptor, replace their own file or have names that are no names are
# recorded as others are.
. "$(dirname "$0")/scenario"
need_sampling

weigh() { # SECONDS COMM...
	measure "$@" <<'END'
import sys
import recording
info = recording.info()
print(info["commands"])
commands = [c for c in info["commands"] if c["comm"] in sys.argv[2:]]
assert commands[-1]["weight"]
# Time before the exec is the process's as well: in the samples under the name that it had then, and
# in the exact total under the last one.
total = max(sum(c["weight"] for c in commands), sum(c["exact"] or 0 for c in commands)) / 1e9
assert recording.close(total, float(sys.argv[1]), 0.1, recording.allowance(info))
END
}

for way in '' --inherit; do
	echo "-- closes everything $way"
	recorded -F "$(rate 10000)" $way python3 -c 'import os, sys
os.closerange(0, 65536)
os.execv(sys.argv[1], sys.argv[1:])' "$TARGETS/burn" 0.2
	weigh 0.2 python3 burn

	echo "-- becomes another file $way"
	cp "$TARGETS/burn" own
	recorded -F "$(rate 10000)" $way sh -c './own 0.2; rm own; cp "$TARGETS/world" own'
	weigh 0.2 own

	echo "-- odd names $way"
	cp "$TARGETS/burn" "a b)	c
d"
	recorded -F "$(rate 10000)" $way "./a b)	c
d" 0.2
	measure <<'END'
import recording
info = recording.info()
assert [c["comm"] for c in info["commands"] if c["weight"]][-1] == "a b)\tc\nd", info["commands"]
assert info["command"][0] == "./a b)\tc\nd"
END
	"$ADAPTRACE" report --sort comm >out || fail "report"
	grep -q '	' out && fail "a control character reached the terminal"
done
pass
