#include "hmb/call_run.h"
#include "hmb/code_put.h"
#include "hmb/hmb.h"

#include <errno.h>
#include <stdlib.h>

static bool kind_valid(const struct hmb_kind_config *config)
{
	return config->time_shift <= CODE_MAX_TIME_SHIFT && config->nr_counters <= COUNTER_MAX;
}

static bool config_valid(const struct hmb_config *config)
{
	if (config->size < ARENA_MIN_SIZE || config->size > ARENA_MAX_SIZE || !config->nr_kinds ||
	    config->nr_kinds > HMB_MAX_KINDS)
		return false;
	for (unsigned k = 0; k < config->nr_kinds; k++)
		if (!kind_valid(&config->kinds[k]))
			return false;
	return true;
}

static void init_levels(struct hmb_kind *kind)
{
	for (unsigned l = 0; l < NR_LEVELS; l++)
		kind->levels[l].bins = kind->levels[l].sub_bins =
			(struct bin_list){BIN_NONE, BIN_NONE};
}

static int init_kind(struct hmb_kind *kind, const struct hmb_kind_config *config)
{
	kind->config = *config;
	kind->used = true;
	if (!config->nr_counters)
		return 0;
	kind->scale = calloc(1, sizeof(*kind->scale));
	if (!kind->scale)
		return -ENOMEM;
	kind->scale->nr = config->nr_counters;
	return 0;
}

struct hmb *hmb_new(const struct hmb_config *config)
{
	struct hmb *hmb;
	int err = 0;

