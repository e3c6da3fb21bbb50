#!/bin/sh
# An ordinary user samples his own programs: one line says what is missing and how it is permitted,
# the names say it too, and user time is right.
. "$(dirname "$0")/scenario"
need_sampling

mkdir open && chmod 777 open && cd open || exit 1
head -1 /proc/stat >../stat
as_user "$ADAPTRACE" record --max-overhead 0 -F "$(rate 10000)" "$TARGETS/quarters" 2 0.3 >../said 2>../errors ||
	fail "record ended with $?: $(cat ../errors)"
as_user "$ADAPTRACE" info --json >../info.json || fail "info"
as_user "$ADAPTRACE" report --json >../report.json || fail "report"
cat ../errors
measure <<'END'
import json
import os
import recording

os.chdir("..")
info = json.load(open("info.json"))
errors = open("errors").read()
paranoid = int(open("/proc/sys/kernel/perf_event_paranoid").read())
if paranoid > 1 and os.getuid() == 0:
    assert info["user_only"] and info["counting"] == "inherit"
if info["user_only"]:
    assert info["events"][0]["name"].endswith(":u")
    assert errors.count("not permitted to sample the kernel") == 1
    assert "; as root: sysctl kernel.perf_event_paranoid=1" in errors
used, = recording.said()["used"]
weight = sum(command["weight"] for command in info["commands"])
assert recording.close(weight / 1e9, used, 0.1, recording.allowance(info))
modules = {row["module"] for row in json.load(open("report.json"))["functions"]}
assert "quarters" in modules
assert not info["user_only"] or "[kernel]" not in modules
END
# The trace is readable for its owner, and nobody else has a use for it.
[ "$(stat -c '%a' adaptrace.atr)" = 600 ] || fail "permissions"
pass
