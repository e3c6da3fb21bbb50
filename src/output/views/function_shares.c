#include "output/views/function_shares.h"

#include "base/array.h"
#include "output/views/report_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

uint64_t function_key(const struct profile *profile, const struct profile_row *row)
{
	bool threads = profile->config.keys & PROFILE_BY_THREAD;
	char text[CELL_SIZE];
	const char *name =
		report_cell(profile, row, threads ? PROFILE_BY_THREAD : PROFILE_BY_SYMBOL, text);
	uint64_t key = XXH3_64bits(name, strlen(name));
	const char *module;

	if (threads)
		return key;
	module = report_cell(profile, row, PROFILE_BY_MODULE, text);
	return XXH3_64bits_withSeed(module, strlen(module), key);
}

static int add_row(struct function_shares *shares, uint64_t key, uint64_t self)
{
	uint32_t nr = shares->numbers.nr, number = map64_number(&shares->numbers, key);

	if (number == UINT32_MAX || ARRAY_RESERVE(shares->self, shares->room, number + 1))
		return -ENOMEM;
	if (number == nr)
		shares->self[number] = 0;
	shares->self[number] += self;
	return 0;
}

int function_shares_init(struct function_shares *shares, const struct profile *profile)
{
	int err = 0;

	*shares = (struct function_shares){.total = profile->total};
	for (uint32_t i = 0; i < profile->nr_rows && !err; i++)
		err = add_row(shares, function_key(profile, &profile->rows[i]),
		              profile->rows[i].self);
	return err;
}

void function_shares_fini(struct function_shares *shares)
{
	map64_fini(&shares->numbers);
	free(shares->self);
	*shares = (struct function_shares){0};
}

uint64_t function_shares_self(const struct function_shares *shares, uint64_t key)
{
	uint32_t number = map64_get(&shares->numbers, key);

	return number == UINT32_MAX ? 0 : shares->self[number];
}
