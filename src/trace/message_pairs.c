#include "trace/message_pairs.h"

#include "base/array.h"
#include "base/map64.h"
#include "hmb/channel.h"
#include "hmb/segment.h"
#include "trace/message_epochs.h"

#include <errno.h>
#include <stdlib.h>

/* Ends of messages in one direction with one tag, or collectives of one communicator. */
struct channel {
	uint64_t next;  /* number of its next end */
	uint64_t hash;  /* what an end adds to the balance */
	uint64_t epoch; /* in which some of its ends were counted */
	uint32_t in_epoch;
	uint32_t place; /* in the counts of the open iteration, if it has any there */
	bool counted;   /* sums count it */
};

#define OTHER_CHANNEL 1                   /* of what has no other end */
#define MOST_WORK     (UINT64_C(1) << 30) /* of all threads, for a file may say anything */
#define NO_PAIR       UINT32_MAX          /* more ends than there are */

/* How many ends of each channel an iteration of a pattern has. */
struct channel_count {
	uint32_t channel;
	uint32_t nr;
};

struct pattern_counts {
	struct channel_count *counts;
	uint32_t nr;
	uint32_t wide; /* its collectives of all ranks */
	bool known;
};

/* The key is the same at all ends of a pair. */
struct pair {
	uint64_t key;   /* 0: the part needs no other end */
	uint64_t epoch; /* see number_in_epoch() */
	uint32_t ends;
	bool receives, needs_epoch;
};

/* How far a thread is: see struct trace_iterations. */
struct progress {
	uint64_t collectives, balance;
	bool known;
	bool in_epoch; /* all calls since the last collective of all ranks were seen */
	bool begun;    /* a message or a collective was seen */
};

struct message_reader {
	const struct message_pairs *of;
	const struct message_source *source;
	uint32_t thread;
	int32_t rank;
	struct iteration_follower follower;
	struct map64 by_key;
	struct channel *channels;
	uint32_t nr_channels;
	struct pattern_counts open; /* of the iteration that is open */
	struct pattern_counts patterns[SEGMENT_LEVELS][SEGMENT_PATTERNS];
	struct progress progress;
	uint64_t epoch; /* number of the epochs that were begun */
	struct trace_iteration last;
	uint32_t own_comm, own_number; /* the rank's number in a communicator */
	/* An iteration was dropped of which no other one is known, or too many were, or the
	 * numbers are not those that the program counted. */
	bool unknown;
	uint64_t work, most_work; /* additions to channels */
	struct pair *pairs;
	bool *told;
	uint32_t room;
};

struct message_pairs {
	const struct message_source *sources;
	uint32_t nr_sources;
	bool lacks_calls; /* of iterations; else everything has a pair */
	struct map64 by_key;
	uint32_t *ends; /* of a pair: 1 for a send, 1 << 16 for a receive; of a collective each */
	uint32_t nr;
	uint32_t most_members; /* of a communicator */
	bool by_epoch;         /* see number_in_epoch() */
	bool has_holes;        /* calls are missing beside those of iterations */
	bool has_gaps;         /* only calls of no iteration are missing beside those */
	struct message_epochs epochs;
};

/* --- numbers of ends -------------------------------------------------------------------------- */

#define NO_NUMBER UINT64_MAX /* there is no memory, or the end has no pair */

/* Counts an end in the open iteration. Returns how many there were before. */
static uint32_t count_end(struct message_reader *reader, uint32_t number)
{
	struct pattern_counts *open = &reader->open;
	struct channel *channel = &reader->channels[number];
	const struct channel_count fresh = {.channel = number};

	if (channel->place >= open->nr || open->counts[channel->place].channel != number) {
		channel->place = open->nr;
		if (ARRAY_ADD(open->counts, open->nr, fresh))
			return UINT32_MAX;
	}
	return open->counts[channel->place].nr++;
}

