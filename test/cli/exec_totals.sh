#!/bin/sh
# A process that computes, and then executes another program: the kernel has one total of both, and
# reports show no time twice. As an ordinary user, with inherited events.
. "$(dirname "$0")/scenario"
need_sampling
need_totals

cat >first.py <<'END'
import os, sys, threading, time
def burn():
    end = time.thread_time() + (1 if sys.argv[1] == "late" else 0.3)
    while time.thread_time() < end:
        pass
def leave():
    burn()
    os.execv(sys.argv[2], sys.argv[2:])
if sys.argv[1] == "thread":
    threading.Thread(target=leave).start()
    time.sleep(60)
leave()
END

# What was used before sampling started, late or not, is of no program.
for who in first thread late user; do
	until=0.6
	case $who in
	late)
		set -- -e cpu-clock:u --delay 0.5
		until=1.3
		;;
	user) set -- -e cpu-clock:u ;;
	*) set -- ;;
	esac
	recorded --inherit -m 1M -F "$(rate 10000)" "$@" python3 first.py $who "$TARGETS/burn" $until >said
	"$ADAPTRACE" report | head -12
	measure <<'END'
import recording
info, report = recording.info(), recording.report()
exact = info["events"][0]["exact"]
stood = recording.allowance(info) * 1e9
assert recording.close(report["total_weight"], exact, 0.05, stood)
burn, = [command for command in info["commands"] if command["comm"] == "burn"]
assert burn["weight"] > 0.1e9
assert all(command["comm"] for command in info["commands"]), info["commands"]
assert recording.close(burn["exact"], burn["weight"], 0.1, stood + info["drain_latency_ns"])
END
done
pass
