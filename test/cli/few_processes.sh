#!/bin/sh
# Where no more processes may be started one line says what to raise.
. "$(dirname "$0")/scenario"
need_sampling

mkdir open && chmod 777 open && cd open || exit 1
as_user prlimit --nproc=1 "$ADAPTRACE" record -q -e cpu-clock:u touch ran 2>errors
status=$?
[ $status = 125 ] && one_complaint errors 'may have no more processes.*ulimit -u' ||
	fail "record ended with $status: $(cat errors)"
[ ! -e ran ] || fail "the target ran"

# What runs by deadlines may start nothing: more processes would not help.
deadline="-d --sched-runtime 30000000 --sched-deadline 100000000 --sched-period 100000000 0"
if chrt $deadline true 2>/dev/null; then
	chrt $deadline "$ADAPTRACE" record -q -e cpu-clock:u true 2>errors
	[ $? = 125 ] && one_complaint errors 'chrt -R$' || fail "by deadlines: $(cat errors)"
	chrt -R $deadline "$ADAPTRACE" record -q -e cpu-clock:u true 2>errors || fail "$(cat errors)"
fi
pass
