#include "trace/merge/merge_match.h"

#include "trace/mpi_names.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_WAITING (1u << 20) /* ends of messages without the other one */
#define MAX_OPEN    (1u << 12) /* collectives that some have not reached */

/* One end of a message, in a queue of ends that may have the same other end. */
struct end {
	uint64_t time;
	uint32_t next; /* + 1 */
};

/*
 * Ends of messages of one sender, receiver, communicator and tag: either sends wait or receives.
 * One in which nothing waits is given back.
 */
struct queue {
	uint64_t key;
	uint32_t first, last; /* + 1; first of one that was given back: the next such queue */
	bool sends;
};

/* The members of a collective on one host. */
struct presence {
	uint64_t entered, left; /* latest, earliest */
	bool any;
};

/* A collective that some members have reached. */
struct meeting {
	uint64_t comm, sequence;
	uint32_t left;          /* members to come; 0: not in use */
	struct presence *hosts; /* of all numbers; NULL: not in use */
};

struct matcher {
	struct clocks *clocks;
	const uint32_t *host_of_rank;
	uint32_t nr_ranks;
	struct map64 queue_by_key, sequence_by_key;
	struct queue *queues;
	uint32_t nr_queues, unused_queues; /* unused_queues: list, + 1 */
	struct end *ends;
	uint32_t nr_ends, unused; /* unused: list of ends given back, + 1 */
	bool full;                /* an end found no room: from then on nothing waits for others */
	uint64_t *sequences;
	uint32_t nr_sequences;
	struct meeting *meetings;
};

struct matcher *matcher_new(struct clocks *clocks, const uint32_t *host_of_rank, uint32_t nr_ranks)
{
	struct matcher *matcher = calloc(1, sizeof(*matcher));

	if (!matcher)
		return NULL;
	*matcher = (struct matcher){
		.clocks = clocks, .host_of_rank = host_of_rank, .nr_ranks = nr_ranks};
	matcher->ends = malloc(MAX_WAITING * sizeof(*matcher->ends));
	matcher->meetings = calloc(MAX_OPEN, sizeof(*matcher->meetings));
	if (matcher->ends && matcher->meetings)
		return matcher;
	matcher_free(matcher);
	return NULL;
}

