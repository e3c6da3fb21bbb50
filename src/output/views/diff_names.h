/*
 * Matches functions that have different names on the two sides of a comparison because another
 * compiler, or the same with other options, made them: the name of an inlined function may lack its
 * arguments, and lambdas, parallel regions and copies are numbered differently. Names match by
 * their common part, if that is the name of one function on each side. Other names are not matched.
 */
#ifndef OUTPUT_VIEWS_DIFF_NAMES_H
#define OUTPUT_VIEWS_DIFF_NAMES_H

#include "output/views/diff.h"

struct known_name;

struct diff_names {
	struct known_name *known;
	size_t nr;
	bool by_module; /* functions of different modules are different */
};

/*
 * Collects the names in the profiles of all runs. Returns 0 or -ENOMEM; call diff_names_fini() in
 * either case.
 */
int diff_names_init(struct diff_names *names, const struct diff_runs runs[DIFF_SIDES],
                    unsigned keys);
void diff_names_fini(struct diff_names *names);

/* Returns the common name of a function that has this name on one of the sides. */
const char *diff_names_common(const struct diff_names *names, const char *module, const char *name);

#endif
