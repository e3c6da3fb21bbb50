#!/bin/sh
# A target that moves itself to another cgroup is no longer observed there: it is said.
. "$(dirname "$0")/scenario"
need_sampling
need_root "move processes between cgroups"
need_cgroup

mount=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -1)
[ -w "$mount/cgroup.procs" ] || skip "the root cgroup cannot be written"
recorded sh -c "echo \$\$ >$mount/cgroup.procs && exec $TARGETS/burn 0.5"
check <<'END'
import recording
info = recording.info()
if info["counting"] == "cgroup":
    assert info["left_cgroup"]
    assert any("cgroup" in warning for warning in recording.report()["warnings"])
END
pass
