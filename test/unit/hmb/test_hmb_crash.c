#include "cases.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hmb/code.h"
#include "hmb/arena_snapshot.h"

/*
 * Arena and ledger must make sense at every moment, for a recorder may be killed at any, and copied
 * while it goes on. A child puts samples that follow from their number alone into shared memory
 * until it is killed; what it left, or a copy, is then read as a stranger would, from the headers
 * of the bins.
 */

enum { MAX_DEPTH = 24, NR_KINDS = 2, TIME_SHIFT = 6, TRUNCATED = 1, MAX_CLEARS = 1 << 16 };

/* The child reports this of itself. */
struct progress {
	uint64_t number; /* of the sample that it puts */
	uint64_t nr_clears;
	struct {
		uint64_t number; /* of the first sample of after */
		uint32_t kind, since;
	} clears[MAX_CLEARS];
};

struct wreck {
	size_t size;
	void *memory;
	struct hmb_ledger *ledger;
	struct progress *progress;
	unsigned every;           /* so many samples are between two clears; 0: there are none */
	unsigned char *seen;      /* by number of the sample */
	uint64_t start[NR_KINDS]; /* the first sample that may be there; UINT64_MAX: none may */
	uint64_t taken;           /* all samples before this one must be there … */
	uint64_t last;            /* … and none behind this one */
	struct arena arena;       /* for the places of things alone */
};

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9;
	n = (n ^ n >> 27) * 0x94d049bb133111eb;
	return n ^ n >> 31;
}

static struct hmb_sample nth_sample(uint64_t n, uint64_t *path)
{
	struct hmb_sample sample = {
		.kind = n % 7 == 0,
		.level = lambda(n % 7 ? n - n / 7 : n / 7),
		.time = n << TIME_SHIFT,
		.thread = (uint32_t)(mix(n) % 5),
		.cpu = (uint32_t)(mix(n) >> 8) % 3,
		.leaf = mix(n) >> 32 & 0x30000003f,
		.path = path,
		.path_size = 1 + (unsigned)(mix(n / 3) % MAX_DEPTH),
	};

	sample.step = (uint64_t)2 << sample.level << TIME_SHIFT;
	for (unsigned i = 0; i < sample.path_size; i++)
		path[i] = mix(i + n / 50 % 8 * (i < 5)) >> 16;
	return sample;
}

static void clear(struct progress *progress, struct hmb *hmb, uint64_t number)
{
	unsigned kind = mix(number) >> 60 & 1;
	uint64_t nr = progress->nr_clears;

	if (nr == MAX_CLEARS)
		return;
	hmb_clear(hmb, kind);
	progress->clears[nr].number = number;
	progress->clears[nr].kind = kind;
	progress->clears[nr].since = hmb->ledger->since[kind];
	__atomic_store_n(&progress->nr_clears, nr + 1, __ATOMIC_RELEASE);
}

static void put_for_ever(const struct wreck *w)
{
	struct hmb_config config = {
		.memory = w->memory,
		.size = w->size,
		.ledger = w->ledger,
		.nr_kinds = NR_KINDS,
		.max_path = MAX_DEPTH,
		.truncated_frame = TRUNCATED,
		.kinds = {{.time_shift = TIME_SHIFT}, {.time_shift = TIME_SHIFT}},
	};
	struct hmb *hmb = hmb_new(&config);
	uint64_t path[MAX_DEPTH];

	for (uint64_t n = 1;; n++) {
		struct hmb_sample sample = nth_sample(n, path);

		if (w->every && mix(n) % w->every == 0)
			clear(w->progress, hmb, n);
		__atomic_store_n(&w->progress->number, n, __ATOMIC_RELEASE);
		hmb_put(hmb, &sample);
	}
}

/* Finds when each kind was cleared. The child may not have told of the last time yet. */
static void find_starts(struct wreck *w)
{
	const struct progress *progress = w->progress;
	uint64_t nr = __atomic_load_n(&progress->nr_clears, __ATOMIC_ACQUIRE);

	for (unsigned k = 0; k < NR_KINDS; k++) {
		w->start[k] = w->ledger->since[k] ? UINT64_MAX : 1;
		for (uint64_t i = 0; i < nr; i++)
			if (progress->clears[i].kind == k &&
			    progress->clears[i].since == w->ledger->since[k])
				w->start[k] = progress->clears[i].number;
	}
}

