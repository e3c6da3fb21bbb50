#include "cases.h"
#include "symbolize/modules/space.h"

#include <errno.h>
#include <stdlib.h>

static struct module modules[4] = {{.id = 0}, {.id = 1}, {.id = 2}, {.id = 3}};

static void map(struct space *space, uint64_t start, uint64_t end, uint64_t bias, unsigned module)
{
	const struct mapping mapping = {start, end, bias, &modules[module]};

	assert_int_equal(space_map(space, &mapping), 0);
}

static void empty_space_knows_nothing(void **state)
{
	struct space *space = space_new(42);

	(void)state;
	assert_non_null(space);
	assert_int_equal(space_pid(space), 42);
	assert_null(space_lookup(space, 0));
	assert_null(space_lookup(space, UINT64_MAX));
	assert_int_equal(space_frame(space, 0x1000), FRAME_UNKNOWN);
	space_clear(space);
	space_put(space);
	space_put(NULL);
}

static void frames_are_module_and_offset(void **state)
{
	struct space *space = space_new(1);

	(void)state;
	map(space, 0x7f0000001000, 0x7f0000003000, 0x7f0000000000, 2);
	assert_int_equal(space_frame(space, 0x7f0000000fff), FRAME_UNKNOWN);
	assert_int_equal(space_frame(space, 0x7f0000001000), frame_make(2, 0x1000));
	assert_int_equal(space_frame(space, 0x7f0000002fff), frame_make(2, 0x2fff));
	assert_int_equal(space_frame(space, 0x7f0000003000), FRAME_UNKNOWN);
	/* A bias may be "negative": a position-dependent program mapped elsewhere than it says. */
	map(space, 0x1000, 0x2000, (uint64_t)-0x400000, 3);
	assert_int_equal(space_frame(space, 0x1234), frame_make(3, 0x401234));
	/* The module knows the high half of its addresses. */
	map(space, 0x200000000, 0x200001000, 0x100000000 - 0x1000, 1);
	assert_int_equal(space_frame(space, 0x200000000), frame_make(1, 0x1000));
	space_put(space);
}

static void last_address_can_be_mapped(void **state)
{
	struct space *space = space_new(1);

	(void)state;
	map(space, 0xffffffff80000000, UINT64_MAX, 0xffffffff00000000, 1);
	map(space, 0xffffffff90000000, 0xffffffff90001000, 0, 2);
	assert_int_equal(space_frame(space, 0xfffffffffffffffe), frame_make(1, 0xfffffffe));
	assert_ptr_equal(space_lookup(space, 0xffffffff90000000)->module, &modules[2]);
	space_put(space);
}

static void empty_mapping_changes_nothing(void **state)
{
	struct space *space = space_new(1);
	uint64_t generation;

	(void)state;
	map(space, 0x1000, 0x2000, 0, 1);
	generation = space_generation(space);
	map(space, 0x1800, 0x1800, 0, 2);
	map(space, 0x1800, 0x1000, 0, 2);
	assert_int_equal(space_generation(space), generation);
	space_put(space);
}

static void forks_share_until_one_changes(void **state)
{
	struct space *parent = space_new(1), *child, *grandchild;

	(void)state;
	map(parent, 0x1000, 0x2000, 0, 1);
	child = space_fork(parent, 2);
	grandchild = space_fork(child, 3);
	assert_int_equal(space_pid(grandchild), 3);
	assert_ptr_equal(space_lookup(parent, 0x1000), space_lookup(grandchild, 0x1000));
	assert_int_equal(space_generation(parent), space_generation(grandchild));

	map(child, 0x1000, 0x2000, 0, 2);
	assert_ptr_equal(space_lookup(parent, 0x1000)->module, &modules[1]);
	assert_ptr_equal(space_lookup(child, 0x1000)->module, &modules[2]);
	assert_true(space_generation(parent) != space_generation(child));

	space_clear(grandchild);
	assert_null(space_lookup(grandchild, 0x1000));
	assert_non_null(space_lookup(parent, 0x1000));
	space_put(parent);
	assert_non_null(space_lookup(child, 0x1fff));
	space_put(child);
	space_put(grandchild);
}

static void generation_tells_sets_apart(void **state)
{
	struct space *a = space_new(1), *b = space_new(2);
	uint64_t first, second;

	(void)state;
	map(a, 0x1000, 0x2000, 0, 1);
	first = space_generation(a);
	map(a, 0x3000, 0x4000, 0, 1);
	second = space_generation(a);
	assert_true(first != second);
	map(b, 0x1000, 0x2000, 0, 2);
	assert_true(space_generation(b) != first && space_generation(b) != second);
	space_clear(a);
	assert_true(space_generation(a) != first && space_generation(a) != second);
	space_put(a);
	space_put(b);
}

static void code_that_grows_stays_one_mapping(void **state)
{
	struct space *space = space_new(1);
	uint64_t i;

	(void)state;
	for (i = 0; i < 2 * SPACE_MAX_MAPPINGS; i++)
		map(space, 0x10000 + i * 4096, 0x10000 + (i + 1) * 4096, 0, 1);
	assert_int_equal(space_lookup(space, 0x10000)->end, 0x10000 + i * 4096);
	map(space, 0x20000, 0x30000, 0, 1);
	assert_int_equal(space_lookup(space, 0x10000)->end, 0x10000 + i * 4096);
	space_put(space);
}

