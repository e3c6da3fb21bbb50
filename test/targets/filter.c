/*
 * filter CALL ERRNO COMMAND...: runs a command that gets this error from a system call, as a
 * container's filter would answer it.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct call {
	const char *name;
	unsigned number;
} calls[] = {
	{"perf_event_open", SYS_perf_event_open},
	{"pidfd_open", SYS_pidfd_open},
	{"linkat", SYS_linkat},
	{"clone3", SYS_clone3},
	{"prctl", SYS_prctl},
	{"timerfd_create", SYS_timerfd_create},
};

static unsigned number_of(const char *name)
{
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(name, calls[i].name))
			return calls[i].number;
	fprintf(stderr, "filter: which call is %s?\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 1 ? number_of(argv[1]) : 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
	                 SECCOMP_RET_ERRNO | (unsigned)atoi(argc > 2 ? argv[2] : "1")),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (argc < 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("filter");
		return 77;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