/*
 * Where the numbers of any thread are wrong, ends are counted from each collective of all ranks on.
 * They are right if no message was on its way behind that.
 */
static uint64_t number_in_epoch(struct message_reader *reader, struct channel *channel)
{
	uint32_t in_epoch;

	if (!reader->progress.in_epoch || reader->of->has_holes)
		return NO_NUMBER;
	if (channel->epoch != reader->epoch) {
		channel->epoch = reader->epoch;
		channel->in_epoch = 0;
	}
	in_epoch = channel->in_epoch++;
	return in_epoch == UINT32_MAX ? NO_NUMBER
	                              : lambda_mix(reader->progress.collectives << 32 | in_epoch);
}

/* Returns the number of the channel's next end, which adds its hash to the balance. */
static uint64_t number_end(struct message_reader *reader, uint64_t key, bool counted, uint64_t hash)
{
	uint32_t number = map64_number(&reader->by_key, key), place = 0;
	const struct channel fresh = {.counted = counted, .hash = hash};
	uint64_t next;

	reader->progress.balance += hash;
	if (number == UINT32_MAX || (number >= reader->nr_channels &&
	                             ARRAY_ADD(reader->channels, reader->nr_channels, fresh)))
		return NO_NUMBER;
	if (reader->follower.open)
		place = count_end(reader, number);
	next = reader->channels[number].next++;
	if (place == UINT32_MAX)
		return NO_NUMBER;
	return reader->of->by_epoch ? number_in_epoch(reader, &reader->channels[number]) : next;
}

/* A stored iteration has ended: others of its pattern have as many ends. */
static void keep_counts(struct message_reader *reader, struct pattern_counts *pattern)
{
	free(pattern->counts);
	*pattern = reader->open;
	pattern->known = true;
	reader->open = (struct pattern_counts){0};
}

/*
 * A dropped one has. Some of its calls may be there, because it went by moments. Those of upper
 * levels may have other numbers of inner iterations.
 */
static void add_counts(struct message_reader *reader, const struct pattern_counts *pattern)
{
	const struct pattern_counts *open = &reader->open;
	bool unknown =
		!pattern->known || reader->work > reader->most_work || open->nr || open->wide;

	reader->unknown |= unknown;
	if (reader->of->by_epoch &&
	    (unknown || reader->follower.iteration.level || !reader->of->has_gaps))
		reader->progress.known = false;
	if (unknown)
		return;
	reader->progress.collectives += pattern->wide;
	reader->work += pattern->nr;
	for (uint32_t i = 0; i < pattern->nr; i++) {
		struct channel *channel = &reader->channels[pattern->counts[i].channel];

		channel->next += pattern->counts[i].nr;
		reader->progress.balance += channel->hash * pattern->counts[i].nr;
	}
}

static void end_iteration(struct message_reader *reader)
{
	const struct trace_iteration *iteration = &reader->follower.iteration;
	struct pattern_counts *pattern =
		&reader->patterns[iteration->level % SEGMENT_LEVELS][iteration->pattern];

	if (iteration->stored)
		keep_counts(reader, pattern);
	else
		add_counts(reader, pattern);
}

/* An iteration begins. Behind dropped ones it says how far the thread is. */
static void begin_iteration(struct message_reader *reader)
{
	const struct trace_iteration *iteration = &reader->follower.iteration;
	struct progress *progress = &reader->progress;
	bool by_epoch = reader->of->by_epoch;

	if (!iteration->stored)
		progress->in_epoch = false;
	if (reader->of->has_gaps && !iterations_adjoin(&reader->last, iteration))
		progress->known = progress->in_epoch = false;
	if (!iteration->has_point)
		return;
	reader->unknown |= !by_epoch && progress->balance != iteration->balance;
	if (!by_epoch || (progress->known && progress->balance == iteration->balance &&
	                  progress->collectives == iteration->collectives))
		return;
	progress->collectives = iteration->collectives;
	progress->balance = iteration->balance;
	progress->in_epoch = false;
	progress->known = progress->begun = true;
}

