/*
 * libgomp, which has no interface for tools: functions stand before its own, and the body of each
 * region is replaced by one that notes when its work begins and ends.
 */
#include "preload/omp_regions.h"
#include "preload/omp_runtimes.h"

#include <string.h>

/*
 * The recorder leaves code of this section out of stacks. Functions that wait (WAIT) are not in it:
 * libgomp's function of that name ends in a jump, so that it is not on the stack of a thread that
 * waits, and ours shows its name there.
 */
#define AROUND __attribute__((section(RING_AROUND_SECTION), noinline))
#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))

#define PARAMS_0  void
#define PARAMS_1  uintptr_t a0
#define PARAMS_4  uintptr_t a0, uintptr_t a1, uintptr_t a2, uintptr_t a3
#define PARAMS_5  PARAMS_4, uintptr_t a4
#define PARAMS_7  PARAMS_5, uintptr_t a5, uintptr_t a6
#define PARAMS_8  PARAMS_7, uintptr_t a7
#define PARAMS_10 PARAMS_8, uintptr_t a8, uintptr_t a9
#define ARGS_0
#define ARGS_1  a0
#define REST_4  a2, a3
#define REST_5  REST_4, a4
#define REST_7  REST_5, a5, a6
#define REST_8  REST_7, a7
#define REST_10 REST_8, a8, a9

/* Runs in each thread of a team, in place of the region's outlined function. */
AROUND static void body(void *arg)
{
	struct omp_team *team = arg;
	struct omp_part part;

	omp_part_begin(&part, team, process_ticks(), OWN_FRAME);
	team->body(team->data);
	omp_part_end(&part);
}

static bool begin(struct omp_team *team, const struct omp_runtime *runtime, uintptr_t function,
                  uintptr_t data, uintptr_t frame)
{
	if (!omp_wanted || runtime->tool || !omp_team_begin(team, function, frame))
		return false;
	team->body = (void (*)(void *))function;
	team->data = (void *)data;
	return true;
}

static uintptr_t run_alone(uintptr_t function, uintptr_t data)
{
	((void (*)(void *))function)((void *)data);
	return 1;
}

/* Declares the caller's runtime and `real`, its function of this name. NULL: it has none. */
#define FIND_REAL(name, nr)                                                           \
	const struct omp_runtime *runtime = omp_runtime_of(CALLER, GOMP_CALL_##name); \
	uintptr_t (*real)(PARAMS_##nr) = (uintptr_t(*)(PARAMS_##nr))runtime->calls[GOMP_CALL_##name]

/*
 * Only a program that has its library from nowhere comes to run_alone(). Regions with reductions
 * have a pointer at the start of their data.
 */
#define PARALLEL(name, nr)                                                   \
	AROUND EXPORT uintptr_t GOMP_##name(PARAMS_##nr);                    \
	EXPORT uintptr_t GOMP_##name(PARAMS_##nr)                            \
	{                                                                    \
		FIND_REAL(name, nr);                                         \
		struct omp_team team;                                        \
		uintptr_t result;                                            \
                                                                             \
		if (unlikely(!real))                                         \
			return run_alone(a0, a1);                            \
		if (!begin(&team, runtime, a0, a1, OWN_FRAME))               \
			return real(a0, a1, REST_##nr);                      \
		if (GOMP_CALL_##name == GOMP_CALL_parallel_reductions)       \
			team.reductions = *(const uintptr_t *)a1;            \
		result = real((uintptr_t)body, (uintptr_t)&team, REST_##nr); \
		omp_team_end(&team);                                         \
		return result;                                               \
	}

#define WAIT(name, nr, wait)                                     \
	EXPORT uintptr_t GOMP_##name(PARAMS_##nr);               \
	EXPORT uintptr_t GOMP_##name(PARAMS_##nr)                \
	{                                                        \
		FIND_REAL(name, nr);                             \
		struct omp_part *part = omp_part;                \
		struct omp_wait waiting;                         \
		uintptr_t result;                                \
                                                                 \
		if (unlikely(!real))                             \
			return 0;                                \
		if (!part)                                       \
			return real(ARGS_##nr);                  \
		omp_wait_begin(&waiting, OMP_##wait, OWN_FRAME); \
		result = real(ARGS_##nr);                        \
		omp_wait_end(&waiting, part);                    \
		return result;                                   \
	}

/* --- tasks ------------------------------------------------------------------------------------ */

/*
 * Stands before the data of a task, which libgomp copies together, as a whole or by a function of
 * the compiler's.
 */
struct task_data {
	_Alignas(16) void (*body)(void *data);
	void (*copy)(void *to, void *from);
	void *data;   /* what copy takes */
	size_t place; /* of the task's data, behind this */
	struct omp_team *team;
};

#define MOST_TASK_DATA 256 /* a task with more runs without being seen: stacks may be small */
#define MOST_ALIGNMENT 64
#define TASK_DETACHED  8192 /* flag: libgomp writes into its data */

struct task_block {
	_Alignas(MOST_ALIGNMENT) struct task_data head;
	char room[MOST_ALIGNMENT + MOST_TASK_DATA];
};

AROUND static void task_body(void *arg)
{
	const struct task_data *data = arg;
	struct omp_task task;

	omp_task_begin(&task, data->team);
	data->body((char *)arg + data->place);
	omp_task_end(&task);
}

static void copy_task(void *to, void *from)
{
	const struct task_data *data = from;

	memcpy(to, data, sizeof(*data));
	data->copy((char *)to + data->place, data->data);
}

static bool is_seen(const struct omp_runtime *runtime, size_t size, size_t align, unsigned flags)
{
	return omp_part && !runtime->tool && size <= MOST_TASK_DATA && align <= MOST_ALIGNMENT &&
	       !(flags & TASK_DETACHED);
}

/* Returns the bytes of the block that libgomp copies. */
static size_t fill_block(struct task_block *block, uintptr_t body, uintptr_t data, uintptr_t copy,
                         size_t size, size_t align)
{
	size_t place = (sizeof(block->head) + align - 1) / align * align;

	block->head = (struct task_data){
		.body = (void (*)(void *))body,
		.copy = (void (*)(void *, void *))copy,
		.data = (void *)data,
		.place = place,
		.team = omp_part->team,
	};
	if (!copy)
		memcpy((char *)block + place, (const void *)data, size);
	return place + size;
}

/* Returns an alignment that also our part of the data may have. */
static size_t block_align(size_t align)
{
	return align > _Alignof(struct task_data) ? align : _Alignof(struct task_data);
}

/* a0: function, a1: its data, a2: what copies it, a3: bytes, a4: alignment, a6: flags. */
#define TASK(name, nr)                                                                  \
	AROUND EXPORT uintptr_t GOMP_##name(PARAMS_##nr);                               \
	EXPORT uintptr_t GOMP_##name(PARAMS_##nr)                                       \
	{                                                                               \
		FIND_REAL(name, nr);                                                    \
		struct task_block block;                                                \
                                                                                        \
		if (unlikely(!real))                                                    \
			return run_alone(a0, a1);                                       \
		if (!is_seen(runtime, a3, a4, (unsigned)a6))                            \
			return real(a0, a1, REST_##nr);                                 \
		a4 = block_align(a4);                                                   \
		a3 = fill_block(&block, a0, a1, a2, a3, a4);                            \
		return real((uintptr_t)task_body, (uintptr_t)&block,                    \
		            a2 ? (uintptr_t)copy_task : 0, a3, a4, a5, a6, a7, a8, a9); \
	}

#include "preload/gomp_calls.def"
