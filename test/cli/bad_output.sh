#!/bin/sh
# A place where no trace can be written is noticed at once, with one line, and nothing is destroyed.
. "$(dirname "$0")/scenario"
need_sampling

refuse() { # PLACE
	record -o "$1" touch "$work/ran" 2>errors
	status=$?
	[ ! -e "$work/ran" ] || fail "-o $1 was refused only after the command: $(cat errors)"
	[ $status = 125 ] || fail "-o $1 ended with $status: $(cat errors)"
	one_complaint errors "$1" || fail "-o $1 said: $(cat errors)"
}

mkdir folder
refuse no/such/folder/x.atr
refuse folder
[ -d folder ] || fail "the folder is gone"
refuse ''
refuse -
refuse %q.atr
mkfifo pipe
refuse pipe
refuse missing/
: >file
refuse file/x.atr
refuse file/
ln -s "$PWD/missing/x.atr" dangling
refuse dangling
[ ! -d /sys/kernel ] || refuse /sys/kernel/x.atr # where root has rights that do not help
# A name too long, or one that leaves no room for the old trace's.
long=$(printf '%0251d' 0)
for name in "$long.trace" "$long.atr"; do
	: >"$long.atr"
	refuse "$name"
	grep -q 'File name too long; -o names another place$' errors || fail "said: $(cat errors)"
	[ ! -s "$long.atr" ] || fail "the old file is gone"
done
rm "$long.atr"
recorded -o "$long.atr" true
# What is said of a name does not act on the terminal.
record -o "$(printf 'no/\033[31mx')" true 2>errors
grep -qF 'no/\x1b[31mx' errors || fail "said: $(cat -v errors)"
for name in no/such/folder/x.atr folder; do
	"$ADAPTRACE" recover -o saved.atr "$name" 2>errors
	[ $? = 1 ] && one_complaint errors "nothing to recover for '$name'" || fail "said: $(cat errors)"
done
if [ "$(id -u)" != 0 ]; then
	mkdir closed && chmod 555 closed
	refuse closed/x.atr
fi
# A folder that is deleted: before the start, and meanwhile, when the line names what saves the trace.
mkdir gone && cd gone && rmdir ../gone
record true 2>../errors
[ $? = 125 ] && one_complaint ../errors 'folder does not exist' || fail "said: $(cat ../errors)"
cd ../ && mkdir gone && cd gone || fail "cd"
record sh -c "rmdir $work/gone" 2>../errors
[ $? = 125 ] && one_complaint ../errors 'No such file' || fail "said: $(cat ../errors)"
cd ..
saving=$(sed -n 's/.*: adaptrace recover//p' errors)
eval "\"$ADAPTRACE\" recover $saving" 2>errors || fail "recover $saving: $(cat errors)"
"$ADAPTRACE" info ANOTHER.atr >said || fail "no trace"
# Where nothing could be recovered it is saved at once.
mkdir gone tmp && cd gone || fail "cd"
(ulimit -f 2048; TMPDIR=$work/tmp record -m 2M sh -c "rmdir $work/gone") 2>../errors
[ $? = 125 ] || fail "record with little room: $(cat ../errors)"
cd ..
grep -q "the trace is '$work/tmp/adaptrace-.*/adaptrace.atr'" errors || fail "said: $(cat errors)"
"$ADAPTRACE" info tmp/adaptrace-*/adaptrace.atr >said || fail "no trace"
# A folder below one that is closed to us.
if [ "$(id -u)" = 0 ]; then
	mkdir -p closed/below/deeper && chmod 777 closed/below closed/below/deeper && chmod 700 closed
	(cd closed/below && as_user "$ADAPTRACE" record -q -e cpu-clock:u true &&
		as_user "$ADAPTRACE" record -q -e cpu-clock:u -o deeper/x.atr true) 2>errors ||
		fail "below a closed folder: $(cat errors)"
