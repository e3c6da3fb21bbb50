#include "record/steer/freeze.h"

#include "base/array.h"
#include "base/text_file.h"
#include "record/tasks/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATIENCE_MS 100 /* for tasks of a cgroup that are in the kernel */
#define NO_GUARDIAN "no process can be started that would let it go on"

#define MAX_ROUNDS 100 /* for processes that fork faster than they are found */

/* --- letting it go on ------------------------------------------------------------------------- */

/* Reads the state, the parent and the start time of a process. Returns whether there is one. */
static bool read_process(pid_t pid, char *state, pid_t *parent, uint64_t *start)
{
	char text[PROCESS_STAT_SIZE];
	const char *fields = process_stat(pid, text);

	return fields && sscanf(fields,
	                        " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d "
	                        "%*d %*d %*d %" SCNu64,
	                        state, parent, start) == 3;
}

static void go_on(const struct frozen_process *process)
{
	uint64_t start;
	pid_t parent;
	char state;

	if (read_process(process->pid, &state, &parent, &start) && start == process->start)
		kill(process->pid, SIGCONT);
}

static void thaw(const struct freeze *freeze)
{
	if (freeze->cgroup_fd >= 0 && pwrite(freeze->cgroup_fd, "0", 1, 0) != 1)
		return; /* the cgroup is gone */
	for (uint32_t i = 0; freeze->list && i < freeze->list->nr; i++)
		go_on(&freeze->list->processes[i]);
}

/* The guardian: the recorder's end of the socket is closed when it dies. */
static void guard(void *arg, int fd)
{
	char byte;

	setsid(); /* a signal to the recorder's group is none for the guardian */
	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		continue;
	thaw(arg);
}

static bool start_guardian(struct freeze *freeze)
{
	return !side_process_start(&freeze->guardian, guard, freeze, &freeze->cgroup_fd,
	                           freeze->cgroup_fd >= 0);
}

static void release(struct freeze *freeze)
{
	if (freeze->cgroup_fd >= 0)
		close(freeze->cgroup_fd);
	if (freeze->list)
		munmap(freeze->list, sizeof(*freeze->list));
	freeze->cgroup_fd = -1;
	freeze->list = NULL;
}

void freeze_end(struct freeze *freeze)
{
	thaw(freeze);
	side_process_kill(&freeze->guardian);
	release(freeze);
}

/* --- a cgroup --------------------------------------------------------------------------------- */

static int open_file(const struct cgroup *cgroup, const char *name, int flags)
{
	return cgroup->fd < 0 ? -1 : openat(cgroup->fd, name, flags | O_CLOEXEC);
}

/* Waits until all tasks are frozen; some may be in the kernel for longer. */
static void await_frozen(const struct cgroup *cgroup)
{
	struct pollfd events = {.fd = open_file(cgroup, "cgroup.events", O_RDONLY),
	                        .events = POLLPRI};
	char text[128];
	ssize_t size;

	for (unsigned i = 0; events.fd >= 0 && i < 4; i++) {
		size = pread(events.fd, text, sizeof(text) - 1, 0);
		text[size > 0 ? size : 0] = '\0';
		if (size <= 0 || strstr(text, "frozen 1"))
			break;
		poll(&events, 1, PATIENCE_MS / 4);
	}
	if (events.fd >= 0)
		close(events.fd);
}

struct refusal freeze_cgroup(struct freeze *freeze, const struct cgroup *cgroup)
{
	char before = '0';

	*freeze = (struct freeze){.cgroup_fd = open_file(cgroup, "cgroup.freeze", O_RDWR)};
	if (freeze->cgroup_fd < 0)
		return REFUSED(EPERM, "its cgroup cannot be frozen");
	if (pread(freeze->cgroup_fd, &before, 1, 0) == 1 && before == '1') {
		release(freeze);
		return REFUSED(EBUSY, "somebody else has frozen its cgroup");
	}
	if (!start_guardian(freeze)) {
		release(freeze);
		return REFUSED(EAGAIN, NO_GUARDIAN);
	}
	if (pwrite(freeze->cgroup_fd, "1", 1, 0) != 1) {
		freeze_end(freeze);
		return REFUSED(EPERM, "its cgroup cannot be frozen");
	}
	await_frozen(cgroup);
	return NOT_REFUSED;
}

/* --- a tree of processes ---------------------------------------------------------------------- */

/* The processes that belong to the tree, stopped or not. */
struct tree {
	pid_t *pids; /* ascending */
	size_t nr, room;
	pid_t except;
};

