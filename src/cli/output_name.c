#include "cli/output_name.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What launchers tell a rank before it calls MPI_Init. */
static const char *mpi_rank(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
	                                    "SLURM_PROCID"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *rank = getenv(names[i]);

		if (rank && *rank)
			return rank;
	}
	return NULL;
}

static const char *expand(FILE *out, char letter)
{
	char host[HOST_NAME_MAX + 1] = "";
	const char *rank = mpi_rank();

	switch (letter) {
	case '%':
		fputc('%', out);
		return NULL;
	case 'p':
		fprintf(out, "%d", (int)getpid());
		return NULL;
	case 'h':
		gethostname(host, sizeof(host) - 1);
		fputs(host, out);
		return NULL;
	case 'r':
		fputs(rank ? rank : "", out);
		return rank ? NULL : "%r is the MPI rank, and no MPI launcher started this";
	default:
		return "only %p, %h, %r and %% have a meaning";
	}
}

char *output_name(const char *pattern, const char **why)
{
	char *name = NULL;
	size_t size;
	FILE *out = open_memstream(&name, &size);

	*why = out ? NULL : "no memory";
	if (!pattern)
		pattern = mpi_rank() ? "adaptrace.%r.atr" : "adaptrace.atr";
	if (!*pattern)
		*why = "a file needs a name";
	for (; !*why && *pattern; pattern++) {
		if (*pattern == '%')
			*why = expand(out, *++pattern);
		else
			fputc(*pattern, out);
	}
	if (out && fclose(out))
		*why = "no memory";
	if (!*why)
		return name;
	free(name);
	return NULL;
}
