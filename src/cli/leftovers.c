#include "cli/leftovers.h"

#include "cli/say.h"
#include "trace/live/image_list.h"
#include "output/text/json_writer.h"
#include "output/text/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_NAMED 5 /* in one line */

struct choice {
	enum shm_image_holder holder;
	const char *beside; /* in the folder of this trace, absolute, but not itself; NULL: all */
};

static bool is_beside(const char *path, const char *of)
{
	const char *path_name = strrchr(path, '/'), *of_name = strrchr(of, '/');

	return path_name && of_name && path_name - path == of_name - of &&
	       !memcmp(path, of, (size_t)(of_name - of)) && strcmp(path, of) != 0;
}

/* A trace may have two leftovers, of which the first stands for both. */
static bool is_chosen(const struct image_list *list, size_t number, const struct choice *choice)
{
	const struct image_entry *entry = &list->entries[number];

	if (entry->holder != choice->holder || !entry->trace_path)
		return false;
	if (choice->beside && !is_beside(entry->trace_path, choice->beside))
		return false;
	return !number || entry[-1].holder != entry->holder ||
	       strcmp(entry[-1].trace_path, entry->trace_path) != 0;
}

/* How many there are; *first: one of them. */
static size_t count_chosen(const struct image_list *list, const struct choice *choice,
                           const char **first)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (is_chosen(list, i, choice) && !nr++)
			*first = list->entries[i].trace_path;
	return nr;
}

static void put_age(FILE *to, const struct image_entry *entry)
{
	int64_t age = (int64_t)time(NULL) - entry->end;

	if (age < 120)
		fprintf(to, "%lld s ago", (long long)(age > 0 ? age : 0));
	else if (age < 120 * 60)
		fprintf(to, "%lld min ago", (long long)(age / 60));
	else if (age < 48 * 3600)
		fprintf(to, "%lld h ago", (long long)(age / 3600));
	else
		fprintf(to, "%lld days ago", (long long)(age / 86400));
}

static void put_chosen(FILE *to, const struct image_list *list, const struct choice *choice,
                       size_t nr)
{
	size_t told = 0;

	for (size_t i = 0; i < list->nr && told < MAX_NAMED; i++) {
		if (!is_chosen(list, i, choice))
			continue;
		fprintf(to, "%s'%s'", told++ ? ", " : "", list->entries[i].trace_path);
		if (choice->holder == SHM_IMAGE_NOBODY) {
			fputs(" (", to);
			put_age(to, &list->entries[i]);
			fputc(')', to);
		}
	}
	if (nr > told)
		fprintf(to, " and %zu more", nr - told);
}

/* "BEGIN'a' (5 s ago), 'b' (…) and 3 more; WAY_OUT'a'" */
static void say_chosen(const char *begin, const struct image_list *list,
                       const struct choice *choice, const char *way_out)
{
	const char *first = NULL;
	size_t nr = count_chosen(list, choice, &first), size;
	char *text = NULL;
	FILE *memory = nr ? open_memstream(&text, &size) : NULL;

	if (!memory)
		return;
	put_chosen(memory, list, choice, nr);
	fprintf(memory, "; %s", way_out);
	text_put_command(memory, first, strlen(first), false);
	if (!fclose(memory) && text) /* it succeeds even if no memory is left for the text */
		say("%s%s", begin, text);
	free(text);
}

static void say_several(const struct image_list *list, const struct choice *choice)
{
	if (choice->holder == SHM_IMAGE_NOBODY)
		say_chosen("cannot tell which recording to recover: killed recorders left ", list,
		           choice, "name one, as in: adaptrace recover ");
	else
		say_chosen("cannot tell which recording to copy: recorders are at work on ", list,
		           choice, "name one, as in: adaptrace snapshot ");
}