static bool is_live(const struct wreck *w, const struct bin *bin)
{
	return bin->use == BIN_SAMPLES && hmb_ledger_has(w->ledger, bin);
}

static uint32_t check_node(const struct wreck *w, uint32_t number, const struct hmb_sample *want)
{
	const struct node *node = node_at(&w->arena, number);
	const struct bin *bin = node_bin(&w->arena, number);

	assert_true(is_live(w, bin) && bin->kind == want->kind && bin->level >= want->level);
	assert_true((const unsigned char *)node >=
	            (const unsigned char *)bin + bin_size(bin) - bin->node_bytes);
	return node->parent;
}

/* The whole path, or its outer part below [truncated]. */
static void check_path(const struct wreck *w, uint32_t leaf, const struct hmb_sample *want)
{
	unsigned depth = 0, at;

	for (uint32_t number = leaf; number != NODE_NONE; number = check_node(w, number, want))
		assert_true(depth++ <= MAX_DEPTH);
	if (depth && node_at(&w->arena, leaf)->frame == TRUNCATED) {
		leaf = node_at(&w->arena, leaf)->parent;
		depth--;
		assert_true(depth < want->path_size);
	} else {
		assert_int_equal(depth, want->path_size);
	}
	for (at = want->path_size - depth; at < want->path_size; at++) {
		assert_int_equal(node_at(&w->arena, leaf)->frame, want->path[at]);
		leaf = node_at(&w->arena, leaf)->parent;
	}
}

/* How many records were announced and are not there. Those that are must be true. */
static uint32_t check_bin(struct wreck *w, const struct bin *bin)
{
	static struct code_cursor cursor;
	struct code_sample got;
	uint64_t path[MAX_DEPTH];

	if (!is_live(w, bin))
		return 0;
	assert_int_equal(code_open(&cursor, bin, bin_size(bin), arena_nodes(&w->arena)), 0);
	while (code_next(&cursor, &got) == 1) {
		uint64_t n = got.time >> TIME_SHIFT;
		struct hmb_sample want = nth_sample(n, path);

		assert_in_range(n, 1, w->last);
		assert_false(w->seen[n]++);
		assert_int_equal(bin->kind, want.kind);
		assert_int_equal(bin->level, want.level);
		assert_int_equal(got.thread, want.thread);
		assert_int_equal(got.cpu, want.cpu);
		assert_int_equal(got.leaf, want.leaf);
		check_path(w, got.context, &want);
	}
	return cursor.left;
}

/* The child may have been killed between storing a sample and counting it. */
static void check_counts(const struct wreck *w)
{
	uint64_t taken[NR_KINDS] = {0}, stored[NR_KINDS] = {0}, path[MAX_DEPTH];

	for (uint64_t n = 1; n <= w->last; n++) {
		unsigned kind = nth_sample(n, path).kind;

		taken[kind] += n >= w->start[kind];
		stored[kind] += w->seen[n];
	}
	for (unsigned k = 0; k < NR_KINDS; k++) {
		if (w->start[k] == UINT64_MAX)
			continue;
		assert_in_range(w->ledger->taken[k] + 1, taken[k], taken[k] + 1);
		assert_in_range(stored[k] + w->ledger->reduced[k] + 1, w->ledger->taken[k],
		                w->ledger->taken[k] + 1);
	}
}