static void mappings_are_bounded(void **state)
{
	struct space *space = space_new(1);
	struct mapping mapping = {.module = &modules[1]};
	uint64_t i;

	(void)state;
	for (i = 0; i < SPACE_MAX_MAPPINGS; i++)
		map(space, i * 8192 + 4096, i * 8192 + 8192, i, 1);
	mapping.start = i * 8192 + 4096;
	mapping.end = i * 8192 + 8192;
	assert_int_equal(space_map(space, &mapping), -ENOSPC);
	assert_null(space_lookup(space, mapping.start));
	assert_non_null(space_lookup(space, mapping.start - 8192));
	/* What takes no more room is still entered. */
	map(space, 4096, 8192, 0, 2);
	assert_ptr_equal(space_lookup(space, 5000)->module, &modules[2]);
	space_put(space);
}

/* -- random mappings, against an array with an element for each address ----------------------- */

#define ADDRESSES 512

struct oracle {
	struct {
		uint64_t bias;
		struct module *module;
	} at[ADDRESSES];
};

static void oracle_map(struct oracle *oracle, const struct mapping *mapping)
{
	uint64_t i;

	for (i = mapping->start; i < mapping->end; i++) {
		oracle->at[i].bias = mapping->bias;
		oracle->at[i].module = mapping->module;
	}
}

static void oracle_check(const struct oracle *oracle, const struct space *space)
{
	uint64_t i;

	for (i = 0; i < ADDRESSES; i++) {
		const struct mapping *mapping = space_lookup(space, i);

		assert_ptr_equal(mapping ? mapping->module : NULL, oracle->at[i].module);
		if (!mapping)
			continue;
		assert_true(mapping->start <= i && i < mapping->end);
		assert_int_equal(mapping->bias, oracle->at[i].bias);
	}
	assert_null(space_lookup(space, ADDRESSES));
}

static void random_mappings_match_the_oracle(void **state)
{
	struct space *space = space_new(1), *child;
	struct oracle oracle = {0}, before;
	unsigned i;

	(void)state;
	srand(1);
	for (i = 0; i < 3000; i++) {
		uint64_t start = (uint64_t)rand() % ADDRESSES;
		uint64_t size = (uint64_t)rand() % (rand() % 4 ? 16 : ADDRESSES);
		struct mapping mapping = {
			.start = start,
			.end = start + size < ADDRESSES ? start + size : ADDRESSES,
			.bias = (uint64_t)rand() % 2,
			.module = &modules[1 + rand() % 3],
		};

		child = space_fork(space, 2);
		before = oracle;
		assert_int_equal(space_map(space, &mapping), 0);
		oracle_map(&oracle, &mapping);
		oracle_check(&oracle, space);
		oracle_check(&before, child);
		space_put(child);
		if (rand() % 100 == 0) {
			space_clear(space);
			oracle = (struct oracle){0};
		}
	}
	space_put(space);
}

/* Processes that fork and map share what they can, and the rest ends at the bound. */
static void spaces_share_a_room(void **state)
{
	enum { NR_SPACES = 100, NR_MAPPINGS = 100 };
	struct space_room room = {.most = 64 << 10};
	struct space *spaces[NR_SPACES], *parent = space_new(1);
	struct module module = {0};
	unsigned refused = 0;
	size_t used;

	(void)state;
	space_limit(parent, &room);
	for (uint64_t i = 0; i < NR_MAPPINGS; i++)
		assert_int_equal(space_map(parent, &(struct mapping){.start = i << 16,
		                                                     .end = (i << 16) + 4096,
		                                                     .module = &module}),
		                 0);
	used = room.used;
	for (unsigned i = 0; i < NR_SPACES; i++)
		spaces[i] = space_fork(parent, 2 + (pid_t)i);
	assert_int_equal(room.used, used);
	for (unsigned i = 0; i < NR_SPACES; i++) {
		int err = space_map(spaces[i], &(struct mapping){.start = 1ULL << 40,
		                                                 .end = (1ULL << 40) + 4096,
		                                                 .module = &module});

		assert_true(!err || err == -ENOSPC);
		refused += err == -ENOSPC;
		assert_non_null(space_find(spaces[i], 4095));
	}
	assert_in_range(refused, 1, NR_SPACES - 1);
	assert_in_range(room.used, used + 1, room.most);
	for (unsigned i = 0; i < NR_SPACES; i++)
		space_put(spaces[i]);
	assert_int_equal(room.used, used);
	space_put(parent);
	assert_int_equal(room.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_space_knows_nothing),
		cmocka_unit_test(frames_are_module_and_offset),
		cmocka_unit_test(last_address_can_be_mapped),
		cmocka_unit_test(empty_mapping_changes_nothing),
		cmocka_unit_test(forks_share_until_one_changes),
		cmocka_unit_test(generation_tells_sets_apart),
		cmocka_unit_test(code_that_grows_stays_one_mapping),
		cmocka_unit_test(mappings_are_bounded),
		cmocka_unit_test(random_mappings_match_the_oracle),
		cmocka_unit_test(spaces_share_a_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
