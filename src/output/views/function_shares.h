/*
 * The weights of functions, or of threads, to be found again from a profile of another part or
 * moment.
 */
#ifndef OUTPUT_VIEWS_FUNCTION_SHARES_H
#define OUTPUT_VIEWS_FUNCTION_SHARES_H

#include "output/profile/profile.h"

struct function_shares {
	struct map64 numbers; /* by a hash of function and module */
	uint64_t *self;
	uint32_t room;
	uint64_t total;
};

/* Returns a key for a row: of its thread if the profile has threads, else of function and module.
 */
uint64_t function_key(const struct profile *profile, const struct profile_row *row);

/* Adds up the rows of a profile by function. 0 or -ENOMEM; function_shares_fini() in either case.
 */
int function_shares_init(struct function_shares *shares, const struct profile *profile);
void function_shares_fini(struct function_shares *shares);

/* Returns the weight of a function; 0: it has none. */
uint64_t function_shares_self(const struct function_shares *shares, uint64_t key);

#endif