static void check_wreck(struct wreck *w, uint32_t most_missing)
{
	size_t step, bin_bytes = (size_t)1 << w->arena.bin_shift;
	uint64_t path[MAX_DEPTH];

	w->seen = calloc(w->last + 1, 1);
	find_starts(w);
	for (size_t at = 0; at < w->arena.nr_bins * bin_bytes; at += step) {
		const struct bin *bin = (void *)((unsigned char *)w->memory + at);

		step = bin->size_shift == w->arena.sub_shift ? bin_size(bin) : bin_bytes;
		if (bin->size_shift == w->arena.sub_shift || bin->size_shift == w->arena.bin_shift)
			assert_true(check_bin(w, bin) <= most_missing);
	}
	for (uint64_t n = 1; n < w->taken; n++) {
		struct hmb_sample s = nth_sample(n, path);

		assert_int_equal(w->seen[n],
		                 n >= w->start[s.kind] && s.level >= w->ledger->floor[s.kind]);
	}
	if (most_missing != UINT32_MAX)
		check_counts(w);
	free(w->seen);
}

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

static struct wreck start(size_t size, unsigned every, pid_t *pid)
{
	struct wreck w = {
		.size = size,
		.memory = shared(size),
		.ledger = shared(sizeof(struct hmb_ledger)),
		.progress = shared(sizeof(struct progress)),
		.every = every,
	};

	*pid = fork();
	assert_true(*pid >= 0);
	if (!*pid)
		put_for_ever(&w);
	while (!__atomic_load_n(&w.progress->number, __ATOMIC_RELAXED))
		nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
	arena_init(&w.arena, w.memory, size);
	w.arena.fresh = w.arena.nr_bins;
	return w;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void forget(const struct wreck *w)
{
	munmap(w->memory, w->size);
	munmap(w->ledger, sizeof(*w->ledger));
}

static void end_wreck(const struct wreck *w)
{
	munmap(w->progress, sizeof(*w->progress));
	forget(w);
}

static void kill_one(size_t size, unsigned every, long after_ns)
{
	pid_t pid;
	struct wreck w = start(size, every, &pid);

	nanosleep(&(struct timespec){.tv_nsec = after_ns}, NULL);
	end(pid);
	w.taken = w.last = w.progress->number;
	check_wreck(&w, 1);
	end_wreck(&w);
}

static void what_a_killed_recorder_leaves_is_true(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 60; i++)
		kill_one(i % 2 ? 64 << 10 : 1 << 20, 0, (long)(mix(i) % 4000000));
}

/* From clears that come more often than reductions to rare ones. */
static void clears_leave_what_came_since_to_a_killed_recorder(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 36; i++)
		kill_one(64 << 10, 10U << i % 12, (long)(mix(i) % 4000000));
}

/*
 * The copy says how far it goes; the recorder's ledger, afterwards, how far it can go at most.
 * While that is checked the recorder stands still, for there must be an end of what to check.
 */
static void copy_one(const struct wreck *w, pid_t pid)
{
	struct wreck copy = {
		.size = w->size,
		.memory = shared(w->size),
		.ledger = shared(sizeof(struct hmb_ledger)),
		.progress = w->progress,
	};

	copy.taken = __atomic_load_n(&w->progress->number, __ATOMIC_ACQUIRE);
	assert_int_equal(hmb_snapshot(copy.memory, copy.ledger, w->memory, w->size, w->ledger), 0);
	hmb_snapshot_levels(copy.ledger, w->ledger);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	arena_init(&copy.arena, copy.memory, copy.size);
	copy.arena.fresh = copy.arena.nr_bins;
	copy.last = w->progress->number;
	check_wreck(&copy, UINT32_MAX);
	forget(&copy);
	assert_int_equal(kill(pid, SIGCONT), 0);
}

static void copy_some(size_t size, unsigned every)
{
	pid_t pid;
	struct wreck w = start(size, every, &pid);

	for (unsigned nr = 0; nr < 40; nr++)
		copy_one(&w, pid);
	end(pid);
	end_wreck(&w);
}

static void a_copy_of_a_recorder_at_work_is_of_one_moment(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++)
		copy_some(i % 2 ? 64 << 10 : 1 << 20, 0);
}

static void a_copy_has_what_came_since_a_clear(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		copy_some(64 << 10, 30U << 4 * i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_killed_recorder_leaves_is_true),
		cmocka_unit_test(clears_leave_what_came_since_to_a_killed_recorder),
		cmocka_unit_test(a_copy_of_a_recorder_at_work_is_of_one_moment),
		cmocka_unit_test(a_copy_has_what_came_since_a_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
