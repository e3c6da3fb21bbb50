#!/bin/sh
# Setuid and unreadable programs work as ever. The kernel takes inherited events away from them:
# then the trace tells what they used as [unobserved]. Events of a cgroup see them.
. "$(dirname "$0")/scenario"
need_sampling
need_root "make setuid programs"

mkdir programs
for name in setuid unreadable other; do cp "$TARGETS/burn" programs/$name; done
chown 65534 programs/other
chmod 4755 programs/setuid programs/other
chmod 711 programs/unreadable
mkdir open && chmod 777 open && cd open || exit 1
cp "$ADAPTRACE" "$TARGETS/burn" .

watch() { # COMM OBSERVED USER ARGUMENTS-OF-RECORD...
	comm=$1 observed=$2 user=$3; shift 3
	echo "-- $comm as $user $*"
	rm -f adaptrace.atr
	$user ./adaptrace record -q --max-overhead 0 -F "$(rate 10000)" "$@" sh -c "../programs/$comm 0.5; ./burn 0.1" \
		>../said 2>../errors || fail "record ended with $?: $(cat ../errors)"
	grep -q '^used 0.5' ../said || fail "the target said $(cat ../said)"
	$user ./adaptrace info --json >../info.json || fail "info"
	$user ./adaptrace report --json --sort comm >../report.json || fail "report"
	measure "$comm" $observed <<'END'
import json
import re
import sys
import recording

comm, observed = sys.argv[1], sys.argv[2] == "observed"
info = json.load(open("../info.json"))
rows = [row for row in json.load(open("../report.json"))["functions"] if row["comm"] == comm]
print(rows)
recording.os.chdir("..")
# Where no event sees it the time is that of its clock. It can be read until its parent has waited for
# it, and where it was not, the recorder says how much may be missing.
missed = re.search(r"up to (\d+) ms of their time", open("errors").read())
allowed = recording.allowance(info) + (int(missed[1]) / 1e3 if missed else 0)
missing = sum(row["self"] for row in rows if row.get("unobserved"))
total = sum(row["self"] for row in rows)
assert recording.close(total / 1e9, 0.5, 0.1 if observed else 0.04, allowed)
if observed:
    assert info["samples"]["unobserved"] == 0 and not missing
else:
    assert info["samples"]["unobserved"] == 1
    assert recording.close(missing / 1e9, 0.5, 0.1, allowed)
assert all(command["comm"] for command in info["commands"]), info["commands"]
burn, = [command for command in info["commands"] if command["comm"] == "burn"]
assert recording.close(burn["weight"] / 1e9, 0.1, 0.1, allowed)
END
	case $observed in
	lost) grep -q 'setuid or unreadable' ../errors || fail "nothing was said: $(cat ../errors)" ;;
	esac
}

head -1 /proc/stat >../stat
user="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all"
chown 65534 . && chmod 755 .
watch setuid lost "$user"
watch unreadable lost "$user"
watch other observed "$user"
watch other lost "" --inherit
# Of a target that is one itself nothing is missing, for we are who waits for it.
as_user ./adaptrace record -q --max-overhead 0 ../programs/setuid 0.3 >../said 2>../errors ||
	fail "record ended with $?: $(cat ../errors)"
grep -q 'setuid or unreadable' ../errors || fail "nothing was said: $(cat ../errors)"
grep -q 'missing' ../errors && fail "said: $(cat ../errors)"
# Nor is it kept back that there were some that ended soon.
as_user ./adaptrace record -q --max-overhead 0 --inherit sh -c 'for i in 1 2 3 4 5; do
	../programs/setuid 0.02
done' >../said 2>../errors || fail "record ended with $?: $(cat ../errors)"
grep -q ': 5 processes executed a setuid .* ms of their time are missing' ../errors ||
	fail "of short ones was said: $(cat ../errors)"
as_user ./adaptrace info --json | grep -q '"unobserved":5' || fail "$(as_user ./adaptrace info)"
cd .. && (need_cgroup) >/dev/null 2>&1 || pass
cd open || exit 1
watch setuid observed ""
watch other observed ""
pass
