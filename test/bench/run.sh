#!/bin/sh
# run.sh BUILD [NAME]: runs the benchmarks (or those whose name contains NAME), built before. They
# print figures and judge nothing.
set -eu
build=$1 pattern=${2:-}
for b in test/bench/bench_*.c; do
	name=$(basename "$b" .c)
	case $name in *"$pattern"*) "$build/bench/$name" ;; esac
done
