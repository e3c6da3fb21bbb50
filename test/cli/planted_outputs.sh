#!/bin/sh
# In a folder that other users own or may write to, no output goes through a link, into a pipe or over
# anything but a file; and what takes a recording's name while it runs costs nothing of it.
. "$(dirname "$0")/scenario"
need_sampling

is_trace() { "$ADAPTRACE" info "$1" >said 2>&1 || fail "$1 is no trace: $(cat said)"; }
secret() { [ "$(cat secret)" = mine ] && [ ! -e secret.old ] || fail "$*: the link was followed"; }
quick() { timeout -s KILL 60 "$@"; }
echo mine >secret
recorded -o good.atr true

# Put there by the program, in a folder of one's own: a pipe, a folder, a link, a socket.
n=0
for plant in 'mkfifo x.atr' 'mkdir x.atr' 'ln -s secret x.atr' 'ln -s nowhere/x x.atr' \
	'mkfifo x.atr x.atr.new' 'echo old >x.atr; mkdir x.atr.old'; do
	rm -rf x.atr*
	quick "$ADAPTRACE" record -q -o x.atr sh -c "$plant" 2>errors
	[ $? = 0 ] || fail "$plant: $(cat errors)"
	one_complaint errors "'x.atr' was taken meanwhile.*'$PWD/x.atr.new" || fail "$plant: $(cat errors)"
	is_trace "$(sed -n "s/.*the trace is '\(.*\)'$/\1/p" errors)"
	secret "$plant"
done
rm -rf x.atr*
"$ADAPTRACE" record -o x.atr mkfifo x.atr 2>errors || fail "$(cat errors)"
grep -q "→ $PWD/x.atr.new (" errors || fail "the last line: $(cat errors)"
# The way there is replaced: by another folder's name the old file there would be lost.
mkdir way other
echo mine >other/x.atr
TMPDIR=$PWD quick "$ADAPTRACE" record -q -o way/x.atr sh -c 'mv way gone; ln -s other way' 2>errors
[ $? = 125 ] && [ "$(cat other/x.atr)" = mine ] || fail "a way that was replaced: $(cat errors)"
is_trace "$(sed -n "s/.*the trace is '\(.*\)' instead$/\1/p" errors)"
# The folder is made anew, as builds do.
mkdir made
recorded -o made/x.atr sh -c 'rmdir made && mkdir made'
is_trace made/x.atr
# What cannot be kept is known before the start.
: >kept.atr
mkdir kept.atr.old
record -o kept.atr touch ran 2>errors
[ $? = 125 ] && [ ! -e ran ] && one_complaint errors 'kept.*-o names another place' || fail "$(cat errors)"
"$ADAPTRACE" convert --folded -o /dev/null good.atr || fail "/dev/null"
"$ADAPTRACE" convert --folded -o - good.atr >plain
"$ADAPTRACE" convert --folded -o /dev/stdout good.atr | cmp - plain || fail "/dev/stdout"
"$ADAPTRACE" convert --folded -o /dev/fd/3 good.atr 3>&1 >said | cmp - plain || fail "/dev/fd/3"
record -o /dev/null true || fail "record to /dev/null"

[ "$(id -u)" = 0 ] || pass
# Root in the folder of somebody else, or of all; and somebody in a folder of root's that is open.
for kind in 'chown 65534' 'chmod 1777' 'chmod 777' 'chmod 2775'; do
	rm -rf their
	mkdir their && $kind their
	user() { setpriv --reuid 65534 --regid 0 --clear-groups --inh-caps=-all "$@"; }
	refuse() { # COMMAND...: which would write their/x.atr
		quick "$@" 2>errors && fail "$kind: $* went on"
		one_complaint errors "'their/x.atr': it is a .*-o" || fail "$kind: $*: $(cat errors)"
		secret "$kind: $*"
	}
	refuse_all() {
		refuse "$ADAPTRACE" record -q -o their/x.atr touch ran
		[ ! -e ran ] || fail "$kind: refused after the program"
		refuse "$ADAPTRACE" merge -o their/x.atr good.atr
		refuse "$ADAPTRACE" convert --folded -f -o their/x.atr good.atr
		rm -f their/x.atr
	}
	user ln -s "$PWD/secret" their/x.atr && refuse_all
	ln -s "$PWD/secret" their/x.atr && refuse_all
	user ln -s "$PWD/nothing" their/x.atr && refuse_all
	user mkfifo -m 666 their/x.atr && refuse_all
	for plant in "ln -s $PWD/secret their/x.atr" "mkfifo -m 666 their/x.atr" "mkdir their/x.atr"; do
		quick "$ADAPTRACE" record -q -o their/x.atr \
			setpriv --reuid 65534 --regid 0 --clear-groups $plant 2>errors || fail "$plant: $(cat errors)"
		one_complaint errors "taken meanwhile" || fail "$plant: $(cat errors)"
		is_trace their/x.atr.new
		[ "$(stat -c %a:%u their/x.atr.new)" = 600:0 ] || fail "$plant: $(ls -l their)"
		secret "$plant"
		rm -r their/x.atr*
	done
	# A file of theirs is put aside, also where it is a second name of ours; links to it, replaced.
	user touch their/x.atr
	user ln -s "$PWD/secret" their/x.atr.old
	recorded -o their/x.atr true
	is_trace their/x.atr
	secret "$kind: the old one"
	ln -f secret their/x.atr
	recorded -o their/x.atr true
	secret "$kind: another name of it"
	rm -r their/x.atr*
	"$ADAPTRACE" convert --otf2 -o their/x good.atr 2>errors || {
		grep -q 'built without' errors && continue
		fail "$kind: otf2: $(cat errors)"
	}
	[ -s their/x/traces.otf2 ] && stat -c %a:%u their/x | grep -q '700:0$' || fail "$kind: $(ls -lR their)"
	rm -r their/x
	user ln -s "$PWD" their/x
	"$ADAPTRACE" convert --otf2 -f -o their/x good.atr 2>errors && fail "$kind: otf2 through a link"
	[ ! -e traces.otf2 ] || fail "$kind: otf2 went through a link"
done
# A snapshot and what is recovered, too.
rm -rf their && mkdir their && chown 65534 their
as_user ln -s "$PWD/secret" their/x.atr
lose_recorder -m 256K -o y.atr sleep 60 2>errors
kill -KILL $target
grep -q 'no room in /dev/shm' errors && pass
quick "$ADAPTRACE" recover -o their/x.atr y.atr 2>errors && fail "recovered through a link"
one_complaint errors "'their/x.atr': it is a link.*-o names" || fail "recover: $(cat errors)"
secret recover
"$ADAPTRACE" recover -o y.atr y.atr 2>errors || fail "recover: $(cat errors)"
start_recording -m 256K -o z.atr sleep 60 2>errors
quick "$ADAPTRACE" snapshot -o their/x.atr z.atr 2>errors && fail "a snapshot through a link"
one_complaint errors "'their/x.atr': it is a link.*-o names" || fail "snapshot: $(cat errors)"
secret snapshot
kill -TERM $recorder
wait $recorder
pass
