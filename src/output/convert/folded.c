/*
 * Folded stacks: one line for each call path, from the command down to the function.
 *
 *     app;main;solve;dot 97081000
 */
#include "output/convert/convert.h"
#include "output/text/escape.h"
#include "output/profile/profile_trees.h"
#include "base/array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct folding {
	const struct profile *profile;
	struct profile_trees trees;
	FILE *file;
	uint32_t *chain; /* nodes from a leaf up to its root */
	size_t longest;
};

static void print_part(const struct folding *folding, const char *text)
{
	escape_line(folding->file, text, ";", ':');
}

static void print_frame(const struct folding *folding, uint32_t node)
{
	const struct profile *profile = folding->profile;
	uint32_t name = folding->trees.nodes[node].name;
	char text[FRAME_TEXT_SIZE];

	putc(';', folding->file);
	print_part(folding, frame_name_symbol(&profile->names, name, text));
}

static void print_comm(const struct folding *folding, uint32_t comm)
{
	print_part(folding, trace_command_name(folding->profile->trace, comm));
}

static int print_path(struct folding *folding, uint32_t comm, uint32_t leaf)
{
	const struct path_node *nodes = folding->trees.nodes;
	uint32_t depth = 0, *grown;

	for (uint32_t node = leaf; node; node = nodes[node].parent) {
		grown = array_reach(folding->chain, depth, &folding->longest, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		folding->chain = grown;
		folding->chain[depth++] = node;
	}
	print_comm(folding, comm);
	while (depth)
		print_frame(folding, folding->chain[--depth]);
	fprintf(folding->file, " %" PRIu64 "\n", folding->trees.self[leaf]);
	return 0;
}

static int print_subset(struct folding *folding, uint32_t subset)
{
	uint32_t comm = folding->profile->subsets[subset].comm;
	int err = profile_trees_make(&folding->trees, subset);

	for (uint32_t i = 0; i < folding->trees.nr && !err; i++)
		if (folding->trees.self[i])
			err = print_path(folding, comm, i);
	return err;
}

static int print_profile(struct folding *folding)
{
	const struct profile *profile = folding->profile;
	int err = profile_trees_init(&folding->trees, profile);

	for (uint32_t i = 0; i < profile->nr_subsets && !err; i++)
		if (profile->subsets[i].weight)
			err = print_subset(folding, i);
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
	profile_trees_fini(&folding.trees);
	free(folding.chain);
	profile_free(profile);
	return err;
}
