#!/bin/sh
# run.sh BUILD [NAME]: builds and runs every test (or those whose name contains NAME), one line
# each: the unit tests test/unit/test_*.c, plain and under the sanitizers, and the command-line
# tests test/cli/*.sh. A test's exit status: 0 passed, 77 skipped, else failed, and then its output
# is shown. Command-line tests measure on whatever else the machine does, and have three tries; how
# many were needed is shown. A test that takes ten times what any takes on a busy machine hangs, and
# fails.
set -u
build=$1 pattern=${2:-} limit=600
passed=0 failed=0 skipped=0
log=$build/test-logs
mkdir -p "$log"
export ASAN_OPTIONS=detect_leaks=${LEAKS:-1}
export ADAPTRACE=$PWD/$build/adaptrace TARGETS=$PWD/$build/targets

run() { # TRIES NAME COMMAND...
	tries=$1 name=$2 try=1; shift 2
	case $name in *"$pattern"*) ;; *) return ;; esac
	while :; do
		timeout -k 10 "$limit" "$@" >"$log/$name.log" 2>&1
		status=$?
		case $status in 0 | 77) break ;; esac
		[ $try -lt "$tries" ] || break
		cp "$log/$name.log" "$log/$name.try$try.log"
		try=$((try + 1))
	done
	case $status in
	0) passed=$((passed + 1)); echo "ok      $name$([ $try = 1 ] || echo " at try $try")" ;;
	77) skipped=$((skipped + 1)); echo "skipped $name: $(tail -1 "$log/$name.log")" ;;
	*) failed=$((failed + 1)); echo "FAILED  $name"; tail -40 "$log/$name.log" ;;
	esac
}

unit=$(for t in test/unit/test_*.c; do basename "$t" .c; done)
for t in $unit; do case $t in *"$pattern"*) wanted="${wanted:-} $t" ;; esac; done
if [ -n "${wanted:-}" ]; then
	make -s -j"$(nproc)" $(for t in $wanted; do echo "$build/unit/$t"; done) || exit 1
	make -s -j"$(nproc)" BUILD="$build/asan" OPT='-O1 -g' \
		SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined' \
		$(for t in $wanted; do echo "$build/asan/unit/$t"; done) || exit 1
fi
for t in ${wanted:-}; do
	run 1 "$t" "$build/unit/$t"
	run 1 "$t-asan" "$build/asan/unit/$t"
done
for t in test/cli/*.sh; do
	[ -e "$t" ] && run 3 "$(basename "$t" .sh)" sh "$t"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
