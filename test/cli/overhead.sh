#!/bin/sh
# The overhead guard slows sampling down before the start where a sample is too dear, and says that
# it did; without it sampling starts as asked for.
. "$(dirname "$0")/scenario"
need_sampling

period() { # ARGUMENTS...
	"$ADAPTRACE" record -q "$@" "$TARGETS/burn" 0.1 >said 2>told || fail "record $* ended with $?"
	python3 -c 'import recording
info = recording.info()
causes = {reduction["cause"] for reduction in info["reductions"]}
assert causes <= {"overhead"}, causes
print(info["events"][0]["initial_period"], info["events"][0]["final_period"], len(causes))'
}

set -- $(period --max-overhead 0 -F 20000)
[ "$1" = "$2" ] && [ "$3" = 0 ] || fail "without a guard: $*"
[ ! -s told ] || fail "without a guard: $(cat told)"
free=$1
set -- $(period --max-overhead 0.1 -F 20000)
[ "$2" -ge $((free * 4)) ] && [ "$3" = 1 ] || fail "at most 0.1 %: $* against $free"
one_complaint told "not as asked for.* 0.1 %.*--max-overhead 0 permits" || fail "at most 0.1 %: $(cat told)"
set -- $(period --max-overhead 0.1 -e cpu-clock)
[ "$3" = 1 ] && [ ! -s told ] || fail "nobody asked for a frequency: $(cat told)"
[ "$("$ADAPTRACE" info | grep -c 'at start  cpu-clock.* cost too much')" = 1 ] || fail "$("$ADAPTRACE" info)"
pass