fi
# Somebody else's link where all may write is a trap.
if [ "$(id -u)" = 0 ]; then
	mkdir open && chmod 1777 open && echo mine >precious
	as_user ln -s "$PWD/precious" open/x.atr
	record -o open/x.atr true 2>errors
	[ $? = 125 ] && grep -q 'it is a link' errors || fail "said: $(cat errors)"
	[ "$(cat precious)" = mine ] && [ ! -e precious.old ] || fail "the link was followed"
	recorded -o good.atr true
	"$ADAPTRACE" convert --folded -o open/x.atr good.atr 2>errors && fail "converted over a trap"
	[ "$(cat precious)" = mine ] || fail "convert followed the link"
	ln -s "$PWD/precious" z.atr
	recorded -o z.atr true
	[ "$(cat precious.old)" = mine ] || fail "a link of one's own was not followed"
	# Behind a link of one's own, too.
	echo mine >precious
	ln -s open/x.atr chain.atr
	record -o chain.atr true 2>errors
	[ $? = 125 ] && grep -q 'it is a link' errors || fail "said: $(cat errors)"
	"$ADAPTRACE" convert --folded -f -o chain.atr good.atr 2>errors && fail "converted along a chain"
	[ "$(cat precious)" = mine ] || fail "a link was followed to the next"
	# So is somebody else's pipe, which nobody may ever read, or who must not.
	as_user mkfifo -m 666 open/pipe
	timeout -s KILL 60 "$ADAPTRACE" convert --folded -f -o open/pipe good.atr 2>errors
	[ $? = 1 ] && grep -q 'it is a pipe' errors || fail "to a pipe: $(cat errors)"
	mkfifo own
	cat own >piped &
	"$ADAPTRACE" convert --folded -f -o own good.atr || fail "to a pipe of one's own"
	wait $!
	"$ADAPTRACE" convert --folded -o - good.atr | cmp - piped || fail "through a pipe"
	"$ADAPTRACE" convert --folded -f -o /dev/stdout good.atr | cmp - piped || fail "/dev/stdout"
fi
# Names with a meaning.
recorded -o '%%-%h-%p.atr' true
[ -s %-"$(hostname 2>/dev/null || uname -n)"-*.atr ] || fail "$(ls)"
OMPI_COMM_WORLD_RANK=3 recorded -o 'rank.%r' true
[ -s rank.3 ] || fail "$(ls)"
OMPI_COMM_WORLD_RANK=5 recorded true
[ -s adaptrace.5.atr ] || fail "$(ls)"
PALS_RANKID=7 recorded true
[ -s adaptrace.7.atr ] || fail "$(ls)"
# A name that does not tell ranks apart gets the rank; a device does not.
for rank in 0 1; do
	OMPI_COMM_WORLD_RANK=$rank recorded -o given.atr true
	OMPI_COMM_WORLD_RANK=$rank recorded -o given true
	OMPI_COMM_WORLD_RANK=$rank recorded -o '100%%.atr' true
	OMPI_COMM_WORLD_RANK=$rank recorded -o /dev/null true
	[ -s given.$rank.atr ] && [ -s given.$rank ] && [ -s 100%.$rank.atr ] || fail "$(ls)"
done
[ ! -e /dev/null.0 ] && [ ! -e given.atr ] || fail "$(ls)"
for word in r p h; do OMPI_COMM_WORLD_RANK=4 recorded -o "of-$word-%$word" true; done
[ -s of-r-4 ] && [ -s of-h-"$(hostname 2>/dev/null || uname -n)" ] || fail "$(ls)"
# Ranks with one name nevertheless all begin, and no trace replaces another.
"$ADAPTRACE" record -q -o of-%h.atr sleep 60 2>errors &
recorder=$!
background="$background $recorder"
await sh -c "ls -l /proc/$recorder/fd | grep -q perf_event"
sleep 0.5
for rank in 1 2 3; do OMPI_COMM_WORLD_RANK=$rank recorded -o of-%h.atr true 2>errors; done
[ "$(ls | grep -c '^of-.*\.atr')" = 3 ] || fail "$(ls)"
record -o of-%h.atr touch second 2>errors
[ $? = 125 ] && [ ! -e second ] && one_complaint errors 'another recorder is at work' || fail "said: $(cat errors)"
kill -TERM $recorder
wait $recorder
[ "$(ls | grep -c '^of-.*\.atr')" = 4 ] || fail "$(ls)"
# A batch script of Slurm's has a number, and is no rank; what srun starts is.
SLURM_PROCID=0 recorded true
[ -s adaptrace.atr ] && [ ! -e adaptrace.0.atr ] || fail "$(ls)"
SLURM_STEP_ID=0 SLURM_PROCID=6 recorded true
[ -s adaptrace.6.atr ] || fail "$(ls)"
pass
