#include "cli/output_name.h"

#include "cli/say.h"
#include "base/new_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LOCAL_RANKS = 1 << 16 };

/*
 * Reads the rank from the variables that launchers set before MPI_Init(). Slurm sets SLURM_PROCID
 * in batch scripts and shells, too; only steps of srun have SLURM_STEP_ID.
 */
static const char *mpi_rank(void)
{
	static const struct {
		const char *name, *beside;
	} known[] = {
		{"OMPI_COMM_WORLD_RANK"},          {"PMIX_RANK"},   {"PMI_RANK"},
		{"MV2_COMM_WORLD_RANK"},           {"PALS_RANKID"}, {"FLUX_TASK_RANK"},
		{"SLURM_PROCID", "SLURM_STEP_ID"},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *rank = getenv(known[i].name);

		if (rank && *rank && (!known[i].beside || getenv(known[i].beside)))
			return rank;
	}
	return NULL;
}

/* Appends to a name of PATH_MAX bytes; false: no room. */
static bool append(char name[PATH_MAX], const char *text)
{
	size_t used = strlen(name), size = strlen(text);

	if (size >= PATH_MAX - used)
		return false;
	memcpy(name + used, text, size + 1);
	return true;
}

/* Returns the expansion of %letter; NULL: there is none. */
static const char *expansion(char letter, char buffer[HOST_NAME_MAX + 1])
{
	switch (letter) {
	case '%':
		return "%";
	case 'p':
		snprintf(buffer, HOST_NAME_MAX, "%d", (int)getpid());
		return buffer;
	case 'h':
		return gethostname(buffer, HOST_NAME_MAX) ? NULL : buffer;
	case 'r':
		return mpi_rank();
	default:
		return NULL;
	}
}

/* In words for a user why no trace can be written to a file of this name; NULL: it may. */
static const char *what_is_wrong(const char *name)
{
	if (!*name)
		return "a file needs a name";
	return strcmp(name, "-") ? NULL : "a trace is a file, with a name; './-' is one";
}

void output_name_take(const char **output, const char *arg)
{
	const char *why = what_is_wrong(arg);

	if (why)
		say_usage("cannot write to '%s': %s", arg, why);
	*output = arg;
}

bool output_name_takes(const char *output, const char *named, const char *input)
{
	return !(named && !strcmp(named, input)) && new_file_is_same(output, input);
}

/* All ranks may write to one device. False: no room. */
static bool add_rank(char name[PATH_MAX])
{
	static const char suffix[] = ".atr";
	const char *rank = mpi_rank();
	size_t size = strlen(name);
	struct stat there;
	bool has_suffix;

	if (!rank || (!stat(name, &there) && S_ISCHR(there.st_mode)))
		return true;
	has_suffix = size >= strlen(suffix) && !strcmp(name + size - strlen(suffix), suffix);
	if (has_suffix)
		name[size - strlen(suffix)] = '\0';
	return append(name, ".") && append(name, rank) && append(name, has_suffix ? suffix : "");
}

const char *output_name(const char *pattern, char name[PATH_MAX])
{
	char buffer[HOST_NAME_MAX + 1] = "", letter[2] = "";
	const char *text;
	bool told_apart = false;

	*name = '\0';
	if (!pattern)
		pattern = "adaptrace.atr";
	if (what_is_wrong(pattern))
		return what_is_wrong(pattern);
	for (; *pattern; pattern++) {
		letter[0] = *pattern;
		text = *pattern == '%' ? expansion(*++pattern, buffer) : letter;
		if (!text && *pattern == 'r')
			return "%r is the MPI rank, and no MPI launcher started this";
		if (!text)
			return "only %p, %h, %r and %% have a meaning";
		told_apart |= text != letter && *pattern != '%';
		if (!append(name, text))
			return "the name is too long";
	}
	return told_apart || add_rank(name) ? NULL : "the name is too long";
}

int output_rank(void)
{
	const char *text = mpi_rank();
	char *end = NULL;
	long rank = text ? strtol(text, &end, 10) : -1;

	return end && end != text && !*end && rank >= 0 && rank < INT_MAX ? (int)rank : -1;
}

unsigned output_nr_local_ranks(void)
{
	/* Open MPI, MPICH, MVAPICH, PALS, Slurm: "4", or "4(x2)" for several nodes. */
	static const char *const known[] = {
		"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
		"MV2_COMM_WORLD_LOCAL_SIZE",  "PALS_LOCAL_SIZE",
		"SLURM_STEP_TASKS_PER_NODE",
	};
	const char *text = NULL;
	unsigned long nr;

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]) && !text; i++)
		text = getenv(known[i]);
	nr = text && output_rank() >= 0 ? strtoul(text, NULL, 10) : 0;
	return nr <= MAX_LOCAL_RANKS ? (unsigned)nr : 0;
}