static void pass_boundary(struct message_reader *reader, const struct call *call)
{
	bool begins = !reader->follower.open;

	if (begins)
		begin_iteration(reader);
	else
		end_iteration(reader);
	reader->open.nr = reader->open.wide = 0;
	reader->last = reader->follower.iteration;
	iteration_pass(&reader->follower, call);
}

/* --- epochs ----------------------------------------------------------------------------------- */

static bool is_wide_part(const struct message_reader *reader, const struct call_part *part)
{
	return trace_part_is_wide(reader->source->calls->trace, part, reader->of->most_members);
}

static bool is_wide(const struct message_reader *reader, const struct call *call)
{
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (is_wide_part(reader, &call->parts[i]))
			return true;
	return false;
}

static bool moves_messages(const struct call *call)
{
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (call_part_moves(call->parts[i].type) & PART_COUNTED)
			return true;
	return false;
}

/* epochs: to add it to; NULL: it was. Returns 0 or -ENOMEM. */
static int begin_epoch(struct message_reader *reader, struct message_epochs *epochs)
{
	struct progress *progress = &reader->progress;

	progress->begun = true;
	if (!progress->known)
		return 0;
	progress->in_epoch = true;
	reader->epoch++;
	return epochs ? message_epochs_add(epochs, progress->collectives, progress->balance) : 0;
}

/* All ranks begin together. Threads without messages and collectives do not count. */
static int begin_first_epoch(struct message_reader *reader, struct message_epochs *epochs,
                             const struct call *call)
{
	bool begins = reader->of->by_epoch && !reader->progress.begun &&
	              (is_wide(reader, call) || moves_messages(call));

	return begins ? begin_epoch(reader, epochs) : 0;
}

static int begin_next_epoch(struct message_reader *reader, struct message_epochs *epochs,
                            const struct call *call)
{
	if (!reader->of->by_epoch || !is_wide(reader, call))
		return 0;
	reader->progress.collectives++;
	reader->open.wide++;
	return begin_epoch(reader, epochs);
}

/* --- what a part pairs with ------------------------------------------------------------------- */

/* The rank's number in the group of a communicator; UINT32_MAX: it is not in there. */
static uint32_t own_number(struct message_reader *reader, uint32_t number,
                           const struct trace_comm *comm)
{
	uint32_t own = 0;

	if (reader->own_comm == number || reader->work > reader->most_work)
		return reader->own_comm == number ? reader->own_number : UINT32_MAX;
	while (own < comm->nr_members && trace_member(reader->source->calls->trace, number,
	                                              (int32_t)own, false) != reader->rank)
		own++;
	reader->work += own;
	reader->own_comm = number;
	reader->own_number = own < comm->nr_members ? own : UINT32_MAX;
	return reader->own_number;
}

/* Returns what a message adds to the balance. */
static uint64_t balance_of(struct message_reader *reader, const struct trace_comm *comm,
                           const struct call_part *part, bool receives)
{
	uint32_t own, other = (uint32_t)part->peer;

	if (!comm || part->peer < 0)
		return 0;
	own = own_number(reader, part->comm, comm);
	return receives ? -channel_hash(comm->id, other, own, part->tag)
	                : channel_hash(comm->id, own, other, part->tag);
}

