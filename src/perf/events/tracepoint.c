#include "perf/events/tracepoint.h"

#include "base/suggest.h"
#include "base/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_word(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!islower((unsigned char)text[i]) && !isupper((unsigned char)text[i]) &&
		    !isdigit((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
	return size > 0;
}

/* Like perf, accepts patterns with '*'. A '/' belongs to the syntax of PMU events instead. */
static bool is_pattern(const char *text)
{
	return strchr(text, '*') && !strchr(text, '/');
}

/* Subsystems are lower case, which the names of hardware events with unit masks never are. */
bool tracepoint_looks_so(const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || !is_word(text, (size_t)(colon - text)) ||
	    (!is_word(colon + 1, strlen(colon + 1)) && !is_pattern(text)))
		return false;
	for (; text < colon; text++)
		if (isupper((unsigned char)*text))
			return false;
	return true;
}

static int find_mounted(struct tracefs *tracefs)
{
	static const char *const roots[] = {
		"/sys/kernel/tracing/events",
		"/sys/kernel/debug/tracing/events",
	};
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		if (!access(roots[i], R_OK | X_OK)) {
			tracefs->root = roots[i];
			return 0;
		}
		if (errno == EACCES)
			err = -EACCES;
	}
	return err;
}

/* A mount that is attached nowhere, which takes Linux 5.2 and CAP_SYS_ADMIN; -1: there is none. */
static int mount_detached(void)
{
	int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), fd = -1;

	if (context < 0)
		return -1;
	if (!syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	close(context);
	return fd;
}

int tracefs_open(struct tracefs *tracefs)
{
	int err;

	*tracefs = (struct tracefs){.fd = -1};
	err = find_mounted(tracefs);
	if (err != -ENOENT)
		return err;
	tracefs->fd = mount_detached();
	if (tracefs->fd < 0)
		return err;
	snprintf(tracefs->path, sizeof(tracefs->path), "/proc/self/fd/%d/events", tracefs->fd);
	if (access(tracefs->path, R_OK | X_OK)) {
		tracefs_close(tracefs);
		return err;
	}
	tracefs->root = tracefs->path;
	return 0;
}

void tracefs_close(struct tracefs *tracefs)
{
	if (tracefs->fd >= 0)
		close(tracefs->fd);
	*tracefs = (struct tracefs){.fd = -1};
}

struct advice tracepoint_advise(int err)
{
	if (!err)
		return (struct advice){ADVICE_NONE};
	if (err == -EACCES)
		return (struct advice){ADVICE_TRACEFS, {getegid()}, NULL};
	return (struct advice){ADVICE_NO_TRACEFS};
}

static int explain_root(const char *name, int err, char why[WHY_SIZE])
{
	struct advice advice = tracepoint_advise(err);
	size_t used;

	snprintf(why, WHY_SIZE,
	         err == -EACCES ? "cannot look up tracepoint '%s': "
	                        : "unknown event '%s'; if it is a tracepoint: ",
	         name);
	used = strlen(why);
	advice_line(&advice, why + used, WHY_SIZE - used);
	return err;
}

static int explain_name(const char *root, const char *name, char why[WHY_SIZE])
{
	struct suggest suggest;
	char ending[WHY_SIZE / 2];

	if (is_pattern(name)) {
		snprintf(why, WHY_SIZE,
		         "event '%s': patterns are not taken; adaptrace list %.*s shows the names",
		         name, (int)strcspn(name, ":"), name);
		return -ENOENT;
	}
	suggest_init(&suggest, name);
	tracepoint_walk(root, suggest_offer, &suggest);
	suggest_print(&suggest, "; adaptrace list shows what there is", ending, sizeof(ending));
	snprintf(why, WHY_SIZE, "unknown event or tracepoint '%s'%s", name, ending);
	return -ENOENT;
}

/* Where the id of a name that looks so stands; false: nowhere, the path would be too long. */
static bool id_path(char path[PATH_MAX], const char *root, const char *name)
{
	int system = (int)strcspn(name, ":");

	return snprintf(path, PATH_MAX, "%s/%.*s/%s/id", root, system, name, name + system + 1) <
	       PATH_MAX;
}

int tracepoint_encode(const char *root, int err, const char *name, struct event *event,
                      char why[WHY_SIZE])
{
	char path[PATH_MAX];
	int64_t id;

	if (!root)
		return explain_root(name, err, why);
	err = id_path(path, root, name) ? text_file_number(path, &id) : -ENOENT;
	if (err == -EACCES)
		return explain_root(name, err, why);
	if (err || id < 0)
		return explain_name(root, name, why);
	event->attr.type = PERF_TYPE_TRACEPOINT;
	event->attr.config = (uint64_t)id;
	return 0;
}

/* -- walking ----------------------------------------------------------------------------------- */

static int is_visible(const struct dirent *entry)
{
	return is_word(entry->d_name, strlen(entry->d_name));
}

struct system_walk {
	const char *root, *system;
	int (*fn)(void *arg, const char *name);
	void *arg;
};

static int walk_tracepoint(void *arg, const char *point)
{
	const struct system_walk *walk = arg;
	char name[EVENT_NAME_MAX], path[PATH_MAX];

	if ((size_t)snprintf(name, sizeof(name), "%s:%s", walk->system, point) >= sizeof(name))
		return 0;
	if (!id_path(path, walk->root, name) || access(path, F_OK))
		return 0;
	return walk->fn(walk->arg, name);
}

static int walk_system(void *arg, const char *system)
{
	struct system_walk inner = *(const struct system_walk *)arg;
	char path[PATH_MAX];

	/* what the tracer writes itself: these have an id, but cannot be opened */
	if (!strcmp(system, "ftrace"))
		return 0;
	if (snprintf(path, sizeof(path), "%s/%s", inner.root, system) >= (int)sizeof(path))
		return 0;
	inner.system = system;
	return text_folder_walk(path, is_visible, walk_tracepoint, &inner);
}

int tracepoint_walk(const char *root, int (*fn)(void *arg, const char *name), void *arg)
{
	struct system_walk walk = {.root = root, .fn = fn, .arg = arg};

	return text_folder_walk(root, is_visible, walk_system, &walk);
}
