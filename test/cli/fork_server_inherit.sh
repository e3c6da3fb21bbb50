#!/bin/sh
# The same server without a cgroup: its children get no sample at all, and the kernel's exact total
# of them is there as [unsampled].
. "$(dirname "$0")/scenario"
need_sampling
need_totals

recorded --inherit -F 200 -g none "$TARGETS/storm" 1000 1 child 500 >said
measure <<'END'
import recording

info = recording.info()
command, = (command for command in info["commands"] if command["comm"] == "child")
assert command["tasks"] == 1000, command
assert recording.between(command["exact"] / 1e9, *recording.of_storm(info, "child"), 0.1)
rows = [row for row in recording.report("adaptrace.atr", "--sort", "comm")["functions"]
        if row["comm"] == "child"]
assert any(row.get("unsampled") for row in rows), rows
assert recording.close(sum(row["self"] for row in rows), command["exact"], 0.001)
END
"$ADAPTRACE" report | grep -q ' \[.*unsampled\]' || fail "the report does not show it"
pass
