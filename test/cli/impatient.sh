#!/bin/sh
# Whoever does not want to wait for names, of files that are large or far away, skips the rest.
. "$(dirname "$0")/scenario"
need_sampling
unset LD_PRELOAD
cat >slow.c <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The parent of this process, which reads names, or this process where it is the recorder. */
static pid_t recorder(void)
{
	char path[64], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", getppid());
	file = fopen(path, "r");
	if (file && fgets(name, sizeof(name), file) && !strcmp(name, "adaptrace\n"))
		return getppid();
	return getpid();
}

/* The first file takes long, and meanwhile someone sends a signal. */
void *elf_begin(int fd, int command, void *ref)
{
	static int nr;
	void *(*next)(int, int, void *) = (void *(*)(int, int, void *))dlsym(RTLD_NEXT, "elf_begin");

	if (!nr++) {
		kill(recorder(), SIGTERM);
		usleep(1100000);
	}
	return next(fd, command, ref);
}
EOF
cc -shared -fPIC -o slow.so slow.c -ldl
LD_PRELOAD=$PWD/slow.so "$ADAPTRACE" record -e cpu-clock:u \
	sh -c "unset LD_PRELOAD; $TARGETS/burn 0.3; $TARGETS/burn 0.3" 2>errors
status=$?
cat errors
[ "$status" = 0 ] || fail "exit status $status"
grep -q 'names in [0-9]* files\? were skipped; adaptrace report --symbols' errors ||
	fail "nothing tells of the names that are missing"
"$ADAPTRACE" report | grep -q burn_step && fail "the rest was not skipped"
"$ADAPTRACE" report --symbols | grep -q burn_step || fail "names that were skipped are lost"
pass
