#!/bin/sh
# The target finds itself in the world that adaptrace was started in: descriptors, signals, limits,
# priorities, environment, directory, arguments.
. "$(dirname "$0")/scenario"
need_sampling
mkdir elsewhere && cd elsewhere || exit 1

# Prepares a process that is unusual in many ways and becomes the command.
cat >../unusual.py <<'END'
import os, resource, signal, sys
way, *command = sys.argv[1:]
if way == "unusual":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGUSR2, signal.SIGRTMIN])
    os.dup2(os.open("/dev/null", os.O_RDWR), 7, inheritable=True)
    os.dup2(os.open("/dev/zero", os.O_RDONLY | os.O_NONBLOCK), 9, inheritable=True)
    os.umask(0o31)
    os.nice(3)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300))
    resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, 8 << 20))
    os.environ.update(ODD="two\nlines", EMPTY="")
if way == "closed":
    os.closerange(0, 1), os.closerange(2, 100)
os.execvp(command[0], command)
END

for way in usual unusual closed; do
	run() { python3 ../unusual.py $way "$@" </dev/null 2>../errors; }
	run "$TARGETS/world" 'one two' '' -m '*' >../expected || fail "the program itself"
	run "$ADAPTRACE" record -q -o ../x.atr "$TARGETS/world" 'one two' '' -m '*' >../found ||
		fail "record ($way): $(cat ../errors)"
	# One is written to ../expected and one to ../found.
	sed -i 's|/expected |/found |' ../expected
	diff ../expected ../found || fail "another world ($way)"
	[ -s ../x.atr ] || fail "no trace ($way)"
done

# Standard input, output and error are the same files, not copies through us.
echo hello | record -o ../x.atr sh -c 'cat; echo there >&2' >../out 2>../err || fail "record cat"
[ "$(cat ../out)" = hello ] && [ "$(complaints ../err)" = there ] || fail "$(cat ../out ../err)"
pass
