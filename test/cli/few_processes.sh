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
pass