	if (!config_valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	hmb = calloc(1, sizeof(*hmb));
	if (!hmb)
		return NULL;
	hmb->ledger = config->ledger;
	if (!hmb->ledger)
		hmb->ledger = hmb->own_ledger = calloc(1, sizeof(*hmb->ledger));
	if (!hmb->ledger) {
		free(hmb);
		return NULL;
	}
	hmb->ledger->nr_kinds = config->nr_kinds;
	arena_init(&hmb->arena, config->memory, config->size);
	hmb->arena.reserve = config->reserve;
	hmb->arena.release = config->release;
	hmb->arena.restore = config->restore;
	hmb->arena.arg = config->reserve_arg;
	hmb->nr_kinds = config->nr_kinds;
	for (unsigned k = 0; k < HMB_MAX_KINDS; k++)
		init_levels(&hmb->kinds[k]);
	for (unsigned k = 0; k < hmb->nr_kinds && !err; k++)
		err = init_kind(&hmb->kinds[k], &config->kinds[k]);
	if (err || cct_init(&hmb->cct, &hmb->arena, config->max_path, config->truncated_frame)) {
		hmb_free(hmb);
		errno = ENOMEM;
		return NULL;
	}
	return hmb;
}

void hmb_free(struct hmb *hmb)
{
	if (!hmb)
		return;
	for (unsigned k = 0; k < hmb->nr_kinds; k++) {
		for (unsigned l = 0; l < NR_LEVELS; l++)
			free(hmb->kinds[k].levels[l].encoder);
		free(hmb->kinds[k].scale);
	}
	for (unsigned c = 0; c < 2; c++)
		while (hmb->spare[c].nr)
			free(hmb->spare[c].encoders[--hmb->spare[c].nr]);
	cct_fini(&hmb->cct);
	free(hmb->own_ledger);
	free(hmb);
}

/* --- giving back ------------------------------------------------------------------------------ */

static uint64_t level_records(const struct hmb_level *level)
{
	return level->nr_before + (level->open ? level->open->nr_records : 0);
}

/* Keeps the encoder of a level: to free one takes longer than all the rest of closing a level. */
static void spare_encoder(struct hmb *hmb, const struct hmb_kind *kind, struct hmb_level *level)
{
	struct hmb_spare *spare = &hmb->spare[kind->config.content];

	if (!level->encoder)
		return;
	if (spare->nr < HMB_MAX_SPARE)
		spare->encoders[spare->nr++] = level->encoder;
	else
		free(level->encoder);
}

/* Gives the memory of a level back, of which nothing is stored any more. */
static void level_empty(struct hmb *hmb, struct hmb_kind *kind, struct hmb_level *level)
{
	struct arena *arena = &hmb->arena;

	kind->bytes -= ((uint64_t)level->nr_bins << arena->bin_shift) +
	               ((uint64_t)level->nr_sub_bins << arena->sub_shift);
	hmb->cct.nr_nodes -= level->nr_nodes;
	arena_splice(arena, &level->bins, false, level->nr_bins);
	arena_splice(arena, &level->sub_bins, true, level->nr_sub_bins);
	spare_encoder(hmb, kind, level);
	*level = (struct hmb_level){
		.bins = {BIN_NONE, BIN_NONE},
		.sub_bins = {BIN_NONE, BIN_NONE},
	};
}

void hmb_close_lowest(struct hmb *hmb, unsigned kind, uint64_t time, enum hmb_cause cause)
{
	struct hmb_kind *k = &hmb->kinds[kind];
	struct hmb_ledger *ledger = hmb->ledger;
	unsigned floor = hmb_floor(hmb, kind);
	struct hmb_level *level = &k->levels[floor];

	if (floor == NR_LEVELS)
		return;
	ledger->reductions[kind][floor] = (struct hmb_reduction){
		.time = time,
		.kind = kind,
		.cause = cause,
		.floor = floor + 1,
		.bins = level->nr_bins + level->nr_sub_bins,
	};
	ledger->order[kind][floor] = ledger->nr_reductions++;
	ledger->reduced[kind] += level_records(level);
	/* The floor comes last, so that the ledger tells of the reduction after a crash. */
	__atomic_store_n(&ledger->floor[kind], floor + 1, __ATOMIC_RELEASE);
	level_empty(hmb, k, level);
}

/*
 * The order matters to readers of the ledger, after a crash or at any time: first all bins of the
 * kind are dead, then its floor falls, else it would bring dead bins to life.
 */
void hmb_clear(struct hmb *hmb, unsigned kind)
{
	struct hmb_kind *k = &hmb->kinds[kind];
	struct hmb_ledger *ledger = hmb->ledger;
	unsigned floor = hmb_floor(hmb, kind);

	ledger->cleared = ++hmb->arena.sequence;
	__atomic_store_n(&ledger->since[kind], ledger->cleared, __ATOMIC_RELEASE);
	ledger->taken[kind] = ledger->reduced[kind] = 0;
	__atomic_store_n(&ledger->floor[kind], 0, __ATOMIC_RELEASE);
	for (; floor < NR_LEVELS; floor++)
		level_empty(hmb, k, &k->levels[floor]);
	if (!hmb->cct.nr_nodes)
		cct_clear(hmb);
}

static int add_kind_as(struct hmb *hmb, unsigned kind, const struct hmb_kind_config *config)
{
	int err;

	if (!kind_valid(config))
		return -EINVAL;
	if (kind >= HMB_MAX_KINDS || hmb->kinds[kind].used)
		return -ENOSPC;
	err = init_kind(&hmb->kinds[kind], config);
	if (err)
		return err;
	if (kind >= hmb->nr_kinds)
		hmb->nr_kinds = kind + 1;
	__atomic_store_n(&hmb->ledger->nr_kinds, hmb->nr_kinds, __ATOMIC_RELEASE);
	return (int)kind;
}

int hmb_add_kind(struct hmb *hmb, const struct hmb_kind_config *config)
{
	unsigned kind = 0;

	while (kind < HMB_MAX_KINDS && hmb->kinds[kind].used)
		kind++;
	return add_kind_as(hmb, kind, config);
}

int hmb_add_last_kind(struct hmb *hmb, const struct hmb_kind_config *config)
{
	unsigned kind = HMB_MAX_KINDS - 1;

	while (kind && hmb->kinds[kind].used)
		kind--;
	return add_kind_as(hmb, kind, config);
}

static void level_rest(struct hmb *hmb, const struct hmb_kind *kind, struct hmb_level *level)
{
	level->nr_before = level_records(level);
	level->open = NULL;
	level->full = 0;
	spare_encoder(hmb, kind, level);
	level->encoder = NULL;
}

void hmb_rest(struct hmb *hmb, unsigned kind)
{
	struct hmb_kind *k = &hmb->kinds[kind];

	for (unsigned l = 0; l < NR_LEVELS; l++)
		level_rest(hmb, k, &k->levels[l]);
}

static int by_order(const void *a, const void *b, void *arg)
{
	const struct hmb_reduction *x = a, *y = b;
	const struct hmb_ledger *ledger = arg;
	uint32_t of_x = ledger->order[x->kind][x->floor - 1];
	uint32_t of_y = ledger->order[y->kind][y->floor - 1];

	return (of_x > of_y) - (of_x < of_y);
}

uint32_t hmb_reductions(const struct hmb_ledger *ledger,
                        struct hmb_reduction to[HMB_MAX_REDUCTIONS])
{
	uint32_t nr = 0;