static struct pair pair_of_message(struct message_reader *reader, const struct call_part *part,
                                   bool receives)
{
	const struct trace *trace = reader->source->calls->trace;
	const struct trace_comm *comm = trace_comm(trace, part->comm);
	int32_t peer = comm ? trace_peer(trace, part->comm, part->peer) : -1;
	int32_t from = receives ? peer : reader->rank, to = receives ? reader->rank : peer;
	struct pair pair = {.ends = 1 | 1 << 16, .receives = receives, .needs_epoch = true};
	uint64_t number, balance = balance_of(reader, comm, part, receives);

	if (!comm || from < 0 || to < 0) {
		number_end(reader, balance | OTHER_CHANNEL, true, balance);
		return (struct pair){0};
	}
	pair.key = channel_hash(comm->id, (uint32_t)from, (uint32_t)to, part->tag);
	number = number_end(reader, pair.key ^ receives, true, balance);
	pair.key = lambda_mix(pair.key ^ number) | 1;
	pair.epoch = reader->progress.collectives;
	pair.ends = number == NO_NUMBER ? NO_PAIR : pair.ends;
	return pair;
}

/* All members of a communicator call its collectives in one order, those of all ranks, too. */
static struct pair pair_of_collective(struct message_reader *reader, const struct call *call,
                                      const struct call_part *part)
{
	const struct trace_comm *comm = trace_comm(reader->source->calls->trace, part->comm);
	struct pair pair = {0};
	uint64_t number;

	if (!comm || comm->nr_members + comm->nr_remote < 2)
		return pair;
	pair.key = lambda_mix(~comm->id);
	number = number_end(reader, pair.key, false, 0);
	if (reader->of->by_epoch && is_wide_part(reader, part))
		number = reader->progress.known ? lambda_mix(reader->progress.collectives)
		                                : NO_NUMBER;
	pair.key = lambda_mix(pair.key ^ call->region);
	pair.key = (lambda_mix(pair.key ^ number) & ~UINT64_C(1)) + 2;
	pair.ends = number == NO_NUMBER ? NO_PAIR : comm->nr_members + comm->nr_remote;
	return pair;
}

