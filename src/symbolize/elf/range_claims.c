#include "symbolize/elf/range_claims.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

int claims_init(struct claims *claims, const uint32_t *offsets, size_t n)
{
	size_t i;

	*claims = (struct claims){
		.offsets = offsets,
		.n = n,
		.owner = calloc(n + 1, sizeof(*claims->owner)),
		.next = calloc(n + 1, sizeof(*claims->next)),
	};
	if (!claims->owner || !claims->next)
		return -ENOMEM;
	for (i = 0; i <= n; i++)
		claims->next[i] = i;
	return 0;
}

void claims_fini(struct claims *claims)
{
	free(claims->owner);
	free(claims->next);
}

/* Offsets that have an owner are skipped by following next. */
static size_t claims_next(struct claims *claims, size_t i)
{
	size_t end = i, step;

	while (claims->next[end] != end)
		end = claims->next[end];
	for (; claims->next[i] != end && i != end; i = step) {
		step = claims->next[i];
		claims->next[i] = end;
	}
	return end;
}

static size_t first_from(const struct claims *claims, uint32_t lo)
{
	return ARRAY_PARTITION(claims->offsets, claims->n, offset, *offset < lo);
}

void claims_take(struct claims *claims, uint32_t lo, uint32_t hi, uint32_t owner)
{
	size_t i = claims_next(claims, first_from(claims, lo));

	while (i < claims->n && claims->offsets[i] < hi) {
		claims->owner[i] = owner;
		claims->next[i] = i + 1;
		i = claims_next(claims, i);
	}
}
