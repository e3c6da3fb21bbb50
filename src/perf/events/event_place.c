#include "perf/events/event_place.h"

#include "perf/machine/advice.h"
#include "base/text_file.h"

#include <errno.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>

/* Bit of the kernel's format "retprobe". */
#define RETPROBE 1

static const struct probe_type {
	const char *prefix;
	const char *pmu; /* NULL: breakpoints */
	bool on_return, in_file;
} types[] = {
	{"mem:", NULL, false, false},          {"uprobe:", "uprobe", false, true},
	{"uretprobe:", "uprobe", true, true},  {"kprobe:", "kprobe", false, false},
	{"kretprobe:", "kprobe", true, false},
};

static const struct probe_type *type_of(const char *text)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strncmp(text, types[i].prefix, strlen(types[i].prefix)))
			return &types[i];
	return NULL;
}

bool place_is_in_file(const char *text)
{
	const struct probe_type *type = type_of(text);

	return type && type->in_file;
}

static int refuse(const char *text, const char *what, char why[WHY_SIZE])
{
	snprintf(why, WHY_SIZE, "event '%s': %s", text, what);
	return -EINVAL;
}

/* -- where modifiers begin --------------------------------------------------------------------- */

/* r, w and x are a breakpoint's own. */
static bool is_access(const char *text)
{
	size_t size = strspn(text, "rwx");

	return size && (!text[size] || text[size] == ':');
}

static const char *end_of_breakpoint(const char *at)
{
	at += strcspn(at, ":");
	if (*at && is_access(at + 1))
		at += 1 + strcspn(at + 1, ":");
	return at;
}

/* FILE:PLACE, both without colons; those of C++ are doubled. */
static const char *end_of_function(const char *at)
{
	while (*at && (*at != ':' || at[1] == ':'))
		at += *at == ':' ? 2 : 1;
	return at;
}

bool place_looks_so(const char *text, const char **modifiers)
{
	const struct probe_type *type = type_of(text);
	const char *at;

	if (!type)
		return false;
	at = text + strlen(type->prefix);
	if (!type->pmu) {
		*modifiers = end_of_breakpoint(at);
		return true;
	}
	if (type->in_file) {
		at += strcspn(at, ":");
		at += *at == ':';
	}
	*modifiers = end_of_function(at);
	return true;
}

/* -- breakpoints ------------------------------------------------------------------------------- */

static uint32_t access_of(const char *letters)
{
	uint32_t type = 0;

	for (; *letters; letters++)
		type |= *letters == 'r'   ? HW_BREAKPOINT_R
		        : *letters == 'w' ? HW_BREAKPOINT_W
		                          : HW_BREAKPOINT_X;
	return type;
}

/* ADDR[/LEN][:rwx] */
static int encode_breakpoint(const char *text, char *at, struct event *event, char why[WHY_SIZE])
{
	char *letters = strchr(at, ':'), *size = strchr(at, '/');
	uint64_t address, length;

	if (letters)
		*letters++ = '\0';
	if (size)
		*size++ = '\0';
	if (!text_number(at, &address))
		return refuse(text, "an address is needed, such as mem:0x601040/8:w", why);
	event->attr.bp_type = access_of(letters ? letters : "rw");
	length = event->attr.bp_type == HW_BREAKPOINT_X ? sizeof(long) : 4;
	if (size &&
	    (!text_number(size, &length) || length > 8 || (length & (length - 1)) || !length))
		return refuse(text, "the lengths are 1, 2, 4 and 8 bytes", why);
	if (event->attr.bp_type & HW_BREAKPOINT_X && event->attr.bp_type != HW_BREAKPOINT_X)
		return refuse(text, "x goes with neither r nor w", why);
	if (address % length)
		return refuse(text, "the address must be a multiple of the length", why);
	event->attr.type = PERF_TYPE_BREAKPOINT;
	event->attr.bp_addr = address;
	event->attr.bp_len = length;
	return 0;
}

/* -- probes ------------------------------------------------------------------------------------ */

/* "main+0x10", "0x1139": splits the offset off. */
static int split_offset(const char *text, char *place, uint64_t *offset, char why[WHY_SIZE])
{
	char *plus = strrchr(place, '+');

	*offset = 0;
	if (text_number(place, offset)) {
		*place = '\0';
		return 0;
	}
	if (plus && text_number(plus + 1, offset))
		*plus = '\0';
	return *place ? 0 : refuse(text, "a function or an offset is needed", why);
}

static int find_pmu(const char *root, const struct probe_type *type, struct event *event,
                    char why[WHY_SIZE])
{
	const struct advice missing = {type->in_file ? ADVICE_NO_UPROBES : ADVICE_NO_KPROBES};
	char path[PATH_MAX];
	int64_t number;
	int used;

	snprintf(path, sizeof(path), "%s/%s/type", root, type->pmu);
	if (!text_file_number(path, &number) && number >= 0 && number <= UINT32_MAX) {
		event->attr.type = (uint32_t)number;
		return 0;
	}
	used = snprintf(why, WHY_SIZE, "cannot set up probes: ");
	advice_line(&missing, why + used, WHY_SIZE - (size_t)used);
	return -ENOENT;
}

static int encode_probe(const char *root, const char *text, const struct probe_type *type, char *at,
                        struct event *event, char why[WHY_SIZE])
{
	char *place = type->in_file ? strchr(at, ':') : at;
	uint64_t offset;
	int err;

	if (type->in_file && (!place || at[0] != '/'))
		return refuse(text,
		              "a file by its whole path and a function are needed, such as "
		              "uprobe:/bin/app:main",
		              why);
	if (type->in_file)
		*place++ = '\0';
	err = split_offset(text, place, &offset, why);
	if (err)
		return err;
	if (!type->in_file && !*place)
		return refuse(text, "the name of a function of the kernel is needed", why);
	event->attr.config = type->on_return ? RETPROBE : 0;
	event->attr.probe_offset = offset;
	snprintf(event->probe, sizeof(event->probe), "%s", at);
	if (type->in_file)
		snprintf(event->function, sizeof(event->function), "%s", place);
	return find_pmu(root, type, event, why);
}

int place_encode(const char *root, const char *text, struct event *event, char why[WHY_SIZE])
{
	const struct probe_type *type = type_of(text);
	char copy[EVENT_NAME_MAX];

	snprintf(copy, sizeof(copy), "%s", text + strlen(type->prefix));
	return type->pmu ? encode_probe(root, text, type, copy, event, why)
	                 : encode_breakpoint(text, copy, event, why);
}
