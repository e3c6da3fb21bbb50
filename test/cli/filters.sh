#!/bin/sh
# Where a filter of system calls forbids what recording takes, one line says that it may be a filter;
# where only the recovery of a killed recorder takes it, the recording goes on.
. "$(dirname "$0")/scenario"
need_sampling

"$TARGETS/filter" pidfd_open 1 true
[ $? != 77 ] || skip "no filters here"
sh -c 'sleep 0.1 & echo $! >zombie; exec sleep 60' &
background="$background $!"
await sh -c 'grep "^State:.Z" "/proc/$(cat zombie)/status"' >/dev/null
# Without pidfd_open() the ends of processes are seen all the same.
for error in 1 38; do # EPERM, ENOSYS
	"$TARGETS/filter" pidfd_open $error "$ADAPTRACE" record -q -e cpu-clock:u sh -c 'exit 3'
	[ $? = 3 ] || fail "without pidfd_open"
	sleep 1 & # whose parent has still to see its end
	"$TARGETS/filter" pidfd_open $error timeout 20 "$ADAPTRACE" record -q -e cpu-clock:u -p $! ||
		fail "attached without pidfd_open"
	"$TARGETS/filter" pidfd_open $error "$ADAPTRACE" record -q -e cpu-clock:u -p "$(cat zombie)" 2>errors
	[ $? = 125 ] && one_complaint errors "has ended" || fail "said of a zombie: $(cat errors)"
done
"$TARGETS/filter" timerfd_create 1 "$ADAPTRACE" record -q -e cpu-clock:u touch ran 2>errors
[ $? = 125 ] && one_complaint errors "filter of system calls.*seccomp=unconfined" ||
	fail "without timers: $(cat errors)"
[ ! -e ran ] || fail "the target ran"
"$TARGETS/filter" perf_event_open 75 "$ADAPTRACE" record -q -e cpu-clock:u touch ran 2>errors
[ $? = 125 ] && one_complaint errors "perf_event_max_stack is .*-g none" ||
	fail "without callers: $(cat errors)" # EOVERFLOW
[ ! -e ran ] || fail "the target ran"
"$TARGETS/filter" linkat 1 "$ADAPTRACE" record -q -e cpu-clock:u true 2>errors ||
	fail "without linkat: $(cat errors)"
one_complaint errors "/dev/shm.*nothing to recover" || fail "without linkat: $(cat errors)"
grep "another recorder" errors && fail "there is no other recorder"

# Without clone3() the target is moved into its cgroup when it is there.
recorded cat /proc/self/cgroup >usual
"$TARGETS/filter" clone3 38 "$ADAPTRACE" record -q cat /proc/self/cgroup >moved || fail "no clone3" # ENOSYS
[ "$(grep -c adaptrace- moved)" = "$(grep -c adaptrace- usual)" ] || fail "without clone3: $(cat moved)"

# There is one: the second recorder of a trace refuses before it starts its program.
"$ADAPTRACE" record -q -e cpu-clock:u sh -c \
	'"$0" record -q -e cpu-clock:u touch ran 2>inner; [ $? = 125 ]' "$ADAPTRACE" 2>errors || fail "record: $(cat errors)"
grep -q "^adaptrace: another recorder is at work on .*-o names another" inner || fail "said: $(cat inner)"
[ -s adaptrace.atr ] && [ ! -e ran ] || fail "$(ls)"
pass
