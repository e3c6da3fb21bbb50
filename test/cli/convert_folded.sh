#!/bin/sh
# Folded stacks.
. "$(dirname "$0")/convert_traces"
check_format folded .folded
# To standard output, one line a path, whatever is in the names.
"$ADAPTRACE" convert --folded -o - hostile.atr >piped
cmp piped hostile.folded
grep -vaE '^[^;]+(;[^;]+)+ [0-9]+$' piped && fail "a line is no folded stack"
# The other event, by name; events that are not there.
"$ADAPTRACE" convert --folded -e page-faults -o other plain.atr
cmp -s other plain.folded && fail "the event does not matter"
"$ADAPTRACE" convert --folded -e nothing -o none plain.atr && fail "an event that is not there"
[ ! -e none ]
pass
