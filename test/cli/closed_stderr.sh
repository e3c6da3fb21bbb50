#!/bin/sh
# Without standard descriptors messages go nowhere, not into a file that took the number.
. "$(dirname "$0")/scenario"
need_sampling

strace -qq -f -o calls -e trace=write,openat,execve true 2>/dev/null || skip "no strace here"
strace -qq -f -o calls -e trace=write "$ADAPTRACE" record --max-overhead 0 true <&- >&- 2>&-
[ $? = 0 ] || fail "record ended with $?"
grep -q 'write(2, "adaptrace: .*= [0-9]' calls || fail "no message: $(cat calls)"
[ -s adaptrace.atr ] || fail "no trace"
python3 - <<'END' || fail "the trace is not one"
import recording
assert recording.info()["exit_status"] == 0
END

# Nor does a pipe that nobody reads keep the command from running, whose own SIGPIPE is as it was.
cat >unread.py <<'END'
import os, signal, subprocess, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
reader, writer = os.pipe()
os.close(reader)
command = ["sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status >$0; kill -PIPE $$"]
def end_of(*words):
    return subprocess.run(words, stderr=writer, restore_signals=False).returncode
assert end_of(*command, "bare") == -signal.SIGPIPE
end = end_of(sys.argv[1], "record", "-o", "unread.atr", *command, "recorded")
assert end == 128 + signal.SIGPIPE and os.path.getsize("unread.atr") > 0, end
END
python3 unread.py "$ADAPTRACE" || fail "with a pipe that nobody reads"
cmp bare recorded || fail "another mask: $(cat bare recorded)"
pass
