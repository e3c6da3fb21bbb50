#!/bin/sh
# What killed recorders left is named where it may be missed, and taken where it is the only one.
. "$(dirname "$0")/scenario"
need_sampling

# Tests that run beside this one leave things, too.
if [ -z "${ALONE:-}" ]; then
	[ "$(id -u)" = 0 ] && map= || map=-Ur
	unshare $map -m true 2>/dev/null || skip "no mounts can be made here"
	ALONE=1 unshare $map -m sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec sh "$@"' \
		sh "$here/${0##*/}"
	exit
fi

tells() { # PATTERN WHAT-HAPPENED
	grep -q -- "$1" errors || fail "$2: $(cat errors)"
}
silent() { # of leftovers
	! grep -q 'killed recorder' errors || fail "$1: $(cat errors)"
}
lose() { lose_recorder -m 64K -o "$1" "$TARGETS/burn" 20 >said; kill -KILL $target; }

mkdir a b c
"$ADAPTRACE" report none.atr 2>errors && fail "a report of nothing"
one_complaint errors "cannot read 'none.atr'" || fail "without leftovers: $(cat errors)"
"$ADAPTRACE" doctor >doctor.txt
! grep -q 'killed recorders left' doctor.txt || fail "the doctor saw what is not there"
"$ADAPTRACE" recover 2>errors && fail "recovered nothing"
one_complaint errors "nothing to recover for 'adaptrace.atr'" || fail "$(cat errors)"

# One, of another folder.
lose a/one.atr
one=$(readlink -f a)/one.atr
"$ADAPTRACE" report a/one.atr 2>errors && fail "a report of nothing"
tells "adaptrace recover 'a/one.atr'" "its own report"
"$ADAPTRACE" report a/other.atr 2>errors && fail "a report of nothing"
tells "'$one' (.* ago); .*adaptrace recover $one$" "a report in the same folder"
"$ADAPTRACE" report b/other.atr 2>errors && fail "a report of nothing"
silent "a report in another folder"
recorded -o a/other.atr true 2>errors
tells "'$one' (.* ago); .*adaptrace recover $one$" "a recorder in the same folder"
recorded -o b/other.atr true 2>errors
silent "a recorder in another folder"
recorded -o a/one.atr true 2>errors # which puts it aside
tells "never written.* adaptrace recover 'a/one.atr'" "a recorder of the same name"
[ "$(grep -c 'killed recorder' errors)" = 0 ] || fail "told twice: $(cat errors)"
"$ADAPTRACE" report a/one.atr >out 2>errors || fail "$(cat errors)"
tells "left a recording.*adaptrace recover 'a/one.atr'" "the report of a newer trace"
"$ADAPTRACE" doctor >doctor.txt
grep -q "^  $one: [0-9.]* [KM]iB, .* ago; saved by: adaptrace recover $one$" doctor.txt ||
	fail "doctor: $(cat doctor.txt)"
(cd c && "$ADAPTRACE" recover 2>../errors) || fail "the only one: $(cat errors)"
tells "→ $one$" "recover without a name"
"$ADAPTRACE" info a/one.atr | grep -q 'was recovered' || fail "not recovered"
"$ADAPTRACE" report a/one.atr >out 2>errors || fail "$(cat errors)"
silent "after it was recovered"

# Several; and adaptrace.atr of this folder goes first.
lose a/one.atr
lose "b/it's two.atr"
"$ADAPTRACE" recover 2>errors && fail "recovered one of two"
one_complaint errors "left '$one' (.*ago), '.*/b/it's two.atr' (.*); name one, .* recover $one$" ||
	fail "two: $(cat errors)"
lose c/adaptrace.atr
(cd c && "$ADAPTRACE" recover 2>../errors) || fail "its own: $(cat errors)"
[ -s c/adaptrace.atr ] || fail "another one: $(cat errors)"

# Files that make no sense are no traces, and others' are nobody's business here.
head -c 1M /dev/zero >/dev/shm/adaptrace-$(id -u)-0123456789abcdef
image=$(ls /dev/shm/adaptrace-$(id -u)-* | grep -v 0123456789abcdef | head -1)
cp "$image" /dev/shm/adaptrace-$(id -u)-1111111111111111 # not the name of its trace
chmod 600 /dev/shm/*
ln -s /etc/passwd /dev/shm/adaptrace-$(id -u)-2222222222222222
mkfifo -m 600 /dev/shm/adaptrace-$(id -u)-3333333333333333
cp "$image" /dev/shm/adaptrace-$(id -u)-4444444444444444 && chmod 644 /dev/shm/*4444
timeout 20 "$ADAPTRACE" doctor --json >doctor.json
check "$one" <<'END'
import json, os, shlex, subprocess, sys, time

left = json.load(open("doctor.json"))["leftovers"]
traces = [l["trace"] for l in left if l["trace"]]
assert sorted(map(os.path.basename, traces)) == ["it's two.atr", "one.atr"], traces
assert all(abs(time.time() - l["end"]) < 600 and l["bytes"] > 10000 for l in left), left
removed = [l for l in left if not l["trace"]]
assert [l["file"][-2:] for l in sorted(removed, key=lambda l: l["file"])] == ["ef", "11"], left
for l in removed: # as a shell takes them
    subprocess.run(l["way_out"], shell=True, check=True)
    assert not os.path.exists(l["file"])
two, = [l for l in left if l["trace"] and "two" in l["trace"]]
assert shlex.split(two["way_out"]) == ["adaptrace", "recover", two["trace"]], two
END
rm -f /dev/shm/*2222 /dev/shm/*3333 /dev/shm/*4444

# Of recorders at work there are snapshots, and nothing is to be recovered.
"$ADAPTRACE" recover a/one.atr 2>errors || fail "$(cat errors)"
"$ADAPTRACE" recover "b/it's two.atr" 2>errors || fail "$(cat errors)"
start_recording -m 64K -o b/alive.atr "$TARGETS/burn" 20 >said
"$ADAPTRACE" recover 2>errors && fail "recovered from a living recorder"
one_complaint errors "nothing to recover for 'adaptrace.atr'" || fail "$(cat errors)"
"$ADAPTRACE" report b/alive.atr 2>errors && fail "a report of nothing"
tells "still at work; adaptrace snapshot 'b/alive.atr'" "the report of a recorder at work"
recorded -o b/other.atr true 2>errors
silent "beside a living recorder"
"$ADAPTRACE" snapshot 2>errors || fail "the only one at work: $(cat errors)"
"$ADAPTRACE" info snapshot.atr | grep -q 'snapshot' || fail "$("$ADAPTRACE" info snapshot.atr)"
first=$recorder
start_recording -m 64K -o b/snapshot.atr "$TARGETS/burn" 20 >said
"$ADAPTRACE" snapshot 2>errors && fail "a snapshot of one of two"
one_complaint errors "at work on '.*/alive.atr', '.*/snapshot.atr'; name one, .* snapshot /.*alive.atr$" ||
	fail "two: $(cat errors)"
kill -TERM $first
wait $first
(cd b && "$ADAPTRACE" snapshot 2>../errors) && fail "a snapshot in the recorder's own place"
tells 'is what the recorder will write' "its own place"
kill -TERM $recorder
wait $recorder
pass