void matcher_free(struct matcher *matcher)
{
	if (!matcher)
		return;
	map64_fini(&matcher->queue_by_key);
	map64_fini(&matcher->sequence_by_key);
	free(matcher->queues);
	free(matcher->ends);
	free(matcher->sequences);
	for (unsigned i = 0; matcher->meetings && i < MAX_OPEN; i++)
		free(matcher->meetings[i].hosts);
	free(matcher->meetings);
	free(matcher);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

static uint32_t host_of(const struct matcher *matcher, int32_t rank)
{
	return rank >= 0 && (uint32_t)rank < matcher->nr_ranks ? matcher->host_of_rank[rank]
	                                                       : UINT32_MAX;
}

/* --- messages --------------------------------------------------------------------------------- */

static struct queue *queue_new(struct matcher *matcher, uint64_t key)
{
	uint32_t number = matcher->unused_queues ? matcher->unused_queues - 1 : matcher->nr_queues;
	struct queue *grown;

	if (number == matcher->nr_queues) {
		grown = array_grow(matcher->queues, matcher->nr_queues, sizeof(*grown));
		if (!grown)
			return NULL;
		matcher->queues = grown;
	}
	if (map64_add(&matcher->queue_by_key, key, number))
		return NULL;
	if (number == matcher->nr_queues)
		matcher->nr_queues++;
	else
		matcher->unused_queues = matcher->queues[number].first;
	matcher->queues[number] = (struct queue){.key = key};
	return &matcher->queues[number];
}

static void queue_give(struct matcher *matcher, struct queue *queue)
{
	map64_remove(&matcher->queue_by_key, queue->key);
	queue->first = matcher->unused_queues;
	matcher->unused_queues = (uint32_t)(queue - matcher->queues) + 1;
}

/* Returns NULL if nothing waits there. */
static struct queue *find_queue(const struct matcher *matcher, uint64_t key)
{
	uint32_t found = map64_get(&matcher->queue_by_key, key);

	return found != UINT32_MAX ? &matcher->queues[found] : NULL;
}

/* Returns 0 or -ENOMEM. */
static int queue_add(struct matcher *matcher, uint64_t key, bool send, uint64_t time)
{
	struct queue *queue = find_queue(matcher, key);
	uint32_t number = matcher->unused;

	matcher->full = matcher->full || (!number && matcher->nr_ends == MAX_WAITING);
	if (matcher->full)
		return 0;
	if (!queue)
		queue = queue_new(matcher, key);
	if (!queue)
		return -ENOMEM;
	if (number)
		matcher->unused = matcher->ends[number - 1].next;
	else
		number = ++matcher->nr_ends;
	matcher->ends[number - 1] = (struct end){.time = time};
	if (queue->first)
		matcher->ends[queue->last - 1].next = number;
	else
		queue->first = number;
	queue->last = number;
	queue->sends = send;
	return 0;
}

static uint64_t queue_take(struct matcher *matcher, struct queue *queue)
{
	uint32_t number = queue->first;
	struct end *end = &matcher->ends[number - 1];

	queue->first = end->next;
	end->next = matcher->unused;
	matcher->unused = number;
	if (!queue->first)
		queue_give(matcher, queue);
	return end->time;
}

static int match_message(struct matcher *matcher, const struct trace *trace, int32_t rank,
                         const struct call_part *part, bool send, uint64_t time)
{
	const struct trace_comm *comm = trace_comm(trace, part->comm);
	int32_t peer, from, to;
	struct queue *queue;
	uint64_t key, other;

	if (!comm || !comm->id)
		return 0;
	peer = trace_peer(trace, part->comm, part->peer);
	from = send ? rank : peer;
	to = send ? peer : rank;
	if (host_of(matcher, from) == UINT32_MAX || host_of(matcher, to) == UINT32_MAX ||
	    host_of(matcher, from) == host_of(matcher, to))
		return 0;
	key = mix(mix(comm->id, (uint64_t)(uint32_t)from << 32 | (uint32_t)to),
	          (uint32_t)part->tag);
	queue = find_queue(matcher, key);
	if (!queue || queue->sends == send)
		return queue_add(matcher, key, send, time);
	other = queue_take(matcher, queue);
	return clocks_bound(matcher->clocks, host_of(matcher, from), send ? time : other,
	                    host_of(matcher, to), send ? other : time);
}

/* --- collectives ------------------------------------------------------------------------------ */

/* Counts the collectives of a rank in a communicator. UINT64_MAX: no memory. */
static uint64_t next_sequence(struct matcher *matcher, uint64_t comm, int32_t rank)
{
	uint64_t key = mix(comm, (uint32_t)rank);
	uint32_t number = map64_number(&matcher->sequence_by_key, key);

	if (number < matcher->nr_sequences)
		return matcher->sequences[number]++;
	if (number == UINT32_MAX || ARRAY_ADD(matcher->sequences, matcher->nr_sequences, 1))
		return UINT64_MAX;
	return 0;
}

/* Returns NULL if there is no memory. */
static struct meeting *find_meeting(struct matcher *matcher, const struct trace_comm *comm,
                                    uint64_t sequence)
{
	struct meeting *meeting = &matcher->meetings[mix(comm->id, sequence) % MAX_OPEN];

	if (meeting->left && meeting->comm == comm->id && meeting->sequence == sequence)
		return meeting;
	free(meeting->hosts);
	*meeting = (struct meeting){
		.comm = comm->id,
		.sequence = sequence,
		.left = comm->nr_members,
		.hosts = calloc(matcher->clocks->nr, sizeof(*meeting->hosts)),
	};
	return meeting->hosts ? meeting : NULL;
}

static void meeting_note(struct meeting *meeting, uint32_t host, const struct call *call)
{
	struct presence *presence = &meeting->hosts[host];

	if (!presence->any || call->enter > presence->entered)
		presence->entered = call->enter;
	if (!presence->any || call->leave < presence->left)
		presence->left = call->leave;
	presence->any = true;
}

/*
 * Each host with the first one of all that are there: enough to bring them together, and with the
 * same one in every collective, so that pairs are no more than hosts.
 */
static int meeting_bounds(struct matcher *matcher, const struct meeting *meeting)
{
	const struct presence *hosts = meeting->hosts;
	uint32_t first = 0;
	int err = 0;

	while (!hosts[first].any)
		first++;
	for (uint32_t i = first + 1; i < matcher->clocks->nr && !err; i++) {
		if (!hosts[i].any)
			continue;
		err = clocks_bound(matcher->clocks, first, hosts[first].entered, i, hosts[i].left);
		if (!err)
			err = clocks_bound(matcher->clocks, i, hosts[i].entered, first,
			                   hosts[first].left);
	}
	return err;
}

static int meeting_end(struct matcher *matcher, struct meeting *meeting)
{
	int err = meeting_bounds(matcher, meeting);

	free(meeting->hosts);
	meeting->hosts = NULL;
	return err;
}

/*
 * A library may skip a collective of no bytes, except a barrier, so nobody need have waited in it.
 */
static bool all_wait(struct mpi_collective collective, const struct call_part *part)
{
	return collective.all_wait &&
	       (part->bytes || part->bytes_in || collective.operation == MPI_OP_BARRIER);
}

static int match_collective(struct matcher *matcher, const struct trace *trace, int32_t rank,
                            const struct call *call, const struct call_part *part)
{
	struct mpi_collective collective = mpi_collective(trace_region_name(trace, call->region));
	const struct trace_comm *comm = trace_comm(trace, part->comm);
	struct meeting *meeting;
	uint64_t sequence;

	if (!collective.blocking || !comm || !comm->id || comm->nr_members < 2 ||
	    comm->flags & TRACE_COMM_INTER || host_of(matcher, rank) == UINT32_MAX)
		return 0;
	sequence = next_sequence(matcher, comm->id, rank);
	if (sequence == UINT64_MAX)
		return -ENOMEM;
	if (!all_wait(collective, part))
		return 0;
	meeting = find_meeting(matcher, comm, sequence);
	if (!meeting)
		return -ENOMEM;
	meeting_note(meeting, host_of(matcher, rank), call);
	return --meeting->left ? 0 : meeting_end(matcher, meeting);
}

int matcher_call(struct matcher *matcher, const struct trace *trace, int32_t rank,
                 const struct call *call)
{
	int err = 0;

	if (call->flags & CALL_UNFINISHED)
		return 0;
	for (uint32_t i = 0; i < call->nr_parts && !err; i++) {
		const struct call_part *part = &call->parts[i];

		if (part->type == CALL_SEND || part->type == CALL_SEND_POSTED)
			err = match_message(matcher, trace, rank, part, true, call->enter);
		else if (part->type == CALL_RECEIVE || part->type == CALL_RECEIVE_DONE)
			err = match_message(matcher, trace, rank, part, false, call->leave);
		else if (part->type == CALL_COLLECTIVE)
			err = match_collective(matcher, trace, rank, call, part);
	}
	return err;
}
