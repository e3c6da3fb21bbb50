#!/bin/sh
# A daemon that outlives the target is left alone: the recording ends with the target, and the
# daemon goes on, in a cgroup that still exists.
. "$(dirname "$0")/scenario"
need_sampling

leave_behind() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	rm -f daemon finished go recorder
	recorded "$@" sh -c 'setsid sh -c "sleep 60 & echo \$\$ >daemon
		until [ -e go ]; do sleep 0.05; done
		kill \$!; \"\$TARGETS/burn\" 0.1 >finished" >/dev/null 2>&1 &
		until [ -s daemon ]; do sleep 0.05; done; echo $PPID >recorder; exit 4' 2>errors
}
record() { command "$ADAPTRACE" record -q --max-overhead 0 "$@"; [ $? = 4 ]; }

for way in '' --inherit; do
	leave_behind $way
	await test -s daemon
	daemon=$(cat daemon)
	background="$background $daemon"
	kill -0 "$daemon" || fail "the daemon is gone"
	grep -h adaptrace /proc/"$daemon"/cgroup && fail "it is still in our cgroup"
	# The daemon, not what it has started: attaching to that would leave the daemon out.
	one_complaint errors "left [23] processes.* unrecorded; adaptrace record -p $daemon attaches" ||
		fail "nobody is told of it: $(cat errors)"
	touch go
	await grep -q used finished
	check <<'END'
import recording
info = recording.info()
assert info["exit_status"] == 4
# What still runs has not said its total, so that of its command is not known.
assert [c["exact"] for c in info["commands"] if c["comm"] == "sh"] == [None], info["commands"]
END
	find /sys/fs/cgroup -name "adaptrace-$(cat recorder)" 2>/dev/null | grep . && fail "it left its cgroup"
done
pass
