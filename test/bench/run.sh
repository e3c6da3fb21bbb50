#!/bin/sh
# run.sh BUILD [NAME]: runs the benchmarks (or those whose name contains NAME), built before. They
# print figures and judge nothing.
set -eu
build=$1 pattern=${2:-}
export PYTHONDONTWRITEBYTECODE=1
for b in test/bench/bench_*.c test/bench/bench_*.py; do
	name=$(basename "${b%.*}")
	case $name in *"$pattern"*) ;; *) continue ;; esac
	case $b in
	*.c) "$build/bench/$name" ;;
	*) python3 "$b" "$build" ;;
	esac
done
