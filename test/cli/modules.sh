#!/bin/sh
# Modules of adaptrace watch: one that stops reading, crashes or floods is in nobody's way; commands of
# modules are carried out.
# Waits: for modules to be given up.
. "$(dirname "$0")/scenario"
need_sampling
start_recording -F 1000 -o x.atr "$TARGETS/shares" 100000 >/dev/null 2>errors
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"

# The first reads a line now and then; its pipe has room for a page.
cat >slow <<'END'
import fcntl, json, time

fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, 4096)
left_out = 0
for line in open(0):
    left_out += json.loads(line).get("left_out", 0)
    open("left", "w").write(str(left_out))
    time.sleep(0.3)
END
cat >steers <<'END'
read -r first
echo '{"mark":"of a module"}'
head -c 5000 /dev/zero
echo
echo '{"ctl":"pause","recording":true,"seconds":0.1}'
echo '{"ctl":"leap"}'
cat >/dev/null
END
"$ADAPTRACE" watch $recorder --interval 0.1 --module 'python3 slow' --module 'kill -SEGV $$' \
	--module 'yes' --module 'sleep 6' --module 'sh steers' 2>said &
bad=$!
background="$background $bad"

await sh -c "grep -qs '[1-9]' left"
sleep 1
kill $recorder
wait $recorder
wait $bad && fail "modules that failed are not told"

grep -q "module 'kill -SEGV .* was killed by signal 11" said || fail "no crash: $(cat said)"
grep -q "[0-9] lines of module 'yes' were not carried out" said || fail "no flood: $(cat said)"
check <<'END'
import recording

info = recording.info("x.atr")
assert info["samples"]["taken"] == info["samples"]["stored"] + info["samples"]["reduced"], info["samples"]
assert info["samples"]["lost"] == 0, info["samples"]
actions = [(a["action"], a["text"]) for a in info["actions"]]
assert ("mark", "of a module") in actions, actions
assert [a for a, _ in actions].count("pause") == 1 and len(actions) < 4, actions
assert int(open("left").read()) > 0, "a slow module lost nothing"
END
pass
