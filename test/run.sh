#!/bin/sh
# run.sh BUILD [NAME]: builds and runs every test (or those whose name contains NAME), one line
# each: the unit tests test/unit/test_*.c, plain and under the sanitizers, and the command-line
# tests test/cli/*.sh. A test's exit status: 0 passed, 77 skipped, else failed, and then its output
# is shown. Command-line tests measure on whatever else the machine does, and have three tries; how
# many were needed is shown. As many run at once as there are CPUs. One at a time run those that compare
# times (measure), that record as an ordinary user, who has limits (as_user), or that say "# Alone:"
# and why. Beside them run those that say "# Waits:" and what for, which use hardly any CPU time.
set -u
build=$1 pattern=${2:-}
log=$build/test-logs
mkdir -p "$build"
exec 9>"$build/test.lock"
flock -n 9 || { echo "tests run in $build already"; exit 1; }
rm -rf "$log"
mkdir -p "$log"
export ASAN_OPTIONS=detect_leaks=${LEAKS:-1}
ADAPTRACE=$(readlink -f "$build/adaptrace") TARGETS=$(readlink -f "$build/targets")
export ADAPTRACE TARGETS

run() { # AT-ONCE LIST: lines "TRIES NAME COMMAND..." of $log/LIST
	xargs -r -P "$1" -L 1 test/run_one.sh "$log" <"$log/$2" 9>&- | tee -a "$log/all"
}

for t in $(find test/unit -name 'test_*.c' | sort); do
	case $(basename "$t" .c) in *"$pattern"*) units="${units:-} ${t#test/unit/}" ;; esac
done
units=$(echo "${units:-}" | sed 's/\.c\>//g')
if [ -n "$units" ]; then
	test/build.sh -j"$(nproc)" $(for t in $units; do echo "$build/unit/$t"; done) || exit 1
	test/build.sh -j"$(nproc)" BUILD="$build/asan" OPT='-O1 -g1' \
		SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined' \
		$(for t in $units; do echo "$build/asan/unit/$t"; done) || exit 1
fi
for t in $units; do
	echo "1 $(basename "$t") $build/unit/$t"
	echo "1 $(basename "$t")-asan $build/asan/unit/$t"
done >"$log/units"
run "$(nproc)" units

for t in test/cli/*.sh; do
	name=$(basename "$t" .sh)
	case $name in *"$pattern"*) ;; *) continue ;; esac
	list=beside
	grep -q '^# Waits:' "$t" && list=waiting
	grep -Eq '^[^#]*\b(measure\b|as_user\b.*\brecord\b)|^# Alone:' "$t" && list=alone
	echo "3 $name sh $t" >>"$log/$list"
done
touch "$log/beside" "$log/waiting" "$log/alone"
wanted=$(cat "$log/units" "$log/beside" "$log/waiting" "$log/alone" | wc -l)
# Which several of them make, where it is not there.
[ ! -s "$log/beside" ] || make -s "$build/unit/make_trace" "$build/unit/make_job" "$build/unit/make_crafted" || exit 1
run 2 waiting &
run "$(nproc)" beside
wait
run 1 alone

count() { grep -c "^$1 " "$log/all"; }
# NAME HEADING: the lines of $log/all that begin with NAME, without what failed tests wrote.
summarize() {
	grep -q "^$1 " "$log/all" || return 0
	echo "$2"
	sed -n "s/^$1 */  /p" "$log/all"
}
summarize skipped "skipped, and why:"
summarize FAILED "failed:"
passed=$(count 'ok     ') failed=$(count 'FAILED ') skipped=$(count skipped)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$wanted" -gt 0 ] || echo "no test has '$pattern' in its name"
[ "$failed" = 0 ] && [ "$wanted" -gt 0 ] && [ $((passed + skipped)) = "$wanted" ]