char *leftovers_choose(enum shm_image_holder holder, int *err)
{
	const struct choice choice = {.holder = holder};
	const char *first = NULL;
	struct image_list list;
	char *path = NULL;
	size_t nr;

	*err = image_list_make(&list);
	if (*err)
		return NULL;
	nr = count_chosen(&list, &choice, &first);
	if (nr == 1)
		path = strdup(first);
	else if (nr)
		say_several(&list, &choice);
	*err = path ? 0 : nr == 1 ? -ENOMEM : nr ? -EEXIST : -ENOENT;
	image_list_free(&list);
	return path;
}

void leftovers_say_beside(const char *trace_path)
{
	char *absolute = shm_image_absolute(trace_path);
	const struct choice choice = {.holder = SHM_IMAGE_NOBODY, .beside = absolute};
	struct image_list list;

	if (absolute && !image_list_make(&list)) {
		say_chosen("killed recorders left recordings of this folder that were never "
		           "written: ",
		           &list, &choice, "saved by: adaptrace recover ");
		image_list_free(&list);
	}
	free(absolute);
}

void leftovers_say_own(const char *trace_path)
{
	if (shm_image_held(trace_path, SHM_IMAGE_NOBODY))
		say("a killed recorder of '%s' left a recording that was never written; saved by: "
		    "adaptrace recover '%s'",
		    trace_path, trace_path);
}

void leftovers_say_missing(const char *trace_path)
{
	if (shm_image_held(trace_path, SHM_IMAGE_NOBODY))
		leftovers_say_own(trace_path);
	else if (shm_image_held(trace_path, SHM_IMAGE_RECORDER))
		say("the recorder of '%s' is still at work; adaptrace snapshot '%s' makes a trace "
		    "of what it has so far",
		    trace_path, trace_path);
	else
		leftovers_say_beside(trace_path);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void put_way_out(FILE *to, const struct image_entry *entry)
{
	const char *argument = entry->trace_path ? entry->trace_path : entry->file;

	fputs(entry->trace_path ? "adaptrace recover " : "rm ", to);
	text_put_command(to, argument, strlen(argument), false);
}

static void put_leftover(FILE *to, const struct image_entry *entry)
{
	char size[TEXT_SIZE];

	text_bytes(size, entry->size);
	fputs("  ", to);
	text_put(to, entry->trace_path ? entry->trace_path : entry->file, 0);
	fprintf(to, ": %s, ", size);
	put_age(to, entry);
	fputs(entry->trace_path ? "; saved by: "
	                        : "; damaged, or of another version of adaptrace; removed by: ",
	      to);
	put_way_out(to, entry);
	fputc('\n', to);
}

void leftovers_put(FILE *to)
{
	struct image_list list;
	size_t told = 0;

	if (image_list_make(&list))
		return;
	for (size_t i = 0; i < list.nr; i++) {
		if (list.entries[i].holder != SHM_IMAGE_NOBODY)
			continue;
		if (!told++)
			fputs("\nkilled recorders left in memory (" SHM_IMAGE_FOLDER "):\n", to);
		put_leftover(to, &list.entries[i]);
	}
	image_list_free(&list);
}

static void put_leftover_json(struct json_writer *json, const struct image_entry *entry)
{
	char *way_out = NULL;
	size_t size;
	FILE *memory = open_memstream(&way_out, &size);

	if (memory) {
		put_way_out(memory, entry);
		fclose(memory);
	}
	json_begin(json, NULL);
	json_text(json, "trace", entry->trace_path);
	json_text(json, "file", entry->file);
	json_int(json, "bytes", (int64_t)entry->size);
	json_int(json, "end", entry->end);
	json_text(json, "way_out", way_out);
	json_end(json);
	free(way_out);
}

void leftovers_json(struct json_writer *json)
{
	struct image_list list;
	int err = image_list_make(&list);

	json_begin_list(json, "leftovers");
	for (size_t i = 0; i < list.nr && !err; i++)
		if (list.entries[i].holder == SHM_IMAGE_NOBODY)
			put_leftover_json(json, &list.entries[i]);
	json_end_list(json);
	if (!err)
		image_list_free(&list);
}
