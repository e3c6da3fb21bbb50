/*
 * A profile as seen from one function: what called it, or what it called.
 *
 *     main → a → f → b → f → c      callers of f: f ← a ← main      callees: f → b → f → c
 *
 * Of a function that is on a stack several times the outermost call counts, and so every sample
 * counts once. Functions of one name are one, whatever modules they are in, and so are the parts
 * that a compiler made of them.
 */
#ifndef OUTPUT_PROFILE_PROFILE_VIEW_H
#define OUTPUT_PROFILE_PROFILE_VIEW_H

#include "output/profile/profile.h"

enum profile_direction { PROFILE_ALL, PROFILE_CALLERS, PROFILE_CALLEES };

struct profile_view {
	const char *function; /* its full name */
	enum profile_direction direction;
	uint32_t max_depth;   /* the function alone is 1 */
	uint64_t self, total; /* of the function, in all subsets */
	uint64_t samples;     /* in the function itself */
	double variance;      /* of self: an estimate, exact where the function is one row */
};

/*
 * Replaces the profile's tree by one that begins with the function, below the root; rows stay as
 * they are. A node's self is what was spent at the end of its path, of callers where the path has
 * no more callers. What callers deeper than max_depth had is in those above.
 *
 * 0, -ENOMEM, -E2BIG: of callers there are more than anyone can look at, a max_depth is needed.
 */
int profile_view_make(struct profile *profile, struct profile_view *view);

#endif
