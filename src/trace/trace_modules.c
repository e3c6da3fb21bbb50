#include "trace/trace_file.h"

#include "base/array.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Returns the length of a path, or 0 if it is too long to be one. */
static size_t path_size(const char *path)
{
	size_t size = strnlen(path, PATH_MAX);

	return size < PATH_MAX ? size : 0;
}

/*
 * Returns the offset of the file name with so many folders before it, or 0 if that is the whole
 * path.
 */
static size_t tail_at(const char *path, size_t size, unsigned folders)
{
	for (size_t at = size; at; at--)
		if (path[at - 1] == '/' && at < size && !folders--)
			return at;
	return 0;
}

const char *trace_module_name(const struct trace *trace, uint32_t number)
{
	const struct trace_module *module = trace_module(trace, number);
	const char *path = trace_string(trace, module ? module->path : 0);
	size_t size = strlen(path);

	if (size && path[size - 1] == '/')
		return path;
	return path + tail_at(path, size, number < trace->nr_folders ? trace->folders[number] : 0);
}

/* --- telling apart ---------------------------------------------------------------------------- */

struct candidate {
	const char *path, *name; /* name: its last part */
	size_t size;
	unsigned trace;
	uint16_t *folders;
};

/* Compares paths from their ends, so that those with the longest common end are neighbours. */
static int compare_ends(const struct candidate *x, const struct candidate *y)
{
	for (size_t i = 1; i <= x->size && i <= y->size; i++) {
		unsigned char a = (unsigned char)x->path[x->size - i];
		unsigned char b = (unsigned char)y->path[y->size - i];

		if (a != b)
			return a < b ? -1 : 1;
	}
	return ORDER(x->size, y->size);
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return strcmp(x->name, y->name) ?: ORDER(x->trace, y->trace) ?: compare_ends(x, y);
}

/* Returns how many folders before the file names distinguish two paths. */
static uint16_t folders_between(const struct candidate *x, const struct candidate *y)
{
	const struct candidate *shorter = x->size < y->size ? x : y;
	uint16_t nr = 0;

	for (size_t i = 1; i <= x->size && i <= y->size; i++) {
		if (x->path[x->size - i] != y->path[y->size - i])
			return nr;
		if (x->path[x->size - i] == '/')
			nr++;
	}
	return (uint16_t)(nr + (*shorter->path != '/'));
}

/*
 * Gives all files of one name as many folders as are needed to distinguish the two most similar
 * paths of one trace.
 */
static void set_folders(struct candidate *first, const struct candidate *end)
{
	uint16_t most = 0;

	for (const struct candidate *c = first + 1; c < end; c++) {
		uint16_t nr = 0;

		if (c->trace == c[-1].trace && compare_ends(c - 1, c))
			nr = folders_between(c - 1, c);
		most = nr > most ? nr : most;
	}
	for (; first < end; first++)
		*first->folders = most;
}

static size_t add_candidates(struct candidate *candidates, const struct trace *trace,
                             unsigned number)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < trace->nr_folders; i++) {
		const char *path = trace_string(trace, trace_module(trace, i)->path);
		size_t size = path_size(path);

		trace->folders[i] = 0;
		if (size && path[size - 1] != '/')
			candidates[nr++] = (struct candidate){path, path + tail_at(path, size, 0),
			                                      size, number, &trace->folders[i]};
	}
	return nr;
}

static int make_room(struct trace *trace)
{
	if (trace->folders)
		return 0;
	trace->folders = calloc(trace_nr(trace, TRACE_MODULES) + 1UL, sizeof(*trace->folders));
	if (!trace->folders)
		return -ENOMEM;
	trace->nr_folders = trace_nr(trace, TRACE_MODULES);
	return 0;
}

int trace_tell_modules_apart(struct trace *const *traces, unsigned nr_traces)
{
	struct candidate *candidates;
	size_t nr = 0, room = 1;

	for (unsigned i = 0; i < nr_traces; i++) {
		if (make_room(traces[i]))
			return -ENOMEM;
		room += traces[i]->nr_folders;
	}
	candidates = calloc(room, sizeof(*candidates));
	if (!candidates)
		return -ENOMEM;
	for (unsigned i = 0; i < nr_traces; i++)
		nr += add_candidates(candidates + nr, traces[i], i);
	ARRAY_SORT(candidates, nr, compare_candidates);
	for (size_t i = 0, end; i < nr; i = end) {
		end = i + 1;
		while (end < nr && !strcmp(candidates[end].name, candidates[i].name))
			end++;
		set_folders(&candidates[i], &candidates[end]);
	}
	free(candidates);
	return 0;
}
