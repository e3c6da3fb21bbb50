/*
 * Folded stacks: one line for each call path, from the command down to the function.
 *
 *     app;main;solve;dot 97081000
 */
#include "output/convert.h"
#include "output/profile.h"
#include "output/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct folding {
	const struct profile *profile;
	FILE *file;
	uint32_t *chain; /* nodes from a leaf up to its root */
	uint32_t room;
};

static int note(struct folding *folding, uint32_t depth, uint32_t node)
{
	uint32_t room = folding->room ? 2 * folding->room : 256;
	uint32_t *grown;

	if (depth == folding->room) {
		grown = reallocarray(folding->chain, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		folding->chain = grown;
		folding->room = room;
	}
	folding->chain[depth] = node;
	return 0;
}

static void print_part(const struct folding *folding, const char *text)
{
	escape_line(folding->file, text, ";", ':');
}

static void print_frame(const struct folding *folding, uint32_t node)
{
	const struct profile *profile = folding->profile;
	uint32_t name = profile->rows[profile->nodes[node].row].name;
	char text[FRAME_TEXT_SIZE];

	putc(';', folding->file);
	print_part(folding, frame_name_symbol(&profile->names, name, text));
}

static void print_comm(const struct folding *folding, uint32_t comm)
{
	const char *text = trace_string(folding->profile->trace, comm);

	print_part(folding, *text ? text : "[unknown]");
}

static int print_path(struct folding *folding, uint32_t leaf)
{
	const struct profile *profile = folding->profile;
	uint32_t depth = 0, node = leaf;
	int err;

	for (; profile->nodes[node].parent != PROFILE_NONE; node = profile->nodes[node].parent) {
		err = note(folding, depth, node);
		if (err)
			return err;
		depth++;
	}
	print_comm(folding, profile->classes[profile->nodes[node].row].comm);
	while (depth)
		print_frame(folding, folding->chain[--depth]);
	fprintf(folding->file, " %" PRIu64 "\n", profile->nodes[leaf].self);
	return 0;
}

static int print_profile(struct folding *folding)
{
	const struct profile *profile = folding->profile;
	int err = 0;

	for (uint32_t i = 0; i < profile->nr_nodes && !err; i++)
		if (profile->nodes[i].self)
			err = print_path(folding, i);
	for (uint32_t i = 0; i < profile->nr_unsampled && !err; i++) {
		const struct profile_unsampled *unsampled = &profile->unsampled[i];

		print_comm(folding, unsampled->comm);
		fprintf(folding->file, ";%s %" PRIu64 "\n", profile_unsampled_name(unsampled),
		        profile->rows[unsampled->row].self);
	}
	return err;
}

int folded_write(struct conversion *conversion, FILE *file)
{
	struct profile *profile = convert_profile(conversion);
	struct folding folding = {.profile = profile, .file = file};
	int err;

	if (!profile)
		return -errno;
	err = print_profile(&folding);
	free(folding.chain);
	profile_free(profile);
	return err;
}
