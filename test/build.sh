#!/bin/sh
# build.sh ARGUMENT...: make with these arguments, and a line now and then instead of one for each
# file that is compiled. Warnings and errors are shown as ever.
set -u
make=${MAKE:-make}
todo=$($make -n --no-print-directory "$@" 2>/dev/null | grep -c ' -o ')
[ "$todo" = 0 ] || echo "building $todo files"
{
	$make --no-print-directory "$@"
	echo "status $?"
} | awk -v todo="$todo" '
	/^status [0-9]+$/ { status = $2; next }
	/ -o / && ++done % 50 == 0 && done < todo { print "  " done " of " todo; fflush() }
	END { exit status }'
