#!/bin/sh
# run.sh BUILD [NAME]: runs the benchmarks (or those whose name contains NAME), built before. They
# print figures and judge nothing. One that fails keeps none from running, and is named in the end.
set -u
build=$1 pattern=${2:-} failed=
export PYTHONDONTWRITEBYTECODE=1
for b in test/bench/bench_*.c test/bench/bench_*.py; do
	name=$(basename "${b%.*}")
	case $name in *"$pattern"*) ;; *) continue ;; esac
	case $b in
	*.c) "$build/bench/$name" ;;
	*) python3 "$b" "$build" ;;
	esac || [ $? = 77 ] || failed="$failed $name"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
