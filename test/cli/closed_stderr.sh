#!/bin/sh
# Without standard descriptors messages go nowhere, not into a file that took the number.
. "$(dirname "$0")/scenario"
need_sampling

strace -qq -f -o calls -e trace=write,openat,execve true 2>/dev/null || skip "no strace here"
strace -qq -o calls -e trace=write "$ADAPTRACE" record --max-overhead 0 true <&- >&- 2>&-
[ $? = 0 ] || fail "record ended with $?"
grep -q 'write(2, "adaptrace: .*= [0-9]' calls || fail "no message: $(cat calls)"
[ -s adaptrace.atr ] || fail "no trace"
python3 - <<'END' || fail "the trace is not one"
import recording
assert recording.info()["exit_status"] == 0
END
pass