	for (uint32_t k = 0; k < ledger->nr_kinds && k < HMB_MAX_KINDS; k++) {
		for (uint32_t l = 0; l < ledger->floor[k] && l < NR_LEVELS; l++) {
			to[nr] = ledger->reductions[k][l];
			to[nr].kind = k; /* a damaged ledger may say anything */
			to[nr++].floor = l + 1;
		}
	}
	qsort_r(to, nr, sizeof(*to), by_order, (void *)(uintptr_t)ledger);
	return nr;
}

/*
 * Returns the kind that has most bytes; of equal ones the first. Kinds with a share are not taken.
 * If none has any, it is the kind that needs memory.
 */
static unsigned victim(const struct hmb *hmb, unsigned wanting)
{
	unsigned found = wanting;
	uint64_t most = 0;

	for (unsigned k = 0; k < hmb->nr_kinds; k++) {
		const struct hmb_kind *kind = &hmb->kinds[k];

		if (!kind->config.share && kind->bytes > most) {
			most = kind->bytes;
			found = k;
		}
	}
	if (most)
		return found;
	for (unsigned k = 0; k < hmb->nr_kinds; k++)
		if (hmb->kinds[k].bytes)
			return k;
	return wanting;
}

/* Returns the bytes of the kinds that a kind shares its share with, and the largest of them. */
static uint64_t pool_bytes(const struct hmb *hmb, unsigned kind, unsigned *largest)
{
	const unsigned pool = hmb->kinds[kind].config.pool;
	uint64_t sum = 0;

	*largest = kind;
	if (!pool)
		return hmb->kinds[kind].bytes;
	for (unsigned k = 0; k < hmb->nr_kinds; k++) {
		if (hmb->kinds[k].config.pool != pool)
			continue;
		sum += hmb->kinds[k].bytes;
		if (hmb->kinds[k].bytes > hmb->kinds[*largest].bytes)
			*largest = k;
	}
	return sum;
}

static void close_for_share(struct hmb *hmb, unsigned kind, uint64_t time)
{
	do {
		hmb_close_lowest(hmb, kind, time, HMB_CAUSE_SHARE);
	} while (!hmb->kinds[kind].config.by_level && hmb_floor(hmb, kind) < NR_LEVELS);
}

/*
 * Closes the lowest level of a kind that has more than its share, or all of them: what is left of
 * communication may mislead where its levels are not worth something alone. Returns false if no
 * kind has.
 */
static bool close_over_share(struct hmb *hmb, uint64_t time)
{
	unsigned largest;

	for (unsigned k = 0; k < hmb->nr_kinds; k++) {
		const size_t share = hmb->kinds[k].config.share;

		if (!share || pool_bytes(hmb, k, &largest) <= share)
			continue;
		close_for_share(hmb, largest, time);
		return true;
	}
	return false;
}

/* Takes a bin for (kind, level). Returns NULL if that level was closed to find one. */
static struct bin *take(struct hmb *hmb, enum bin_use use, bool sub, unsigned kind, unsigned level,
                        uint64_t time)
{
	for (;;) {
		struct bin *bin = arena_take(&hmb->arena, use, sub);

		hmb->ledger->nr_bins = hmb->arena.fresh;
		if (bin)
			return bin;
		if (!close_over_share(hmb, time))
			hmb_close_lowest(hmb, victim(hmb, kind), time, HMB_CAUSE_MEMORY);
		if (level < hmb_floor(hmb, kind))
			return NULL;
	}
}

static bool holds_bins(const struct hmb *hmb)
{
	for (unsigned k = 0; k < hmb->nr_kinds; k++)
		if (hmb->kinds[k].bytes)
			return true;
	return false;
}

/* Pages of the index whose nodes have gone are merged one pair at a time. */
static void tidy_index(struct hmb *hmb)
{
	for (uint32_t i = hmb->cct.index.nr_pages; i; i--)
		cct_tidy(hmb);
	if (!hmb->cct.nr_nodes)
		cct_clear(hmb);
}

static void close_until(struct hmb *hmb, uint32_t nr_bins, uint64_t time)
{
	const struct arena *arena = &hmb->arena;

	while (arena->nr_bins - arena->nr_free > nr_bins && holds_bins(hmb)) {
		if (!close_over_share(hmb, time))
			hmb_close_lowest(hmb, victim(hmb, 0), time, HMB_CAUSE_MEMORY);
		tidy_index(hmb);
	}
}

size_t hmb_least_limit(const struct hmb *hmb)
{
	const size_t least = (size_t)HMB_LEAST_BINS << hmb->arena.bin_shift;

	return least > ARENA_MIN_SIZE ? least : ARENA_MIN_SIZE;
}

int hmb_set_limit(struct hmb *hmb, size_t size, uint64_t time)
{
	struct arena *arena = &hmb->arena;

	if (size < hmb_least_limit(hmb))
		return -EINVAL;
	if (size > arena->size)
		size = arena->size;
	for (unsigned k = 0; k < hmb->nr_kinds; k++) {
		size_t *share = &hmb->kinds[k].config.share;

		*share = (size_t)((double)*share * ((double)size / (double)arena->limit));
	}
	arena->limit = size;
	close_until(hmb, (uint32_t)(size >> arena->bin_shift), time);
	arena_set_limit(arena, (uint32_t)(size >> arena->bin_shift));
	return 0;
}

struct bin *hmb_take_index(struct hmb *hmb, unsigned kind, unsigned level, uint64_t time)
{
	return take(hmb, BIN_INDEX, false, kind, level, time);
}

/* --- putting ---------------------------------------------------------------------------------- */

static void begin_counters(const struct hmb_kind *kind, struct hmb_level *level, struct bin *bin)
{
	uint8_t shifts[COUNTER_MAX];

	counter_scale_shifts(kind->scale, shifts);
	code_begin_counters(level->encoder, bin, kind->config.nr_counters, shifts);
}

/* Returns an encoder of the kind's content, which one that is used again need not be emptied for.
 */
static void *new_encoder(struct hmb *hmb, const struct hmb_kind *kind)
{
	struct hmb_spare *spare = &hmb->spare[kind->config.content];

	if (spare->nr)
		return spare->encoders[--spare->nr];
	return kind->config.content == HMB_CALLS ? calloc(1, sizeof(struct call_encoder))
	                                         : malloc(sizeof(struct code_encoder));
}

static bool start_coding(struct hmb *hmb, const struct hmb_kind *kind, struct hmb_level *level,
                         struct bin *bin, uint64_t time)
{
	const struct hmb_kind_config *config = &kind->config;

