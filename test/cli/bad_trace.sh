#!/bin/sh
# Files that are no trace, or no longer one: every command says so in one line and ends with 1.
. "$(dirname "$0")/scenario"
need_sampling

recorded -m 256K -o good.atr "$TARGETS/contexts" 50 0.1

refuse() { # FILE WORDS
	for command in report info dump 'report --tree' 'report --json' 'info --json' 'dump --json'; do
		timeout 20 "$ADAPTRACE" $command "$1" >out 2>errors </dev/null
		status=$?
		[ $status = 1 ] || fail "$command $1 ended with $status: $(cat errors)"
		one_complaint errors "$2" || fail "$command $1 said: $(cat errors)"
		[ ! -s out ] || fail "$command $1 wrote $(head -c 300 out)"
	done
}

refuse missing.atr 'missing.atr.*No such file'
mkdir folder && refuse folder folder
# The longest names do not keep the reason out of the line.
deep=$(printf '%0200d/' 1 2 3 4 5 6 7)
mkdir -p "$deep" && refuse "${deep}missing.atr" 'missing.atr.*No such file'
"$ADAPTRACE" record -q -e cpu-clock:u -o "${deep}none/x.atr" true 2>errors && fail 'no folder is no error'
one_complaint errors 'none/x.atr.*-o names another place' || fail "$(cat errors)"
mkfifo pipe && refuse pipe pipe
refuse /dev/zero /dev/zero
: >empty && refuse empty empty
echo 'nothing of ours' >text && refuse text text
head -c 100000 /dev/urandom >noise && refuse noise noise
size=$(stat -c %s good.atr)
for part in 8 40 500 $((size / 2)) $((size - 1)); do
	head -c "$part" good.atr >cut && refuse cut cut
done
cat good.atr text >longer && refuse longer longer
if [ "$(id -u)" != 0 ]; then
	cp good.atr closed && chmod 000 closed && refuse closed 'closed.*ermission'
fi
# A version that is yet to come is no damage.
python3 -c 'import sys
data = bytearray(open("good.atr", "rb").read())
data[8:12] = (99).to_bytes(4, "little")
open("newer", "wb").write(data)'
refuse newer 'newer.*newer adaptrace'
# What is cut while it is read, which waits here for whoever reads its output.
mkfifo output
"$ADAPTRACE" dump good.atr >output 2>errors &
reader=$!
exec 3<output
head -c 1 <&3 >first
truncate -s 4096 good.atr
cat <&3 >rest
exec 3<&-
wait "$reader"
status=$?
[ $status = 1 ] || fail "dump of a trace that was cut ended with $status"
one_complaint errors 'good.atr.*was cut' || fail "dump of a trace that was cut said: $(cat errors)"
pass
