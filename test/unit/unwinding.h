/* An unwinder, and this process to try it on. */
#ifndef UNIT_UNWINDING_H
#define UNIT_UNWINDING_H

#include "cases.h"
#include "maps.h"
#include "symbolize/unwind/unwind.h"

#include <stdlib.h>
#include <unistd.h>

#define MAX_FRAMES 300
#define NR_REGS    64

struct fixture {
	struct module_table *modules;
	struct unwinder *unwinder;
	struct space *space;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->modules = module_table_new();
	fixture->unwinder = unwinder_new(fixture->modules, UNWIND_RULES);
	fixture->space = space_new(getpid());
	assert_true(fixture->modules && fixture->unwinder && fixture->space);
	maps_read(fixture->space, fixture->modules);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	unwinder_free(fixture->unwinder);
	space_put(fixture->space);
	module_table_free(fixture->modules);
	free(fixture);
	return 0;
}

struct chain {
	uint64_t frames[MAX_FRAMES];
	unsigned nr;
	enum unwind_end end;
};

static void walk(struct fixture *fixture, const struct unwind_sample *sample, struct chain *chain)
{
	chain->nr = unwinder_walk(fixture->unwinder, fixture->space, sample, chain->frames,
	                          MAX_FRAMES, &chain->end);
	assert_in_range(chain->nr, 1, MAX_FRAMES);
}

static uint64_t random_word(void)
{
	return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

#endif
