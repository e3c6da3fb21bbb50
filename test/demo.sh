#!/bin/sh
# demo.sh BUILD: records a multi-threaded program into 16 MiB and shows what was found.
set -eu
build=$1
trace=$build/demo.atr
set -x
"$build/adaptrace" record -m 16M -o "$trace" "$build/targets/threads" 4 2
"$build/adaptrace" report --no-pager "$trace"
{ set +x; } 2>/dev/null
try() { printf '  %-64s %s\n' "$1" "$2"; }
echo
echo "What to try next:"
try "$build/adaptrace report --tree $trace" "who called the hot functions"
try "$build/adaptrace report --annotate hash_block $trace" "its hot lines"
try "$build/adaptrace convert --flamegraph $trace" "a picture for a browser"
try "$build/adaptrace record COMMAND" "a program of yours"
try "$build/adaptrace doctor" "what works on this machine"