	if (!level->encoder)
		level->encoder = new_encoder(hmb, kind);
	if (!level->encoder)
		return false;
	if (config->content == HMB_CALLS) {
		call_code_begin(level->calls, bin, time, config->time_shift);
		return true;
	}
	code_begin(level->encoder, bin, time, config->time_shift, config->stream_owner,
	           arena_nodes(&hmb->arena));
	if (kind->scale)
		begin_counters(kind, level, bin);
	return true;
}

/* The largest size of a record with its counters. */
static size_t record_room(const struct hmb_kind *kind)
{
	return CODE_MAX_RECORD + counter_max_record(kind->config.nr_counters);
}

static bool start_bin(struct hmb *hmb, struct hmb_level *level, struct bin *bin, uint64_t time)
{
	struct hmb_kind *k = &hmb->kinds[bin->kind];

	if (!start_coding(hmb, k, level, bin, time))
		return false;
	if (bin->size_shift == hmb->arena.bin_shift) {
		bin_list_append(&hmb->arena, &level->bins, bin);
		level->nr_bins++;
	} else {
		bin_list_append(&hmb->arena, &level->sub_bins, bin);
		level->nr_sub_bins++;
	}
	k->bytes += bin_size(bin);
	if (level->open)
		level->nr_before += level->open->nr_records;
	level->open = bin;
	level->full = 0;
	cct_tidy(hmb);
	return true;
}

struct bin *hmb_next_bin(struct hmb *hmb, unsigned kind, unsigned level, uint64_t time)
{
	struct hmb_kind *k = &hmb->kinds[kind];
	struct hmb_level *l = &k->levels[level];
	static const enum bin_use uses[] = {
		[HMB_SAMPLES] = BIN_SAMPLES,
		[HMB_CALLS] = BIN_CALLS,
	};
	struct bin *bin;

