#!/bin/sh
# The cgroup of a killed recorder goes with the next recording, and with recover; but none of a
# recorder that lives, whatever its number, and none that no recorder made.
# Alone: the next recording of any other test takes them away as well.
. "$(dirname "$0")/scenario"
need_sampling
need_cgroup
command -v flock >/dev/null || skip "no flock (util-linux)"

start_recording -o living.atr sleep 60
living=$recorder
target=$(target_of $living) || fail "no target"
root=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
own=$(find "$root" -name "adaptrace-$living")
[ -d "$own" ] || fail "no cgroup of $living"
others="$own-mine ${own%/*}/adaptrace-mine ${own%/*}/adaptrace-"
trap 'rmdir $others 2>/dev/null; leave' EXIT
mkdir $others

killed() { # leaves the cgroup of a recorder of this trace behind, as $left
	start_recording -o "$1" sleep 60
	left=${own%/*}/adaptrace-$recorder
	[ -d "$left" ] || fail "no cgroup of $recorder"
	target=$(target_of $recorder)
	kill -KILL $recorder $target
	wait $recorder 2>/dev/null
	await sh -c "! grep -q . $left/cgroup.procs"
}
stay() {
	for stays in $own $others; do
		[ -d $stays ] || fail "$stays is gone after $1"
	done
}

killed one.atr
# One whose number is used again, and one of a recorder that lives where numbers are others.
reused=${own%/*}/adaptrace-$$
mkdir "$reused"
hidden=${own%/*}/adaptrace-4194303
mkdir "$hidden"
others="$others $hidden"
flock --no-fork "$hidden" sleep 60 &
background="$background $!"
await sh -c "! flock -n $hidden true"
recorded -o next.atr true
stay record
[ ! -e "$left" ] || fail "$left is still there"
[ ! -e "$reused" ] || fail "$reused is still there"

killed two.atr
"$ADAPTRACE" recover two.atr 2>errors || fail "recover: $(cat errors)"
stay recover
[ ! -e "$left" ] || fail "$left is still there after recover"

# With those that the target made in it: at the end, or once nothing runs in them any more.
recorded -o made.atr sh -c 'd=$(sed -n s/^0:://p /proc/self/cgroup); cd "$1$d" && mkdir -p a/b c &&
	echo $$ >a/b/cgroup.procs; cd / && { sleep 60 >/dev/null 2>&1 & }' sh "$root"
inside=$(ls -d "${own%/*}"/adaptrace-*/a/b) || fail "nothing is left of what a process is in"
[ ! -e "${inside%/a/b}/c" ] || fail "an empty cgroup is left"
kill $(cat "$inside/cgroup.procs")
await sh -c "! grep -q . $inside/cgroup.procs"
recorded -o next.atr true
[ ! -e "${inside%/a/b}" ] || fail "${inside%/a/b} is still there"

kill -TERM $living
wait $living
[ -s living.atr ] || fail "the living recorder wrote nothing"
"$ADAPTRACE" recover one.atr 2>errors || fail "recover: $(cat errors)"
pass
