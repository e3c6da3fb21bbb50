#!/bin/sh
# Where a filter of system calls forbids what recording takes, one line says that it may be a filter.
. "$(dirname "$0")/scenario"
need_sampling

"$TARGETS/filter" pidfd_open 1 true
[ $? != 77 ] || skip "no filters here"
for error in 1 38; do # EPERM, ENOSYS
	"$TARGETS/filter" pidfd_open $error "$ADAPTRACE" record -q -e cpu-clock:u touch ran 2>errors
	[ $? = 125 ] && one_complaint errors "filter of system calls.*seccomp=unconfined" ||
		fail "without pidfd_open: $(cat errors)"
	[ ! -e ran ] || fail "the target ran"
done
pass
