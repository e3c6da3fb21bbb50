#!/bin/sh
# The doctor says what works and what would change the rest, and a recording that fails ends in the
# very same sentence.
. "$(dirname "$0")/scenario"

mkdir open && chmod 777 open && cd open || exit 1
# Every failure of record is one of the doctor's sentences, way out included.
same_sentence() { # FINDING RUNNER...
	finding=$1; shift
	"$@" "$ADAPTRACE" doctor --json >doctor.json
	check "$finding" <<'END'
import json
import sys
doctor = json.load(open("doctor.json"))
finding, = [f for f in doctor["findings"] if f["name"] == sys.argv[1]]
assert finding["state"] == "missing", finding
errors = open("errors").read().splitlines()
assert errors[-1].endswith(f": {finding['says']}; {finding['way_out']}"), errors
END
}

for error in 1 38; do # EPERM, ENOSYS
	"$TARGETS/filter" perf_event_open $error "$ADAPTRACE" record -q true 2>errors
	status=$?
	[ $status = 77 ] && continue
	[ $status = 125 ] || fail "record behind a filter ended with $status"
	cat errors
	same_sentence perf_event_open "$TARGETS/filter" perf_event_open $error
	"$TARGETS/filter" perf_event_open $error "$ADAPTRACE" doctor >text && fail "doctor: all is well"
	grep -q '^missing  perf_event_open: .* E[NP].*--cap-add=PERFMON' text || fail "$(cat text)"
	# as of a kernel without that capability
	"$TARGETS/filter" perf_event_open $error "$TARGETS/filter" prctl 22 "$ADAPTRACE" doctor >text
	grep -q '^missing  perf_event_open: .* E[NP].*--cap-add=SYS_ADMIN' text || fail "$(cat text)"
done

# As an ordinary user where the kernel side is not permitted.
if as_user "$ADAPTRACE" doctor | grep -q '^missing  kernel side: perf_event_paranoid'; then
	as_user "$ADAPTRACE" record -q -e context-switches true 2>errors && fail "context switches"
	same_sentence 'kernel side' as_user
fi
if "$ADAPTRACE" doctor | grep -q '^missing  hardware counters: this machine'; then
	"$ADAPTRACE" record -q -e cycles:u true 2>errors && fail "cycles without counters"
	same_sentence 'hardware counters' env
fi

# A machine with many CPUs needs no more files than a recording opens there.
online=/sys/devices/system/cpu/online
if [ "$(id -u)" = 0 ] && unshare -m mount --bind $online $online 2>/dev/null; then
	echo 0-127 >online
	unshare -m sh -c "ulimit -n 1024; mount --bind online $online && \"\$@\"" sh \
		"$ADAPTRACE" doctor >many.txt
	grep -q '128 CPUs' many.txt || fail "$(cat many.txt)"
	grep -q '^works *open files' many.txt || fail "$(grep files many.txt)"
fi

# In a chroot without /proc or /sys that is what is missing, and nothing else is blamed.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	unshare -m sh -c 'umount -l /proc && "$@"' sh "$ADAPTRACE" record -q true 2>errors
	[ $? = 125 ] || fail "record without /proc"
	same_sentence /proc unshare -m sh -c 'umount -l /proc && "$@"' sh
	unshare -fp "$ADAPTRACE" record -q true 2>errors
	[ $? = 125 ] && grep -q 'mount -t proc' errors || fail "record with a foreign /proc: $(cat errors)"
	same_sentence /proc unshare -fp
	[ "$(grep -c '"state"' doctor.json)" = 1 ] || fail "$(cat doctor.json)"
	for hide in 'mount -t proc -o subset=pid proc /proc' 'mount -t tmpfs none /proc/sys'; do
		unshare -m sh -c "$hide" 2>/dev/null || continue
		hide="$hide && "'"$@"'
		unshare -m sh -c "$hide" sh "$ADAPTRACE" record -q -e cpu-clock true 2>errors
		[ $? = 125 ] && grep -q 'mount -t proc' errors ||
			fail "record with a part of /proc: $(cat errors)"
		same_sentence /proc unshare -m sh -c "$hide" sh
	done
	unshare -m sh -c 'mount -t tmpfs none /sys && "$0" doctor' "$ADAPTRACE" >text && fail "doctor: all is well"
	unshare -m sh -c 'mount -t tmpfs none /sys && "$0" record -q -e cpu-clock -a true' "$ADAPTRACE" 2>errors
	[ $? = 125 ] || fail "record without /sys"
	same_sentence /sys unshare -m sh -c 'mount -t tmpfs none /sys && "$@"' sh
	grep 'this kernel has no .probes' text && fail "the kernel is blamed"
fi

# What works is tried: the exit status is that of a recording.
"$ADAPTRACE" doctor >text
status=$?
"$ADAPTRACE" record -q -e cpu-clock:u true 2>errors
recorded=$?
[ $((status == 0)) = $((recorded == 0)) ] || fail "doctor $status, record $recorded"
# The debug file of libc is found where distributions put it.
libc=$(sed -n 's,.* \(/.*/libc\.so\.6\)$,\1,p' /proc/self/maps | head -1)
id=$(readelf -n "$libc" 2>/dev/null | sed -n 's/.*Build ID: //p')
if [ -n "$id" ] && [ -e "/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug" ]; then
	grep -q '^works    debug information: ' text || fail "libc's debug file is not found: $(cat text)"
fi
grep -Eqv '^(works  |limited|missing)  [A-Za-z]|^Linux|^$|^[0-9]+ of [0-9]+ work, |^one command|^  [a-z/]|^killed recorders left' text &&
	fail "$(cat text)"
# At the end stands the command that changes most.
if as_user "$ADAPTRACE" doctor >text; grep -q '^limited  short tasks: as with whole CPUs$' text; then
	sed -n '/^one command/,$p' text | tr '\n' ' ' |
		grep -q 'mends [0-9]* of these (kernel side, whole CPUs, short tasks.*):   setcap' || fail "$(cat text)"
fi
# Events that cannot be opened stand below a line that says so.
"$ADAPTRACE" list >text
awk '/cannot be opened here now/ { below = 1; next } NR > 1 && NF { if ((/^[*u] / != 0) == below) exit 1 }' text ||
	fail "list: $(cat text)"
pass
