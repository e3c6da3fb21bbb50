#!/bin/sh
# One allocation is refused, whichever it is, or each from there on: a report that succeeds
# nevertheless says all that it says with memory, and one that fails says why.
. "$(dirname "$0")/scenario"
export LC_ALL=C # whose tables are there without memory
build=$(dirname "$ADAPTRACE")
(cd "$here/../.." && make -s BUILD="${build#"$PWD"/}" "${build#"$PWD"/}/unit/make_job")
mkdir ranks
"$build/unit/make_job" ranks 4 20 >/dev/null
"$ADAPTRACE" merge ranks/*.atr -o job.atr 2>/dev/null || fail "no trace"

cat >refuse.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static unsigned long asked, refused, last;

__attribute__((constructor)) static void begin(void)
{
	if (strcmp(program_invocation_short_name, "adaptrace"))
		return; /* the target of a recording */
	refused = strtoul(getenv("REFUSED"), NULL, 10);
	last = getenv("ALL") ? -1UL : refused;
	asked = 0;
}

__attribute__((destructor)) static void end(void)
{
	FILE *file = asked ? fopen("asked", "w") : NULL;

	if (file && fprintf(file, "%lu\n", asked) > 0)
		fclose(file);
}

static int refuse(void)
{
	unsigned long which = __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);

	if (!refused || which < refused || which > last)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return refuse() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return refuse() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *memory, size_t size)
{
	return refuse() ? NULL : __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t nr, size_t size)
{
	return refuse() ? NULL : __libc_realloc(memory, nr * size);
}
END
cc -D_GNU_SOURCE -shared -fPIC -o refuse.so refuse.c 2>said || skip "another C library: $(head -1 said)"
refusing() { # WHICH OPTIONS...
	which=$1; shift
	REFUSED=$which LD_PRELOAD=$work/refuse.so "$ADAPTRACE" "$@" job.atr >out 2>said
}
refusing 0 info || skip "no library can be preloaded: $(cat said)"

for what in "report" "report --json" "report --tree --only rank=1" "report --per-thread --time 1%,90%" \
	"report --annotate compute" "report --callers step --json" "report --mpi" "report --mpi --json" \
	"report --mpi --sort site" "report --mpi --sort site --json" "dump" \
	"report --per-rank" "report --iterations" "report --fold" "report --fold --svg" "info" "info --json" "convert -q --pprof -o -" \
	"convert -q --flamegraph -o -" "convert -q --chrome -o -"; do
	refusing 0 $what || fail "$what: $(cat said)"
	mv out whole
	last=$(cat asked) step=$(($(cat asked) / 25 + 1)) failed=0
	for which in $(seq 1 $step "$last") $(seq $((last - 10)) "$last"); do
		refusing "$which" $what
		status=$?
		case $status in
		0) cmp -s out whole || fail "$what: $which of $last refused: $(diff whole out | head -5)" ;;
		1 | 2) one_complaint said 'annot allocate memory\|no memory' ||
			fail "$what: $which of $last refused: $(cat said)"
		   failed=$((failed + 1)) ;;
		*) fail "$what: $which of $last refused: ended with $status: $(cat said)" ;;
		esac
	done
	for which in $(seq 18 28) $((last / 2)); do
		(export ALL=1; refusing "$which" $what)
		status=$?
		[ $status = 1 ] || [ $status = 2 ] || fail "$what: $which on refused: $status"
		one_complaint said 'annot allocate memory\|no memory' ||
			fail "$what: $which on refused: $(cat said)"
	done
	[ $failed -gt 10 ] || fail "$what fails for want of memory $failed times only"
done
# Ranks that are merged keep what they had, but for call paths and names, which are counted.
functions() { # TRACE: what each spent itself
	"$ADAPTRACE" report -q "$1" 2>said | awk '{ print $1, $5, $6, $7 }'
}
functions job.atr >whole
refusing 0 merge ranks -o || fail "merge: $(cat said)"
for which in $(seq 60 5 "$(cat asked)"); do
	REFUSED=$which LD_PRELOAD=$work/refuse.so "$ADAPTRACE" merge ranks -o new.atr 2>said
	status=$?
	case $status in
	0) functions new.atr >out
	   cmp out whole || "$ADAPTRACE" info new.atr | grep -q 'without room' ||
		fail "merge: $which refused" ;;
	1) one_complaint said 'annot allocate memory' || fail "merge: $which: $(cat said)" ;;
	*) fail "merge: $which refused: ended with $status: $(cat said)" ;;
	esac
done
# Nor does a recording, which leaves a trace or a line. It begins with the first file of its own.
python3 "$here/may_sample.py" || skip "this kernel permits no sampling here"
for which in $(seq 60 3 150); do
	rm -f adaptrace.atr
	REFUSED=$which LD_PRELOAD=$work/refuse.so record -m 64K -o adaptrace.atr true 2>said
	status=$?
	case $status in
	0) "$ADAPTRACE" info >out 2>said || fail "record: $which refused: $(cat said)" ;;
	125) one_complaint said '.' || fail "record: $which refused: $(cat said)"
	   ! grep -q 'adaptrace recover' said || "$ADAPTRACE" recover >out 2>said ||
		fail "record: $which refused: recover: $(cat said)" ;;
	*) fail "record: $which refused: ended with $status: $(cat said)" ;;
	esac
done
# An archive is whole or none, whatever becomes of the library that writes it.
archive="convert -q --otf2 -o out-otf2"
refusing 0 $archive || skip "no OTF2: $(cat said)"
last=$(cat asked)
for which in $(seq 30 90 "$last") $(seq $((last - 110)) 5 "$last"); do
	rm -rf out-otf2
	(REFUSED=$which; export REFUSED; LD_PRELOAD=$work/refuse.so exec \
		timeout -k 1 5 "$ADAPTRACE" $archive job.atr 2>said)
	[ $? != 0 ] || [ -s out-otf2/traces.otf2 ] || fail "$which of $last refused: no anchor"
done
rm -rf out-otf2 .adaptrace-*
for which in $(seq 30 70 "$last"); do
	(export ALL=1; refusing "$which" $archive)
	[ $? != 1 ] || [ -z "$(ls -d .adaptrace-* 2>/dev/null)" ] ||
		fail "$which of $last on refused: left behind"
	rm -rf out-otf2 .adaptrace-*
done
pass