static struct pair pair_of_part(struct message_reader *reader, const struct call *call,
                                const struct call_part *part)
{
	switch (part->type) {
	case CALL_SEND:
	case CALL_SEND_POSTED:
		return pair_of_message(reader, part, false);
	case CALL_RECEIVE:
	case CALL_RECEIVE_DONE:
		return pair_of_message(reader, part, true);
	case CALL_COLLECTIVE:
	case CALL_COLLECTIVE_POSTED:
		return pair_of_collective(reader, call, part);
	default:
		if (call_part_moves(part->type) & PART_COUNTED)
			number_end(reader, OTHER_CHANNEL, true, 0);
		return (struct pair){0};
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

struct message_reader *message_reader_new(const struct message_pairs *pairs, uint32_t source,
                                          uint32_t thread)
{
	struct message_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->of = pairs;
	reader->source = &pairs->sources[source];
	reader->thread = thread;
	reader->rank = trace_rank(reader->source->calls->trace, thread);
	reader->own_comm = UINT32_MAX;
	reader->progress.known = !pairs->has_gaps;
	reader->most_work =
		MOST_WORK / (reader->source->calls->nr_threads + 1UL) / pairs->nr_sources;
	iteration_follower_init(&reader->follower, reader->source->iterations, thread);
	return reader;
}

void message_reader_free(struct message_reader *reader)
{
	if (!reader)
		return;
	for (unsigned level = 0; level < SEGMENT_LEVELS; level++)
		for (unsigned i = 0; i < SEGMENT_PATTERNS; i++)
			free(reader->patterns[level][i].counts);
	map64_fini(&reader->by_key);
	free(reader->channels);
	free(reader->open.counts);
	free(reader->pairs);
	free(reader->told);
	free(reader);
}

static int make_room(struct message_reader *reader, uint32_t nr)
{
	uint32_t room = reader->room;

	if (ARRAY_RESERVE(reader->pairs, room, nr + 1) ||
	    ARRAY_RESERVE(reader->told, reader->room, nr + 1))
		return -ENOMEM;
	return 0;
}

/*
 * Finds what the parts of the next call pair with: there is room for them. epochs: to add those to
 * that begin; NULL: they were. Returns 0 or -ENOMEM.
 */
static int find_pairs(struct message_reader *reader, struct message_epochs *epochs,
                      const struct call *call)
{
	int err;

	while (call->nr_parts && iteration_is_due(&reader->follower, call))
		pass_boundary(reader, call);
	if (reader->of->has_gaps && !reader->follower.open)
		reader->progress.known = reader->progress.in_epoch = false;
	err = begin_first_epoch(reader, epochs, call);
	for (uint32_t i = 0; i < call->nr_parts; i++)
		reader->pairs[i] = pair_of_part(reader, call, &call->parts[i]);
	return err ? err : begin_next_epoch(reader, epochs, call);
}

static uint32_t ends_of(const struct message_pairs *pairs, uint64_t key)
{
	uint32_t number = map64_get(&pairs->by_key, key);

	return number < pairs->nr ? pairs->ends[number] : 0;
}

static bool has_ends(const struct message_pairs *pairs, const struct pair *pair)
{
	if (!pair->key)
		return true;
	if (pairs->by_epoch && pair->needs_epoch &&
	    !message_epochs_settled(&pairs->epochs, pair->epoch, pairs->most_members))
		return false;
	return ends_of(pairs, pair->key) == pair->ends;
}

const bool *message_reader_next(struct message_reader *reader, const struct call *call)
{
	const struct message_pairs *pairs = reader->of;

	if (make_room(reader, call->nr_parts))
		return NULL;
	if (pairs->lacks_calls && find_pairs(reader, NULL, call))
		return NULL;
	for (uint32_t i = 0; i < call->nr_parts; i++)
		reader->told[i] = !pairs->lacks_calls || has_ends(pairs, &reader->pairs[i]);
	return reader->told;
}

/* --- all threads ------------------------------------------------------------------------------ */

static int add_end(struct message_pairs *pairs, const struct pair *pair)
{
	uint32_t number;

	if (!pair->key)
		return 0;
	number = map64_number(&pairs->by_key, pair->key);
	if (number == UINT32_MAX || (number >= pairs->nr && ARRAY_ADD(pairs->ends, pairs->nr, 0)))
		return -ENOMEM;
	pairs->ends[number] += pair->receives ? 1U << 16 : 1U;
	return 0;
}

static int add_ends(struct message_pairs *pairs, struct message_reader *reader,
                    const struct call *call)
{
	int err = make_room(reader, call->nr_parts);

	if (!err)
		err = find_pairs(reader, &pairs->epochs, call);
	for (uint32_t i = 0; i < call->nr_parts && !err; i++)
		err = add_end(pairs, &reader->pairs[i]);
	return err;
}

/* Reads all calls of a thread, and adds their ends. */
static int read_thread(struct message_pairs *pairs, struct message_reader *reader)
{
	struct call_walk *walk = call_walk_thread(reader->source->calls, reader->thread);
	struct trace_call call;
	int err = walk ? 0 : -errno, got = 0;

	while (!err && (got = call_walk_next(walk, &call)) == 1)
		err = add_ends(pairs, reader, &call.call);
	while (reader->follower.more)
		pass_boundary(reader, NULL);
	call_walk_free(walk);
	return err ? err : got;
}

static uint64_t counted_ends(const struct message_reader *reader)
{
	uint64_t ends = 0;

	for (uint32_t i = 0; i < reader->nr_channels; i++)
		ends += reader->channels[i].counted ? reader->channels[i].next : 0;
	return ends;
}

/* Adds up the messages of each thread that the exact sums have. */
static void sum_ends(const struct trace *trace, uint64_t *ends, uint32_t nr)
{
	const struct trace_call_sum *sum;

	for (uint32_t i = 0; (sum = trace_call_sum(trace, i)); i++) {
		const struct trace_region *region = trace_region(trace, sum->region);

		if (sum->thread < nr && region && region->region_class != TRACE_VALUE)
			ends[sum->thread] += sum->sent + sum->received;
	}
}

/* Where a thread's numbers do not add up to its sum, *wrong is set. */
static int add_thread(struct message_pairs *pairs, uint32_t source, uint32_t thread, uint64_t sum,
                      bool *wrong)
{
	struct message_reader *reader = message_reader_new(pairs, source, thread);
	int err = reader ? read_thread(pairs, reader) : -ENOMEM;

	*wrong |= !err && (reader->unknown || counted_ends(reader) != sum);
	message_reader_free(reader);
	return err;
}

static int add_source(struct message_pairs *pairs, uint32_t source, bool *wrong)
{
	const struct call_index *calls = pairs->sources[source].calls;
	uint64_t *sums = calloc(calls->nr_threads + 1UL, sizeof(*sums));
	int err = sums ? 0 : -ENOMEM;

	if (sums)
		sum_ends(calls->trace, sums, calls->nr_threads);
	for (uint32_t i = 0; i < calls->nr_threads && !err; i++) {
		if (calls->nr[i])
			err = add_thread(pairs, source, i, sums[i], wrong);
		if (*wrong && !pairs->by_epoch)
			break;
	}
	free(sums);
	return err;
}

static int add_sources(struct message_pairs *pairs, bool *wrong)
{
	int err = 0;

	for (uint32_t i = 0; i < pairs->nr_sources && !err && (!*wrong || pairs->by_epoch); i++)
		err = add_source(pairs, i, wrong);
	return err;
}

static void forget_ends(struct message_pairs *pairs)
{
	map64_fini(&pairs->by_key);
	free(pairs->ends);
	pairs->ends = NULL;
	pairs->nr = 0;
}

static int find_ends(struct message_pairs *pairs)
{
	bool wrong = false;
	int err = add_sources(pairs, &wrong);

	if (err || !wrong)
		return err;
	forget_ends(pairs);
	pairs->by_epoch = true;
	return add_sources(pairs, &wrong);
}

/* Whether the policy dropped calls beside those of iterations that the program dropped. */
static bool has_dropped(const struct trace *trace)
{
	const struct trace_iterations *entry;

	for (uint32_t i = 0; (entry = trace_iterations(trace, i)); i++)
		if (entry->level & TRACE_ITERATIONS_GAPS)
			return true;
	return trace_calls_floor(trace) > 0;
}

/* With the policy `iterations`, those that are stored have all of their calls. */
static void find_missing(struct message_pairs *pairs, const struct trace *trace)
{
	const struct trace_instrument *instrument = trace_instrument(trace, 0);
	const bool whole = instrument && instrument->policy == TRACE_POLICY_ITERATIONS;
	const bool dropped = has_dropped(trace);

	pairs->has_gaps |= dropped && whole;
	pairs->has_holes |= (dropped && !whole) || trace_calls_lost(trace);
}

static void look_at_source(struct message_pairs *pairs, const struct message_source *source)
{
	const struct trace *trace = source->calls->trace;
	uint32_t most = trace_most_members(trace);

	if (most > pairs->most_members)
		pairs->most_members = most;
	find_missing(pairs, trace);
	pairs->lacks_calls |= source->iterations->nr && !trace_calls_complete(trace);
}

int message_pairs_new(struct message_pairs **pairs, const struct message_source *sources,
                      uint32_t nr)
{
	struct message_pairs *new = calloc(1, sizeof(*new));

	*pairs = new;
	if (!new)
		return -ENOMEM;
	new->sources = sources;
	new->nr_sources = nr;
	for (uint32_t i = 0; i < nr; i++)
		look_at_source(new, &sources[i]);
	return new->lacks_calls ? find_ends(new) : 0;
}

void message_pairs_free(struct message_pairs *pairs)
{
	if (!pairs)
		return;
	forget_ends(pairs);
	message_epochs_fini(&pairs->epochs);
	free(pairs);
}