	bin = take(hmb, uses[k->config.content], !l->open && !l->nr_bins, kind, level, time);
	if (!bin)
		return NULL;
	bin->kind = (uint8_t)kind;
	bin->level = (uint8_t)level;
	if (start_bin(hmb, l, bin, time))
		return bin;
	arena_give(&hmb->arena, bin);
	return NULL;
}

static void note_counters(struct hmb_kind *kind, const struct hmb_sample *sample)
{
	bool of_thread = kind->config.stream_owner == STREAM_OF_THREAD;

	counter_scale_note(kind->scale, of_thread ? sample->thread : sample->cpu, sample->counters);
}

static inline struct code_sample coded_sample(const struct hmb_sample *sample, uint32_t context)
{
	return (struct code_sample){
		.time = sample->time,
		.step = sample->step,
		.leaf = sample->leaf,
		.context = context,
		.thread = sample->thread,
		.cpu = sample->cpu,
		.counters = sample->counters,
	};
}

static struct hmb_level *level_of(struct hmb *hmb, const struct hmb_sample *sample)
{
	return &hmb->kinds[sample->kind].levels[sample->level];
}

/*
 * Tells whether the level's open bin surely has room. False for its first record, or with counters.
 */
static inline bool has_room(const struct hmb_level *level, const struct bin *bin)
{
	return bin && bin->record_bytes + bin->node_bytes < level->full;
}

/* Returns a bin with room for the sample and its counters, or NULL if its level is closed. */
static struct bin *make_room(struct hmb *hmb, const struct hmb_sample *sample)
{
	struct hmb_kind *k = &hmb->kinds[sample->kind];

