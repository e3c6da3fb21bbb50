#!/bin/sh
# A plug-in that uses MPI may be closed and opened again: calls go where the library is then.
. "$(dirname "$0")/scenario"
need_sampling

echo 'int MPI_Barrier(void *comm) { return !comm; }' |
	gcc -shared -fPIC -o libmpifake.so -x c - || fail "no library"
echo 'int MPI_Barrier(void *comm); int plugin(void) { return MPI_Barrier(""); }' >plugin.c
gcc -shared -fPIC -o plugin.so plugin.c -L. -lmpifake -Wl,-rpath,"$work" || fail "no plug-in"
gcc -D_GNU_SOURCE -o unload "$here/../mpi/unload.c" || fail "no program"

for times in "./plugin.so ./plugin.so ./plugin.so" "./plugin.so"; do
	# shellcheck disable=SC2086
	./unload $times || fail "$times alone: $?"
	# shellcheck disable=SC2086
	recorded -m 1M --mpi -F 100 -g none ./unload $times
	"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
	[ "$(grep -c '"call":"MPI_Barrier"' dump)" = "$(echo $times | wc -w)" ] || fail "$(cat dump)"
done
pass
