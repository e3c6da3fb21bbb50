#!/bin/sh
# What bash completes: commands, their options, events and traces, as adaptrace itself knows them.
. "$(dirname "$0")/scenario"
command -v bash >/dev/null || skip "no bash here"

source=$here/../../src/cli/completion.bash
completed() { # WORDS...: what the last of them may become
	bash -c '. "$0"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_adaptrace
		printf "%s\n" "${COMPREPLY[@]}"' "$source" "$ADAPTRACE" "$@"
}
offers() { # WORD WORDS...
	word=$1; shift
	completed "$@" >out 2>err
	grep -qxF -e "$word" out && [ ! -s err ] || fail "adaptrace $* does not become $word: $(cat out err)"
}
touch job.atr job.txt we:ird.atr
mkdir folder
offers record re
offers recover re
offers diff help d
offers --tree report --t
offers --limit= report --limit
offers --debuginfod report --deb
offers --counters= record --cou
offers --delay= record --del
offers --in-step= record --in-s
offers --otf2 convert --otf
offers --otf2-events= convert --otf2-
offers job.atr report jo
offers folder report f
completed report jo | grep -q txt && fail "a text is no trace"
offers sh record s
offers sh top s
offers job.atr top jo
offers --no-window top --no-w
# Events with colons, which bash takes for words, and lists of them.
mkdir fake
cat >fake/adaptrace <<'E'
echo '[{"name":"cpu-clock"},{"name":"page-faults"},{"name":"sched:sched_switch"}]'
E
chmod +x fake/adaptrace
real=$ADAPTRACE ADAPTRACE=$work/fake/adaptrace
offers sched:sched_switch record -e sch
offers sched_switch record -e sched :
offers sched_switch record -e sched : sched_sw
offers sched_switch record --event = sched : sched_sw
offers cpu-clock,page-faults record -e cpu-clock,pa
offers sched_switch record -e cpu-clock,sched : sched_sw
offers sched_switch,page-faults record -e sched : sched_switch,pa
ADAPTRACE=$real
if "$ADAPTRACE" list --available | grep -q cpu-clock; then
	offers cpu-clock record -e cpu-cl
	offers cpu-clock record --event = cpu-cl
	offers cpu-clock record --event =
fi
completed report we : ir | grep -q we: && fail "what stands before a colon stands there twice"
# As it is seen: the name of an option is written as it is, and its value can follow.
if python3 -c 'import os; os.openpty()' 2>/dev/null; then
	check "$ADAPTRACE" "$source" <<'P'
import os, pty, sys
pid, terminal = pty.fork()
if not pid:
    os.environ["PATH"] = os.path.dirname(sys.argv[1]) + ":" + os.environ["PATH"]
    os.execlp("bash", "bash", "--norc", "--noprofile", "-i")
os.write(terminal, b"source '%s'\nadaptrace report --lim\t3 --no-such-option; exit\n" % sys.argv[2].encode())
said = b""
while True:
    try:
        read = os.read(terminal, 4096)
    except OSError: # bash has gone
        break
    if not read:
        break
    said += read
os.waitpid(pid, 0)
assert b" --limit=3 --no" in said, said
P
fi
"$ADAPTRACE" help | sed -n 's/^  \([a-z]*\) .*/\1/p' >commands
[ "$(wc -l <commands)" -gt 5 ] || fail "commands: $(cat commands)"
while read -r command; do
	offers --help "$command" --he
done <commands
pass
