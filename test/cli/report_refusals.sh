#!/bin/sh
# Options of report that can mean nothing together are refused, by a line that says what each is for.
. "$(dirname "$0")/scenario"

refused() { # WORDS-OF-THE-MESSAGE OPTIONS...
	words=$1; shift
	"$ADAPTRACE" report "$@" none.atr >out 2>said
	status=$?
	[ "$status" = 2 ] || fail "report $* ended with $status: $(cat said)"
	head -1 said | grep -q -e "$words" || fail "report $* said: $(cat said)"
	[ ! -s out ] || fail "report $* wrote to standard output: $(cat out)"
}
# Those that mean something get as far as the trace, which is not there.
taken() {
	"$ADAPTRACE" report "$@" none.atr >out 2>said
	one_complaint said "'none.atr'" || fail "report $* said: $(cat said)"
}

for view in --mpi --per-rank --iterations --fold --openmp '--annotate f'; do
	refused "views by themselves" $view --tree
	refused "views by themselves" $view --per-thread
	refused "^adaptrace: --sort is not for ${view% f}, but for the table of functions, --per-thread, --tree, --callers and --callees; ${view% f} takes .*--limit" $view --sort symbol
	refused "^adaptrace: --max-depth is not for ${view% f}, but for --tree, --callers and --callees; " $view --max-depth 2
	taken $view --limit 5 --json
	taken $view --no-inline --time 0,1 -e cpu-clock
done
refused "--mpi, --per-rank, --iterations, --fold, --openmp and --annotate are views by themselves" --mpi --per-rank
for view in --mpi --per-rank --openmp; do
	case $view in --mpi) site=' and --sort site' ;; *) site= ;; esac
	refused "--only is not for $view, but for the table of functions, --per-thread, --tree, --callers, --callees, --iterations, --fold and --annotate; $view takes --limit$site$" $view --only comm=x
done
for view in '' --per-rank --tree '--callers f' --iterations; do
	refused "--sort site is not for .*, but for --mpi; .* takes " $view --sort site
done
refused "cannot sort by 'site'; keys are" --mpi --sort site,symbol
taken --mpi --sort site --limit 5
taken --sort site --mpi --json --time 0,1
taken --sort site --sort symbol
refused "--max-depth is not for the table of functions, but for" --max-depth 2
refused "--max-depth is not for --per-thread, but for" --per-thread --max-depth 2
refused "views by themselves" --mpi --annotate f
refused "views by themselves" --mpi --callers f
refused "one function" --annotate f --callees g
refused "one event at a time; 'page-faults' is the second" -e cpu-clock -e page-faults
for view in '--callers f' '--callees f'; do
	refused "are of functions" $view --sort line
	refused "are of functions" $view --sort comm,module
	taken $view --sort comm,symbol
	taken $view --sort cpu --per-thread --max-depth 3 --all
	refused "--limit is not for ${view% f}, but for" $view --limit 3
done
refused "--limit is not for --tree, but for .*; --tree takes --only, --sort, --max-depth and --percent-limit$" --tree --limit 3
refused "--limit is not for --tree, but for" --per-thread --tree --limit 3
for share in '' 0 -1 101 nan 1x; do
	refused "impossible share '$share'; --percent-limit takes" --percent-limit "$share"
done
for view in --mpi --per-rank --iterations --fold --openmp '--annotate main'; do
	refused "--percent-limit is not for ${view% main}, but for" --percent-limit 1% $view
done
refused "--svg is not for --iterations, but for --fold; --iterations takes --only and --limit$" --iterations --svg
refused "exclude each other" --fold --svg --json
refused "impossible\|cannot limit the loop" --fold=0
refused "--percent-limit and --all exclude each other" --percent-limit 1% --all
taken --tree --limit 3 --json
taken --tree --sort line --all
refused "exclude each other" --all --limit 3
refused "exclude each other" --limit 3 --all --per-rank
refused "exclude each other" --limit 3 --all --json
taken --annotate f --all --limit 3
taken --tree --all --limit 3 --json
pass
