/* What a recorder does just while a snapshot is made: at the touch of a page that was closed to it.
 */
#include "cases.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hmb/arena.h"
#include "hmb/arena_snapshot.h"

enum { SIZE = 512 << 10, PAGE = 4096, NR_BINS = 3, SEQUENCE = 100, BYTES = 160, RECORDS = 10 };

static struct {
	struct arena arena;
	struct bin *bins[NR_BINS];
	struct hmb_ledger ledger, copied;
	unsigned char *copy;
} world;

/* A page of the arena, and what happens when it is touched. */
static struct {
	unsigned char *page;
	void (*happens)(void);
} trap;

static void on_touch(int signal, siginfo_t *info, void *context)
{
	const unsigned char *at = info->si_addr;

	(void)signal;
	(void)context;
	if (at < trap.page || at >= trap.page + PAGE ||
	    mprotect(trap.page, PAGE, PROT_READ | PROT_WRITE))
		_exit(1);
	trap.happens();
}

/* cmocka has a handler of its own before. */
static void set_trap(void *at, void (*happens)(void))
{
	const struct sigaction action = {.sa_sigaction = on_touch, .sa_flags = SA_SIGINFO};

	trap.page = at;
	trap.happens = happens;
	assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
	assert_int_equal(mprotect(at, PAGE, PROT_NONE), 0);
}

static void *map(void)
{
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

static struct bin *take(void)
{
	struct bin *bin = arena_take(&world.arena, BIN_SAMPLES, false);

	assert_non_null(bin);
	bin->record_bytes = BYTES;
	bin->nr_records = RECORDS;
	bin->node_bytes = 2 * NODE_UNIT;
	world.ledger.nr_bins = world.arena.fresh;
	return bin;
}

static int setup(void **state)
{
	(void)state;
	if (sysconf(_SC_PAGESIZE) != PAGE)
		skip();
	memset(&world, 0, sizeof(world));
	world.copy = map();
	arena_init(&world.arena, map(), SIZE);
	world.arena.sequence = SEQUENCE;
	for (unsigned i = 0; i < NR_BINS; i++)
		world.bins[i] = take();
	assert_true(bin_size(world.bins[0]) >= 2 * PAGE);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	munmap(world.copy, SIZE);
	munmap(world.arena.memory, SIZE);
	return 0;
}

static const struct bin *copy_of(const struct bin *bin)
{
	return (const void *)(world.copy + ((const unsigned char *)bin - world.arena.memory));
}

static void take_snapshot(void)
{
	assert_int_equal(
		hmb_snapshot(world.copy, &world.copied, world.arena.memory, SIZE, &world.ledger),
		0);
}

/* By then the first has been noted. */
static void (*between)(void);

static void set_second_trap(void)
{
	set_trap(world.bins[0], between);
}

static void take_snapshot_while(void (*happens)(void))
{
	between = happens;
	set_trap(world.bins[NR_BINS - 1], set_second_trap);
	take_snapshot();
}

static void check_first(uint32_t use, uint32_t bytes, uint32_t records, uint32_t nodes)
{
	const struct bin *copy = copy_of(world.bins[0]);

	assert_int_equal(copy->use, use);
	assert_int_equal(copy->record_bytes, bytes);
	assert_int_equal(copy->nr_records, records);
	assert_int_equal(copy->node_bytes, nodes);
	assert_int_equal(copy->size_shift, world.arena.bin_shift);
	assert_int_equal(copy_of(world.bins[1])->record_bytes, BYTES);
}

static void grow(void)
{
	world.bins[0]->record_bytes += 16;
	world.bins[0]->nr_records++;
	world.bins[0]->node_bytes += NODE_UNIT;
}

/* Its nodes stay: records that were noted later, in other bins, may refer to them. */
static void records_of_later_are_left_out(void **state)
{
	(void)state;
	take_snapshot_while(grow);
	check_first(BIN_SAMPLES, BYTES, RECORDS, 3 * NODE_UNIT);
}

static void take_anew(void)
{
	world.bins[0]->sequence = ++world.arena.sequence;
	grow();
}

static void a_bin_that_was_taken_anew_has_no_records_yet(void **state)
{
	(void)state;
	take_snapshot_while(take_anew);
	check_first(BIN_SAMPLES, 0, 0, 3 * NODE_UNIT);
}

static void a_bin_that_is_taken_while_it_is_copied_is_none(void **state)
{
	(void)state;
	set_trap((unsigned char *)world.bins[0] + PAGE, take_anew);
	take_snapshot();
	check_first(BIN_FREE, 0, 0, 0);
}

static void take_one_more(void)
{
	take();
}

static void a_bin_that_is_taken_last_has_no_records_yet(void **state)
{
	const struct bin *last = copy_of(world.bins[NR_BINS - 1]);

	(void)state;
	set_trap(world.bins[NR_BINS - 1], take_one_more);
	take_snapshot();
	check_first(BIN_SAMPLES, BYTES, RECORDS, 2 * NODE_UNIT);
	assert_int_equal(world.copied.nr_bins, NR_BINS + 1);
	last = (const void *)((const unsigned char *)last + bin_size(last));
	assert_int_equal(last->use, BIN_SAMPLES);
	assert_int_equal(last->record_bytes, 0);
	assert_int_equal(last->node_bytes, 2 * NODE_UNIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_of_later_are_left_out),
		TEST(a_bin_that_was_taken_anew_has_no_records_yet),
		TEST(a_bin_that_is_taken_while_it_is_copied_is_none),
		TEST(a_bin_that_is_taken_last_has_no_records_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
