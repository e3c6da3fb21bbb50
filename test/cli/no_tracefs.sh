#!/bin/sh
# Tracepoints are found for root where tracefs is not mounted, and nobody sees a mount of ours.
. "$(dirname "$0")/scenario"
[ "$(id -u)" = 0 ] || skip "takes root"
unshare -m true 2>/dev/null || skip "no mount namespaces here"

cat >without.sh <<'END'
umount -l /sys/kernel/debug 2>/dev/null
while umount /sys/kernel/tracing 2>/dev/null; do :; done
[ ! -d /sys/kernel/tracing/events ] || exit 77
python3 - <<'EOT' || exit 77 # a kernel without tracefs, or without mounts that are attached nowhere
import ctypes, sys
sys.exit(ctypes.CDLL(None).syscall(430, b"tracefs", 1) < 0)
EOT
"$ADAPTRACE" record -q -o tracefs.atr -e sched:sched_switch sh -c \
	'grep -q " tracefs " /proc/self/mountinfo && exit 5; ls -l /proc/self/fd >fds; sleep 0.1' || exit 1
grep -q tracefs /proc/self/mountinfo && exit 6
"$ADAPTRACE" list sched:sched_switch | grep -q 'sched:sched_switch' || exit 7
END
unshare -m --propagation private sh without.sh
case $? in 0) pass ;; 77) skip "tracefs cannot be taken away, or mounted" ;; *) fail "with $?" ;; esac