	if (sample->level < hmb_floor(hmb, sample->kind))
		return NULL;
	if (k->scale)
		note_counters(k, sample);
	return hmb_room(hmb, sample->kind, sample->level, record_room(k), sample->time);
}

/* A function of its own, so that the code for a usual sample is short. */
__attribute__((noinline)) static bool put_any(struct hmb *hmb, const struct hmb_sample *sample,
                                              uint32_t context)
{
	const struct code_sample coded = coded_sample(sample, context);
	struct hmb_level *level = level_of(hmb, sample);
	struct bin *bin = level->open;

	if (!has_room(level, bin))
		bin = make_room(hmb, sample);
	if (!bin)
		return false;
	code_put(level->encoder, bin, &coded);
	if (!bin->nr_counters)
		level->full = (uint32_t)(bin_size(bin) - sizeof(*bin) - CODE_MAX_RECORD + 1);
	return true;
}

bool hmb_put_at(struct hmb *hmb, const struct hmb_sample *sample, uint32_t context)
{
	struct hmb_level *level = level_of(hmb, sample);
	struct code_encoder *encoder = level->encoder;
	struct bin *bin = level->open;

	hmb->ledger->taken[sample->kind]++;
	if (!has_room(level, bin) ||
	    !code_site_expected(encoder, code_who(sample->thread, sample->cpu))) {
		bool stored = put_any(hmb, sample, context);

		hmb->ledger->reduced[sample->kind] += !stored;
		return stored;
	}
	return code_put_expected(encoder, bin, sample->time, context, sample->leaf);
}

bool hmb_put(struct hmb *hmb, const struct hmb_sample *sample)
{
	uint32_t context = NODE_NONE;

	if (sample->path_size && sample->level >= hmb_floor(hmb, sample->kind)) {
		context = cct_intern(hmb, sample);
		/* Unless this raised the floor, the context is missing: memory was refused. */
		if (context == NODE_NONE && sample->level >= hmb_floor(hmb, sample->kind))
			hmb->truncated++;
	}
	return hmb_put_at(hmb, sample, context);
}

/* Stores a record of a call. The last record counts the call. */
static bool put_piece(struct hmb *hmb, unsigned kind, unsigned level, const struct call *piece)
{
	struct hmb_kind *k = &hmb->kinds[kind];
	struct bin *bin;

	if (level < hmb_floor(hmb, kind))
		return false;
	bin = hmb_room(hmb, kind, level, CALL_CODE_ROOM(piece->nr_parts), piece->leave);
	if (!bin)
		return false;
	call_code_put(k->levels[level].calls, bin, piece);
	k->levels[level].nr_before -= !!(piece->flags & CALL_CONTINUED);
	return true;
}

/* Stores a call in as many records as it needs. */
static bool put_pieces(struct hmb *hmb, unsigned kind, unsigned level, const struct call *call)
{
	struct call piece = *call;
	uint32_t left = call->nr_parts;

	for (piece.nr_parts = CALL_CODE_PARTS; left > CALL_CODE_PARTS; left -= CALL_CODE_PARTS) {
		piece.flags = call->flags | CALL_CONTINUED;
		piece.alike = 0;
		if (!put_piece(hmb, kind, level, &piece))
			return false;
		piece.parts += CALL_CODE_PARTS;
	}
	piece.flags = call->flags;
	piece.nr_parts = left;
	return put_piece(hmb, kind, level, &piece);
}

bool hmb_put_call(struct hmb *hmb, unsigned kind, unsigned level, const struct call *call)
{
	struct hmb_level *l = &hmb->kinds[kind].levels[level];
	struct bin *bin = l->open; /* NULL if the level is closed */

	uint64_t counted = !(call->flags & CALL_CONTINUED);

	hmb->ledger->taken[kind] += counted;
	if (bin && bin_room(bin) >= CALL_CODE_MAX_RECORD && call_put_alike(l->calls, bin, call))
		return true;
	if (put_pieces(hmb, kind, level, call))
		return true;
	hmb->ledger->reduced[kind] += counted;
	return false;
}

bool hmb_begin_run(struct hmb *hmb, unsigned kind, unsigned level, struct call_run *run,
                   uint32_t thread, uint64_t time, const struct call_requests *requests)
{
	struct hmb_level *l = &hmb->kinds[kind].levels[level];

	return l->open && call_run_begin(run, l->calls, l->open, thread, time, requests);
}

void hmb_end_run(struct hmb *hmb, unsigned kind, const struct call_run *run)
{
	hmb->ledger->taken[kind] += run->nr;
	call_run_end(run);
}

/* --- figures ---------------------------------------------------------------------------------- */

uint64_t hmb_stored(const struct hmb *hmb, unsigned kind)
{
	uint64_t sum = 0;

	for (unsigned l = hmb_floor(hmb, kind); l < NR_LEVELS; l++)
		sum += level_records(&hmb->kinds[kind].levels[l]);
	return sum;
}

uint64_t hmb_stored_lowest(const struct hmb *hmb, unsigned kind)
{
	const unsigned floor = hmb_floor(hmb, kind);

	return floor < NR_LEVELS ? level_records(&hmb->kinds[kind].levels[floor]) : 0;
}

size_t hmb_size(const struct hmb *hmb)
{
	return (size_t)hmb->arena.nr_bins << hmb->arena.bin_shift;
}

size_t hmb_used(const struct hmb *hmb)
{
	const struct arena *arena = &hmb->arena;

	return ((size_t)(arena->nr_bins - arena->nr_free) << arena->bin_shift) -
	       ((size_t)arena->nr_free_sub << arena->sub_shift);
}

static size_t list_record_bytes(const struct arena *arena, const struct bin_list *list)
{
	size_t sum = 0;

	for (uint32_t ref = list->first; ref != BIN_NONE; ref = bin_at(arena, ref)->next)
		sum += bin_at(arena, ref)->record_bytes;
	return sum;
}

size_t hmb_record_bytes(const struct hmb *hmb)
{
	size_t sum = 0;

	for (unsigned k = 0; k < hmb->nr_kinds; k++)
		for (unsigned l = hmb_floor(hmb, k); l < NR_LEVELS; l++)
			sum += list_record_bytes(&hmb->arena, &hmb->kinds[k].levels[l].bins) +
			       list_record_bytes(&hmb->arena, &hmb->kinds[k].levels[l].sub_bins);
	return sum;
}

size_t hmb_context_bytes(const struct hmb *hmb)
{
	return hmb->cct.nr_nodes * sizeof(struct node) +
	       ((size_t)hmb->cct.index.nr_pages << hmb->arena.bin_shift);
}
