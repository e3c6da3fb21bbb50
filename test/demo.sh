#!/bin/sh
# demo.sh BUILD: records a multi-threaded program into 16 MiB and shows what was found.
set -eu
build=$1
trace=$build/demo.atr
set -x
"$build/adaptrace" record -m 16M -o "$trace" "$build/targets/threads" 4 2
"$build/adaptrace" report "$trace"
