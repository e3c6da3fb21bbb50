#!/bin/sh
# What moves itself to another cgroup is no longer observed there, be it the target or what that
# started: it is said. Who just ends has left nothing.
. "$(dirname "$0")/scenario"
need_sampling
need_root "move processes between cgroups"
need_cgroup

mount=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -1)
[ -w "$mount/cgroup.procs" ] || skip "the root cgroup cannot be written"
cat >leave <<END
#!/bin/sh
echo \$\$ >$mount/cgroup.procs && exec "\$@"
END
chmod 755 leave

left() { # EXPECTED COMMAND...
	echo "-- $*"
	expected=$1; shift
	recorded "$@" >said 2>errors
	grep -v "runs on unrecorded" errors | grep . && [ "$expected" = no ] && fail "$(cat errors)"
	[ "$expected" = no ] || grep -q "^adaptrace: a process moved itself to another cgroup" errors ||
		fail "nobody is told of it: $(cat errors)"
	check $expected <<'END'
import sys
import recording
info = recording.info()
if info["counting"] == "cgroup":
    assert info["left_cgroup"] == (sys.argv[1] == "yes")
    assert any("cgroup" in w for w in recording.report()["warnings"]) == info["left_cgroup"]
END
}

left yes ./leave "$TARGETS/burn" 0.5
left yes sh -c './leave "$TARGETS/burn" 0.1; true'
left yes sh -c 'own=$0$(sed -n "s/^0:://p" /proc/self/cgroup) && echo $$ >"$0/cgroup.procs" &&
	sleep 1.5 && echo $$ >"$own/cgroup.procs"' "$mount"
left yes sh -c "./leave sleep 1 & sleep 0.3"
left no sh -c '"$TARGETS/burn" 0.1; sleep 1 & sleep 0.1'
left no sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1 & done; wait'
left no sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1 & done; sleep 0.1'

# A recorder inside of another's cgroup, whose number begins like its own.
cat >inside <<END
#!/bin/sh
mkdir $mount/adaptrace-\$\$0 && echo \$\$ >$mount/adaptrace-\$\$0/cgroup.procs && echo \$\$ >number
exec "\$@"
END
chmod 755 inside
./inside "$ADAPTRACE" record "$TARGETS/burn" 0.3 2>errors || fail "it ended with $?: $(cat errors)"
rmdir "$mount/adaptrace-$(cat number)0"
grep "moved itself" errors && fail "it stayed where it was"

# In a cgroup namespace that has a mount of its world outside: the recorder takes nobody out of it.
unshare --cgroup true 2>/dev/null || pass
./inside unshare --cgroup "$ADAPTRACE" record -q sh -c 'sed -n "s/^0:://p" /proc/self/cgroup' >place ||
	fail "in a namespace it ended with $?"
rmdir "$mount/adaptrace-$(cat number)0" || fail "something was left behind"
grep -q '^/\.\.' place && fail "the target was taken to $(cat place)"
pass
