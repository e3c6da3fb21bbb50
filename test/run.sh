#!/bin/sh
# run.sh BUILD [NAME]: builds and runs every test (or those whose name contains NAME), one line
# each: the unit tests test/unit/test_*.c, plain and under the sanitizers, and the command-line
# tests test/cli/*.sh. A test's exit status: 0 passed, 77 skipped, else failed, and then its output
# is shown.
set -u
build=$1 pattern=${2:-}
passed=0 failed=0 skipped=0
log=$build/test-logs
mkdir -p "$log"
export ASAN_OPTIONS=detect_leaks=${LEAKS:-1}
export ADAPTRACE=$PWD/$build/adaptrace TARGETS=$PWD/$build/targets

run() { # NAME COMMAND...
	name=$1; shift
	case $name in *"$pattern"*) ;; *) return ;; esac
	"$@" >"$log/$name.log" 2>&1
	case $? in
	0) passed=$((passed + 1)); echo "ok      $name" ;;
	77) skipped=$((skipped + 1)); echo "skipped $name: $(tail -1 "$log/$name.log")" ;;
	*) failed=$((failed + 1)); echo "FAILED  $name"; tail -40 "$log/$name.log" ;;
	esac
}

unit=$(for t in test/unit/test_*.c; do basename "$t" .c; done)
for t in $unit; do case $t in *"$pattern"*) wanted="${wanted:-} $t" ;; esac; done
if [ -n "${wanted:-}" ]; then
	make -s $(for t in $wanted; do echo "$build/unit/$t"; done) || exit 1
	make -s BUILD="$build/asan" OPT='-O1 -g' \
		SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined' \
		$(for t in $wanted; do echo "$build/asan/unit/$t"; done) || exit 1
fi
for t in ${wanted:-}; do
	run "$t" "$build/unit/$t"
	run "$t-asan" "$build/asan/unit/$t"
done
for t in test/cli/*.sh; do
	[ -e "$t" ] && run "$(basename "$t" .sh)" sh "$t"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
