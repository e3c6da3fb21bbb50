#include "trace/call_regroup.h"

#include "hmb/call_code.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* An encoder is large: what is read is read once for so many threads. */
#define GROUP_SIZE 64

#define BIN_SHIFT   14
#define LEAST_SHIFT 8

/* A thread, and its bin that is being filled. */
struct member {
	uint32_t thread;
	bool open;
	struct call_encoder encoder;
	union {
		struct bin bin;
		unsigned char bytes[1 << BIN_SHIFT];
	};
};

struct regroup {
	struct call_regrouped *out;
	const struct bin_positions *positions;
	struct call_cursor *cursor;
	struct member *members;
	uint32_t *member_of; /* by thread: number + 1; 0: none of the group's */
	uint32_t nr_members, nr_threads;
	const struct scratch *scratch;
	off_t size; /* of what was written */
};

/* --- bins ------------------------------------------------------------------------------------- */

/* Its bin is told when the file is mapped: they lie there one after the other. */
static int note_bin(struct regroup *regroup, uint32_t thread, const struct bin *bin)
{
	struct call_regrouped *out = regroup->out;
	struct bin_position *positions = array_grow(out->positions, out->nr, sizeof(*positions));
	uint32_t *threads;

	if (!positions)
		return -ENOMEM;
	out->positions = positions;
	threads = array_grow(out->threads, out->nr, sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	out->threads = threads;
	out->threads[out->nr] = thread;
	out->positions[out->nr++] = (struct bin_position){
		.list = (uint32_t)bin->kind << 8 | bin->level,
		.sequence = bin->sequence,
	};
	return 0;
}

/* Writes the member's open bin, if it has one, without its unused end. */
static int close_bin(struct regroup *regroup, struct member *member)
{
	struct bin *bin = &member->bin;
	int err;

	if (!member->open)
		return 0;
	member->open = false;
	bin->size_shift = LEAST_SHIFT;
	while (bin_size(bin) < sizeof(*bin) + bin->record_bytes)
		bin->size_shift++;
	err = scratch_write(regroup->scratch->fd, bin, bin_size(bin),
	                    regroup->scratch->from + regroup->size);
	if (!err)
		err = note_bin(regroup, member->thread, bin);
	regroup->size += (off_t)bin_size(bin);
	return err;
}

static int close_bins(struct regroup *regroup)
{
	int err = 0;

	for (uint32_t i = 0; i < regroup->nr_members && !err; i++)
		err = close_bin(regroup, &regroup->members[i]);
	return err;
}

static void open_bin(struct member *member, const struct bin *like, uint64_t time)
{
	memset(member->bytes, 0, sizeof(member->bytes));
	member->bin = (struct bin){
		.next = BIN_NONE,
		.use = BIN_CALLS,
		.kind = like->kind,
		.level = like->level,
		.size_shift = BIN_SHIFT,
		.sequence = like->sequence,
	};
	call_code_begin(&member->encoder, &member->bin, time, like->time_shift);
	member->open = true;
}

/* --- records ---------------------------------------------------------------------------------- */

static int put_record(struct regroup *regroup, const struct call *record, const struct bin *from)
{
	uint32_t number =
		record->thread < regroup->nr_threads ? regroup->member_of[record->thread] : 0;
	struct member *member;
	int err = 0;

	if (!number)
		return 0;
	member = &regroup->members[number - 1];
	if (member->open && (bin_room(&member->bin) < CALL_CODE_MAX_RECORD ||
	                     member->bin.time_shift != from->time_shift))
		err = close_bin(regroup, member);
	if (!member->open)
		open_bin(member, from, record->leave);
	call_code_put(&member->encoder, &member->bin, record);
	return err;
}

static int regroup_bin(struct regroup *regroup, const struct bin *bin)
{
	struct call record;
	int got = call_code_open(regroup->cursor, bin, bin_size(bin)), err = got;

	while (!err && (got = call_code_next(regroup->cursor, &record)) == 1)
		err = put_record(regroup, &record, bin);
	return err ? err : got;
}

/* Goes through one list after the other, so that the bins of each thread have that order, too. */
static int regroup_all(struct regroup *regroup)
{
	const struct bin_position *position = regroup->positions->positions,
				  *end = position + regroup->positions->nr;
	int err = 0;

	for (; position < end && !err; position++) {
		err = regroup_bin(regroup, position->bin);
		if (!err && (position + 1 == end || position[1].list != position->list))
			err = close_bins(regroup);
	}
	return err;
}

/* Chooses the next threads with calls. Returns where to search for the ones after them. */
static uint32_t choose_members(struct regroup *regroup, const uint64_t *nr_calls, uint32_t thread)
{
	for (uint32_t i = 0; i < regroup->nr_members; i++)
		regroup->member_of[regroup->members[i].thread] = 0;
	regroup->nr_members = 0;
	for (; thread < regroup->nr_threads && regroup->nr_members < GROUP_SIZE; thread++) {
		if (!nr_calls[thread])
			continue;
		regroup->members[regroup->nr_members].thread = thread;
		regroup->member_of[thread] = ++regroup->nr_members;
	}
	return thread;
}

static int map_bins(const struct regroup *regroup)
{
	struct call_regrouped *out = regroup->out;
	const char *at;

	if (!regroup->size)
		return 0;
	at = mmap(NULL, (size_t)regroup->size, PROT_READ, MAP_SHARED, regroup->scratch->fd,
	          regroup->scratch->from);
	if (at == MAP_FAILED)
		return -errno;
	out->map = (void *)at;
	out->map_size = (size_t)regroup->size;
	for (size_t i = 0; i < out->nr; i++) {
		out->positions[i].bin = (const void *)at;
		at += bin_size(out->positions[i].bin);
	}
	return 0;
}

static int regroup_groups(struct regroup *regroup, const uint64_t *nr_calls)
{
	uint32_t next = 0;
	int err = 0;

	while (!err && next < regroup->nr_threads) {
		next = choose_members(regroup, nr_calls, next);
		err = regroup_all(regroup);
	}
	return err ? err : map_bins(regroup);
}

struct call_regrouped *call_regroup(const struct bin_positions *positions,
                                    const struct scratch *scratch, const uint64_t *nr_calls,
                                    uint32_t nr_threads)
{
	struct regroup regroup = {
		.out = calloc(1, sizeof(*regroup.out)),
		.positions = positions,
		.cursor = call_cursor_new(),
		.members = calloc(GROUP_SIZE, sizeof(*regroup.members)),
		.member_of = calloc(nr_threads + 1UL, sizeof(*regroup.member_of)),
		.nr_threads = nr_threads,
		.scratch = scratch,
	};
	int err = -ENOMEM;

	if (regroup.out && regroup.cursor && regroup.members && regroup.member_of)
		err = regroup_groups(&regroup, nr_calls);
	free(regroup.cursor);
	free(regroup.members);
	free(regroup.member_of);
	if (!err)
		return regroup.out;
	call_regrouped_free(regroup.out);
	errno = -err;
	return NULL;
}

void call_regrouped_free(struct call_regrouped *regrouped)
{
	if (!regrouped)
		return;
	if (regrouped->map)
		munmap(regrouped->map, regrouped->map_size);
	free(regrouped->positions);
	free(regrouped->threads);
	free(regrouped);
}
