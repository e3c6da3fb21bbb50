#!/bin/sh
# run_one.sh LOG TRIES NAME COMMAND...: runs one test, see run.sh, and says in one line how it went,
# and how long it took where that is 10 s or more. Of one that failed the end of its output is shown,
# LOG/NAME.log. Those of tries before are beside it.
set -u
began=$(date +%s)
log=$1 tries=$2 name=$3 try=1; shift 3
# Twice what any takes on a busy machine: it hangs.
limit=240
while :; do
	timeout -k 10 "$limit" "$@" >"$log/$name.log" 2>&1
	status=$?
	case $status in 0 | 77) break ;; esac
	[ $try -lt "$tries" ] || break
	cp "$log/$name.log" "$log/$name.try$try.log"
	try=$((try + 1))
done
took=$(($(date +%s) - began))
case $status in
0) said="ok      $name$([ $try = 1 ] || echo " at try $try")$([ $took -lt 10 ] || echo ", $took s")" ;;
77) said="skipped $name: $(tail -1 "$log/$name.log")" ;;
*) said=$(echo "FAILED  $name"; tail -40 "$log/$name.log") ;;
esac
printf '%s\n' "$said" # at once: others may write beside it