static int compare_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return ORDER(*x, *y);
}

static bool has(const struct tree *tree, pid_t pid)
{
	return tree->nr && bsearch(&pid, tree->pids, tree->nr, sizeof(pid), compare_pids);
}

static bool add(struct tree *tree, pid_t pid)
{
	size_t at = tree->nr;

	if (has(tree, pid))
		return true;
	if (ARRAY_RESERVE(tree->pids, tree->room, tree->nr + 1))
		return false;
	while (at && tree->pids[at - 1] > pid)
		at--;
	memmove(&tree->pids[at + 1], &tree->pids[at], (tree->nr - at) * sizeof(pid));
	tree->pids[at] = pid;
	tree->nr++;
	return true;
}

/* Leaves alone what is stopped or traced by somebody else, and what has ended. */
static bool is_stoppable(char state)
{
	return !strchr("TtZXx", state);
}

/* The entry is counted before the signal: a recorder that dies in between leaves nothing stopped.
 */
static bool stop_process(struct freeze *freeze, pid_t pid, uint64_t start)
{
	struct frozen_list *list = freeze->list;

	if (list->nr == FREEZE_MAX_PROCESSES)
		return false;
	list->processes[list->nr] = (struct frozen_process){pid, start};
	__atomic_store_n(&list->nr, list->nr + 1, __ATOMIC_RELEASE);
	if (!kill(pid, SIGSTOP))
		return true;
	list->nr--;
	return errno == ESRCH;
}

/* Adds a process if it is a root or its parent belongs to the tree, and stops it. */
static struct refusal look_at(struct freeze *freeze, struct tree *tree, pid_t pid, bool root,
                              unsigned *found)
{
	uint64_t start;
	pid_t parent;
	char state;

	if (pid == getpid() || pid == tree->except ||
	    (!root && (has(tree, pid) || !read_process(pid, &state, &parent, &start) ||
	               parent == getpid() || !has(tree, parent))))
		return NOT_REFUSED;
	if (root && !read_process(pid, &state, &parent, &start))
		return NOT_REFUSED;
	if (!add(tree, pid))
		return REFUSED(ENOMEM, FREEZE_NO_MEMORY);
	if (!is_stoppable(state))
		return NOT_REFUSED;
	++*found;
	return stop_process(freeze, pid, start)
	               ? NOT_REFUSED
	               : REFUSED(EPERM, "not all of its processes may be stopped");
}

static struct refusal look_at_all(struct freeze *freeze, struct tree *tree, unsigned *found)
{
	DIR *processes = process_all();
	struct refusal refusal = NOT_REFUSED;
	pid_t pid;

	if (!processes)
		return REFUSED(ENOENT, "/proc cannot be read");
	while (!refusal.why && (pid = process_next(processes)))
		refusal = look_at(freeze, tree, pid, false, found);
	closedir(processes);
	return refusal;
}

static struct refusal stop_tree(struct freeze *freeze, struct tree *tree, const pid_t *roots,
                                size_t nr_roots)
{
	struct refusal refusal = NOT_REFUSED;
	unsigned found = 0;

	for (size_t i = 0; !refusal.why && i < nr_roots; i++)
		refusal = look_at(freeze, tree, roots[i], true, &found);
	if (!refusal.why && !tree->nr)
		return REFUSED(ESRCH, "it has ended");
	found = 1;
	for (unsigned i = 0; !refusal.why && found && i < MAX_ROUNDS; i++) {
		found = 0;
		refusal = look_at_all(freeze, tree, &found);
	}
	if (!refusal.why && found)
		return REFUSED(EAGAIN, "it starts processes faster than they can be stopped");
	return refusal;
}

struct refusal freeze_tree(struct freeze *freeze, const pid_t *roots, size_t nr_roots, pid_t except)
{
	struct tree tree = {.except = except};
	struct refusal refusal;

	*freeze = (struct freeze){.cgroup_fd = -1};
	freeze->list = mmap(NULL, sizeof(*freeze->list), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (freeze->list == MAP_FAILED) {
		freeze->list = NULL;
		return REFUSED(ENOMEM, FREEZE_NO_MEMORY);
	}
	if (!start_guardian(freeze)) {
		release(freeze);
		return REFUSED(EAGAIN, NO_GUARDIAN);
	}
	refusal = stop_tree(freeze, &tree, roots, nr_roots);
	free(tree.pids);
	if (refusal.why)
		freeze_end(freeze);
	return refusal;
}
