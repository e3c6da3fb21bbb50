#!/bin/sh
# Help goes to standard output and is a success; wrong usage goes to standard error and is none.
. "$(dirname "$0")/scenario"

expect() { # STATUS STREAM ARGUMENTS...
	expected=$1 stream=$2; shift 2
	"$ADAPTRACE" "$@" >out 2>err
	status=$?
	[ "$status" = "$expected" ] || fail "adaptrace $* ended with $status: $(cat err)"
	[ -s "$stream" ] || fail "adaptrace $* said nothing on $stream"
	case $stream in out) other=err ;; *) other=out ;; esac
	[ ! -s $other ] || fail "adaptrace $* wrote to $other: $(cat $other)"
}

if [ -c /dev/full ]; then
	for what in help 'help record' --version; do
		"$ADAPTRACE" $what >/dev/full 2>err && fail "$what on a full disk is no error"
		one_complaint err 'cannot write to standard output' || fail "$what says: $(cat err)"
	done
fi
commands=$("$ADAPTRACE" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
for command in record list report info dump recover; do
	echo "$commands" | grep -qx $command || fail "help does not show $command"
done
expect 0 out help
expect 0 out help record
expect 0 out help help
expect 0 out help --help
expect 2 err help no-such-command
expect 0 out --help
expect 0 out --version
expect 2 err
expect 2 err no-such-command
for command in $commands; do
	expect 0 out $command --help
	expected=2
	[ $command = record ] && expected=125
	expect $expected err $command --no-such-option
	one_complaint err "no option --no-such-option here; 'adaptrace help $command' lists them" ||
		fail "$command --no-such-option says: $(cat err)"
done
# What is wrong is one line: with an option, which may stand anywhere,
wrong() { # WORDS STATUS ARGUMENTS...
	words=$1 expected=$2; shift 2
	expect "$expected" err "$@"
	[ "$(wc -l <err)" = 1 ] && one_complaint err "$words" || fail "$* says: $(cat err)"
}
wrong 'no option --nope here' 125 record --nope=3 true
wrong 'no option -Z here' 125 record -m 1M -Z true
wrong 'no option -Z here' 125 record -qZq true
wrong 'option -o needs a value' 125 record -qo
wrong 'option --output needs a value' 125 record --output
wrong 'option --event needs a value' 125 record --event
wrong 'option --quiet takes no value' 125 record --quiet=1 true
wrong '\--ma is short for several' 125 record --ma 3 true
wrong 'no option -Z here' 2 report x.atr -jZ
wrong 'option --limit needs a value' 2 report x.atr --limit
wrong 'no option -Z here' 2 merge x.atr -Z y.atr
wrong 'doctor takes no argument' 2 doctor x
# with a value, or with several options together.
for arguments in 'report --limit 0' 'report --sort nope' 'report --callers a --callees b' 'report a b' \
	'report --max-depth 3' 'convert' 'convert --folded --pprof' 'convert --chrome --time 0,1' \
	'diff a b c' 'diff --sort thread' 'info a b' 'list a b' 'merge' 'merge -m 1 a'; do
	wrong . 2 $arguments
done
# Every option of record that its help shows is understood.
for option in $("$ADAPTRACE" record --help | grep -o -- '--[a-z-]*' | sort -u); do
	"$ADAPTRACE" record $option --no-such-option 2>&1 </dev/null |
		grep -q -e "no option $option here" &&
		fail "$option is in the help alone"
done
# Help and manual page have the same options, by letters and by names.
helped() { sed -n 's/^ \{2,6\}\(\(-.\), \)\{0,1\}--\([a-z0-9-]*\).*/\2 \3/p' | grep -v usage; }
manual() { # .It Fl o , Fl -output Ns = Ns Ar FILE; -h is help, too
	sed -n 's/ \(Fl \)\{0,1\}h ,//
		s/^\.It Fl \\\{0,1\}&\{0,1\}\([^ -]\) , \(Fl \)\{0,1\}-\([a-z0-9-]*\).*/-\1 \3/p
		s/^\.It Fl -\([a-z0-9-]*\).*/ \1/p'
}
for command in $commands; do
	"$ADAPTRACE" help $command | helped | sort >helped
	manual <"$here/../../man/adaptrace-$command.1" | sort >manual
	diff helped manual >differences || fail "options of $command, < help, > manual: $(cat differences)"
done
# A trace is no stream, and a file named - is what nobody meant.
for command in snapshot recover merge; do
	for name in - ''; do
		expect 2 err $command -o "$name" none.atr
		grep -q "cannot write to '$name': a" err || fail "$command -o '$name' says: $(cat err)"
	done
done
expect 125 err record -o - true
[ ! -e ./- ] || fail 'there is a file named -'
pass
