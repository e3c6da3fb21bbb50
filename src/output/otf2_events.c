/*
 * The events of a location: samples, and calls with what they did.
 *
 * A call is entered with a context: the one that a sample in it was taken in; where there is none,
 * nobody knows who called it, and it is a root of its own, or directly below the call around it. A
 * sample in an MPI call is told from that call on; one in a region of the user's has all its
 * functions below the region, for where among them it was entered is not known.
 */
#include "output/otf2_archive.h"

#include "output/escape.h"
#include "output/mpi_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MOVED 4096 /* functions of a path that is told from a call on */

/* A call that was entered. */
struct entered {
	uint32_t context; /* of OTF2 */
	uint32_t region;  /* of the trace */
	bool mpi;
};

/* A location on its way. */
struct location {
	struct archive *archive;
	OTF2_EvtWriter *writer;
	uint32_t thread;
	struct call_stream *calls; /* NULL: there are none */
	struct call_moment moment;
	bool more_calls, more_samples;
	struct spool_sample sample; /* the next one */
	struct entered *stack;
	unsigned depth, room;
	struct map64 requests; /* active ones that the archive was told of */
	uint64_t accesses;     /* one-sided ones so far */
};

/* --- contexts --------------------------------------------------------------------------------- */

static uint32_t child_of(struct archive *archive, uint32_t caller, uint32_t region)
{
	uint64_t key = (uint64_t)caller << 32 | region;
	uint32_t known = map64_get(&archive->context_by_key, key), number;
	uint32_t room = archive->contexts_room ? 2 * archive->contexts_room : 64;
	struct otf2_context *grown;

	if (known != UINT32_MAX)
		return known;
	if (archive->nr_contexts == archive->contexts_room) {
		grown = reallocarray(archive->contexts, room, sizeof(*grown));
		if (otf2_failed(archive, grown))
			return 0;
		archive->contexts = grown;
		archive->contexts_room = room;
	}
	number = archive->paths.nr_paths + archive->nr_contexts;
	if (map64_add(&archive->context_by_key, key, number)) {
		archive->error = -ENOMEM;
		return 0;
	}
	archive->contexts[archive->nr_contexts++] = (struct otf2_context){caller, region};
	return number;
}

/*
 * The context of a path's functions from below `above` (PATH_NONE: from the root) on, when they are
 * told below another context. *nr: how many they are.
 */
static uint32_t moved_below(struct archive *archive, uint32_t context, uint32_t path,
                            uint32_t above, uint32_t *nr)
{
	const struct paths *paths = &archive->paths;
	uint64_t key = (uint64_t)context << 32 | path;
	uint32_t functions[MAX_MOVED], known;

	*nr = 0;
	for (uint32_t at = path; at != above && at != PATH_NONE; at = paths->paths[at].caller)
		if (*nr < MAX_MOVED)
			functions[(*nr)++] = paths_leaf(paths, at);
	known = map64_get(&archive->moved, key);
	if (known != UINT32_MAX)
		return known;
	for (uint32_t i = *nr; i-- > 0;)
		context = child_of(archive, context, functions[i]);
	if (map64_add(&archive->moved, key, context) && !archive->error)
		archive->error = -ENOMEM;
	return context;
}

/* The outermost function of MPI on a path; PATH_NONE: there is none. */
static uint32_t outermost_mpi(const struct archive *archive, uint32_t path)
{
	uint32_t found = PATH_NONE;

	for (; path != PATH_NONE; path = archive->paths.paths[path].caller)
		if (archive->mpi[paths_leaf(&archive->paths, path)])
			found = path;
	return found;
}

/* --- samples ---------------------------------------------------------------------------------- */

static void put_sample(struct location *location, uint64_t time, uint32_t context,
                       uint32_t distance, uint32_t source)
{
	struct archive *archive = location->archive;

	otf2_check(archive, OTF2_EvtWriter_CallingContextSample(
				    location->writer, NULL, time, context, distance,
				    archive->plan.generator_of_source[source]));
}

/*
 * A sampler cannot see which functions were left and entered again between two samples, so
 * everything counts as newly entered: the depth, and 1 for what is below the root. In a call, what
 * is below it.
 */
static void write_sample(struct location *location, uint64_t time)
{
	struct archive *archive = location->archive;
	const struct spool_sample *sample = &location->sample;
	const struct entered *in = location->depth ? &location->stack[location->depth - 1] : NULL;
	uint32_t above = PATH_NONE, context, nr = 0;

	if (archive->conversion->enter_leave)
		return;
	if (!in) {
		put_sample(location, time, sample->path, archive->depths[sample->path] + 1,
		           sample->source);
		return;
	}
	if (in->mpi)
		above = outermost_mpi(archive, sample->path);
	/* Sampled on the way into the call or out of it, or with a stack that ends before. */
	if (in->mpi && above == PATH_NONE)
		context = in->context;
	else
		context = moved_below(archive, in->context, sample->path, above, &nr);
	put_sample(location, time, context, nr + 1, sample->source);
}

static void next_sample(struct location *location)
{
	struct archive *archive = location->archive;
	int got = spool_next(archive->spool, &location->sample);

	location->more_samples = got == 1;
	if (got < 0 && !archive->error)
		archive->error = got;
	if (got == 1 && !archive->error)
		archive->error = convert_step(archive->conversion);
}

/* --- what calls did --------------------------------------------------------------------------- */

/* The communicator of a part, if OTF2 was told of it and the peer is in it. */
static bool comm_of(const struct archive *archive, const struct call_part *part, bool peer,
                    uint32_t *number)
{
	const struct trace_comm *comm = trace_comm(archive->trace, part->comm);
	bool inter = comm && comm->flags & TRACE_COMM_INTER;

	if (!comm || archive->plan.comms[part->comm].number == PLAN_NONE)
		return false;
	*number = archive->plan.comms[part->comm].number;
	return !peer || (part->peer >= 0 &&
	                 (uint32_t)part->peer < (inter ? comm->nr_remote : comm->nr_members));
}

static bool active(const struct location *location, const struct call_part *part)
{
	return map64_get(&location->requests, part->request) != UINT32_MAX;
}

static void activate(struct location *location, const struct call_part *part)
{
	if (map64_add(&location->requests, part->request, 0) && !location->archive->error)
		location->archive->error = -ENOMEM;
}

/* A request without an end here (it was freed, or the program ended) is told as what is certain. */
static void write_posted(struct location *location, uint64_t time, const struct call_part *part)
{
	struct archive *archive = location->archive;
	bool ends =
		call_stream_completes(location->calls, part->request) && !active(location, part);
	uint32_t comm = 0;

	if (part->kind == CALL_SEND_POSTED && !comm_of(archive, part, true, &comm))
		return;
	if (part->kind == CALL_SEND_POSTED && !ends)
		otf2_check(archive, OTF2_EvtWriter_MpiSend(location->writer, NULL, time,
		                                           (uint32_t)part->peer, comm,
		                                           (uint32_t)part->tag, part->bytes));
	if (!ends)
		return;
	activate(location, part);
	if (part->kind == CALL_SEND_POSTED)
		otf2_check(archive, OTF2_EvtWriter_MpiIsend(
					    location->writer, NULL, time, (uint32_t)part->peer,
					    comm, (uint32_t)part->tag, part->bytes, part->request));
	else if (part->kind == CALL_RECEIVE_POSTED)
		otf2_check(archive, OTF2_EvtWriter_MpiIrecvRequest(location->writer, NULL, time,
		                                                   part->request));
	else
		otf2_check(archive, OTF2_EvtWriter_NonBlockingCollectiveRequest(
					    location->writer, NULL, time, part->request));
}

static void write_received(struct location *location, uint64_t time, const struct call_part *part)
{
	struct archive *archive = location->archive;
	bool requested = part->kind == CALL_RECEIVE_DONE && active(location, part);
	uint32_t comm;

	if (!comm_of(archive, part, true, &comm)) {
		/* The request must end all the same. */
		if (requested)
			otf2_check(archive, OTF2_EvtWriter_MpiRequestCancelled(
						    location->writer, NULL, time, part->request));
		return;
	}
	if (requested)
		otf2_check(archive, OTF2_EvtWriter_MpiIrecv(
					    location->writer, NULL, time, (uint32_t)part->peer,
					    comm, (uint32_t)part->tag, part->bytes, part->request));
	else
		otf2_check(archive, OTF2_EvtWriter_MpiRecv(location->writer, NULL, time,
		                                           (uint32_t)part->peer, comm,
		                                           (uint32_t)part->tag, part->bytes));
}

static const char *name_of(const struct location *location, const struct call *call)
{
	return trace_region_name(location->archive->trace, call->region);
}

static OTF2_CollectiveOp operation_of(const char *name)
{
	enum mpi_operation operation = mpi_collective(name).operation;

	/* OTF2 has no other one: nothing else is said of it. */
	return operation == MPI_OP_OTHER ? OTF2_COLLECTIVE_OP_BARRIER
	                                 : (OTF2_CollectiveOp)operation;
}

static uint32_t root_of(const struct archive *archive, const struct call_part *part)
{
	uint32_t comm;

	return part->peer != CALL_NO_PEER && comm_of(archive, part, true, &comm)
	               ? (uint32_t)part->peer
	               : OTF2_COLLECTIVE_ROOT_NONE;
}

static void write_collective(struct location *location, uint64_t time, const struct call *call,
                             const struct call_part *part, bool end)
{
	struct archive *archive = location->archive;
	uint32_t comm;

	if (!comm_of(archive, part, false, &comm))
		return;
	if (!end)
		otf2_check(archive,
		           OTF2_EvtWriter_MpiCollectiveBegin(location->writer, NULL, time));
	else
		otf2_check(archive, OTF2_EvtWriter_MpiCollectiveEnd(
					    location->writer, NULL, time,
					    operation_of(name_of(location, call)), comm,
					    root_of(archive, part), part->bytes, part->bytes_in));
}

/* The call that completes it is not the one that it is named after. */
static void write_collective_done(struct location *location, uint64_t time,
                                  const struct call_part *part)
{
	struct archive *archive = location->archive;
	uint32_t comm;

	if (!active(location, part))
		return;
	if (!comm_of(archive, part, false, &comm)) {
		otf2_check(archive, OTF2_EvtWriter_MpiRequestCancelled(location->writer, NULL, time,
		                                                       part->request));
		return;
	}
	otf2_check(archive,
	           OTF2_EvtWriter_NonBlockingCollectiveComplete(
			   location->writer, NULL, time, OTF2_COLLECTIVE_OP_BARRIER, comm,
			   root_of(archive, part), part->bytes, part->bytes_in, part->request));
}

static void write_access(struct location *location, uint64_t time, const struct call_part *part,
                         bool end)
{
	struct archive *archive = location->archive;
	uint32_t comm, *window, peer = (uint32_t)part->peer;
	OTF2_EvtWriter *to = location->writer;

	if (!comm_of(archive, part, true, &comm))
		return;
	window = &archive->windows[part->comm];
	if (*window == PLAN_NONE)
		*window = archive->nr_windows++;
	if (end)
		otf2_check(archive, OTF2_EvtWriter_RmaOpCompleteBlocking(to, NULL, time, *window,
		                                                         location->accesses++));
	else if (part->kind == CALL_PUT)
		otf2_check(archive, OTF2_EvtWriter_RmaPut(to, NULL, time, *window, peer,
		                                          part->bytes, location->accesses));
	else if (part->kind == CALL_GET)
		otf2_check(archive, OTF2_EvtWriter_RmaGet(to, NULL, time, *window, peer,
		                                          part->bytes, location->accesses));
	else
		otf2_check(archive, OTF2_EvtWriter_RmaAtomic(to, NULL, time, *window, peer,
		                                             OTF2_RMA_ATOMIC_TYPE_ACCUMULATE,
		                                             part->bytes, 0, location->accesses));
}

static void write_at_enter(struct location *location, uint64_t time, const struct call *call,
                           const struct call_part *part)
{
	struct archive *archive = location->archive;
	uint32_t comm;

	switch (part->kind) {
	case CALL_SEND:
		if (comm_of(archive, part, true, &comm))
			otf2_check(archive,
			           OTF2_EvtWriter_MpiSend(location->writer, NULL, time,
			                                  (uint32_t)part->peer, comm,
			                                  (uint32_t)part->tag, part->bytes));
		break;
	case CALL_SEND_POSTED:
	case CALL_RECEIVE_POSTED:
	case CALL_COLLECTIVE_POSTED:
		write_posted(location, time, part);
		break;
	case CALL_COLLECTIVE:
		write_collective(location, time, call, part, false);
		break;
	default:
		break;
	}
}

static void write_request_event(struct location *location, uint64_t time,
                                const struct call_part *part)
{
	struct archive *archive = location->archive;

	if (!active(location, part))
		return;
	if (part->kind == CALL_SEND_DONE)
		otf2_check(archive, OTF2_EvtWriter_MpiIsendComplete(location->writer, NULL, time,
		                                                    part->request));
	else if (part->kind == CALL_TEST_FAILED)
		otf2_check(archive, OTF2_EvtWriter_MpiRequestTest(location->writer, NULL, time,
		                                                  part->request));
	else
		otf2_check(archive, OTF2_EvtWriter_MpiRequestCancelled(location->writer, NULL, time,
		                                                       part->request));
}

static void write_at_leave(struct location *location, uint64_t time, const struct call *call,
                           const struct call_part *part)
{
	switch (part->kind) {
	case CALL_RECEIVE:
	case CALL_RECEIVE_DONE:
		write_received(location, time, part);
		break;
	case CALL_SEND_DONE:
	case CALL_TEST_FAILED:
	case CALL_CANCELLED:
		write_request_event(location, time, part);
		break;
	case CALL_COLLECTIVE:
		write_collective(location, time, call, part, true);
		break;
	case CALL_COLLECTIVE_DONE:
		write_collective_done(location, time, part);
		break;
	case CALL_PUT:
	case CALL_GET:
	case CALL_ATOMIC:
		write_access(location, time, part, false);
		write_access(location, time, part, true);
		break;
	default:
		break;
	}
	if (call_part_fields(part->kind) & PART_REQUEST &&
	    !(call_part_fields(part->kind) & PART_POSTS) && part->kind != CALL_TEST_FAILED)
		map64_remove(&location->requests, part->request);
}

/* A call is one collective at most: what else it did stands inside. */
static bool shows(const struct call *call, uint32_t i)
{
	if (call->parts[i].kind != CALL_COLLECTIVE)
		return true;
	while (i-- > 0)
		if (call->parts[i].kind == CALL_COLLECTIVE)
			return false;
	return true;
}

/* --- calls ------------------------------------------------------------------------------------ */

static struct entered *push(struct location *location)
{
	unsigned room = location->room ? 2 * location->room : 16;
	struct entered *grown;

	if (location->depth == location->room) {
		grown = reallocarray(location->stack, room, sizeof(*grown));
		if (otf2_failed(location->archive, grown))
			return NULL;
		location->stack = grown;
		location->room = room;
	}
	return &location->stack[location->depth++];
}

/* The path of a sample in the call down to MPI's function; PATH_NONE: none tells. */
static uint32_t sampled_inside(const struct location *location, const struct call *call)
{
	if (!location->more_samples || location->sample.time < call->enter ||
	    location->sample.time >= call->leave)
		return PATH_NONE;
	return outermost_mpi(location->archive, location->sample.path);
}

/* The context of a call that is entered now, and how far it is below what is known to be there. */
static uint32_t context_of(struct location *location, const struct call *call, bool mpi,
                           uint32_t *distance)
{
	struct archive *archive = location->archive;
	uint32_t region = otf2_region(archive, call->region);
	uint32_t path = mpi ? sampled_inside(location, call) : PATH_NONE;
	uint32_t caller = path == PATH_NONE ? PATH_NONE : archive->paths.paths[path].caller;
	uint32_t below = location->depth ? location->stack[location->depth - 1].context : PATH_NONE;
	uint32_t nr = 0;

	if (below == PATH_NONE) {
		*distance = caller == PATH_NONE ? 2 : archive->depths[caller] + 2;
		return child_of(archive, caller, region);
	}
	if (caller != PATH_NONE && !location->stack[location->depth - 1].mpi)
		below = moved_below(archive, below, caller, PATH_NONE, &nr);
	*distance = nr + 2;
	return child_of(archive, below, region);
}

static void write_enter(struct location *location, const struct call_moment *moment)
{
	struct archive *archive = location->archive;
	const struct call *call = moment->call;
	const struct trace_region *region = trace_region(archive->trace, call->region);
	bool mpi = trace_region_is_mpi(region->region_class);
	uint32_t distance = 0, context = 0;
	struct entered *entered;

	if (!archive->conversion->enter_leave)
		context = context_of(location, call, mpi, &distance);
	entered = push(location);
	if (!entered)
		return;
	*entered = (struct entered){.context = context, .region = call->region, .mpi = mpi};
	if (archive->conversion->enter_leave)
		otf2_check(archive, OTF2_EvtWriter_Enter(location->writer, NULL, moment->time,
		                                         otf2_region(archive, call->region)));
	else
		otf2_check(archive,
		           OTF2_EvtWriter_CallingContextEnter(location->writer, NULL, moment->time,
		                                              context, distance));
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (shows(call, i))
			write_at_enter(location, moment->time, call, &call->parts[i]);
}

static void write_leave(struct location *location, const struct call_moment *moment)
{
	struct archive *archive = location->archive;
	const struct entered *entered = &location->stack[location->depth - 1];
	const struct call *call = moment->call;

	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (shows(call, i))
			write_at_leave(location, moment->time, call, &call->parts[i]);
	if (archive->conversion->enter_leave)
		otf2_check(archive, OTF2_EvtWriter_Leave(location->writer, NULL, moment->time,
		                                         otf2_region(archive, entered->region)));
	else
		otf2_check(archive,
		           OTF2_EvtWriter_CallingContextLeave(location->writer, NULL, moment->time,
		                                              entered->context));
	location->depth--;
}

static void write_value(struct location *location, const struct call_moment *moment,
                        const struct call_part *part)
{
	static const OTF2_Type type = OTF2_TYPE_DOUBLE;
	struct archive *archive = location->archive;
	uint32_t *metric = &archive->metrics[moment->call->region];
	OTF2_MetricValue value;

	if (*metric == PLAN_NONE)
		*metric = archive->nr_metrics++;
	memcpy(&value.floating_point, &part->bytes, sizeof(value.floating_point));
	otf2_check(archive, OTF2_EvtWriter_Metric(location->writer, NULL, moment->time, *metric, 1,
	                                          &type, &value));
}

static void write_point(struct location *location, const struct call_moment *moment)
{
	const struct call *call = moment->call;
	bool value = false;
	char *text;

	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (call->parts[i].kind == CALL_VALUE) {
			write_value(location, moment, &call->parts[i]);
			value = true;
		}
	if (value)
		return;
	text = escape_copy(name_of(location, call));
	if (!otf2_failed(location->archive, text))
		otf2_write_marker(location->archive, moment->time, location->thread, text);
	free(text);
}

static void write_moment(struct location *location)
{
	const struct call_moment *moment = &location->moment;

	if (!trace_region(location->archive->trace, moment->call->region))
		return;
	if (moment->kind == CALL_ENTERED)
		write_enter(location, moment);
	else if (moment->kind == CALL_LEFT)
		write_leave(location, moment);
	else
		write_point(location, moment);
}

/* --- a location ------------------------------------------------------------------------------- */

static void next_moment(struct location *location)
{
	struct archive *archive = location->archive;
	int got = location->calls ? call_stream_next(location->calls, &location->moment) : 0;

	location->more_calls = got == 1;
	if (got < 0 && !archive->error)
		archive->error = got;
}

/* What is sampled when a call is entered is in it; when it is left, it is not. */
static void write_all(struct location *location)
{
	struct archive *archive = location->archive;
	uint64_t last = 0;

	next_sample(location);
	next_moment(location);
	while (!archive->error && (location->more_samples || location->more_calls)) {
		if (location->more_calls &&
		    (!location->more_samples || location->moment.time <= location->sample.time)) {
			last = location->moment.time;
			write_moment(location);
			next_moment(location);
		} else {
			last = location->sample.time > last ? location->sample.time : last;
			write_sample(location, last);
			next_sample(location);
		}
	}
}

static void write_location(struct archive *archive, uint32_t thread)
{
	struct location location = {.archive = archive, .thread = thread};

	location.writer = OTF2_Archive_GetEvtWriter(archive->otf2, thread);
	if (otf2_failed(archive, location.writer))
		return;
	if (thread < archive->calls->nr_threads && archive->calls->nr[thread]) {
		location.calls = call_stream_new(archive->calls, thread);
		if (!location.calls && !archive->error)
			archive->error = -errno;
	}
	spool_open(archive->spool, thread);
	write_all(&location);
	call_stream_free(location.calls);
	map64_fini(&location.requests);
	free(location.stack);
	otf2_check(archive,
	           OTF2_EvtWriter_GetNumberOfEvents(location.writer, &archive->nr_events[thread]));
	otf2_check(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, location.writer));
}

/* A rank that is not in the trace has no events, and a file for them. */
static void write_missing(struct archive *archive, uint32_t location)
{
	OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive->otf2, location);

	if (!otf2_failed(archive, writer))
		otf2_check(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, writer));
}

void otf2_write_events(struct archive *archive)
{
	otf2_check(archive, OTF2_Archive_OpenEvtFiles(archive->otf2));
	for (uint32_t i = 0; i < archive->plan.nr_threads && !archive->error; i++)
		write_location(archive, i);
	for (uint32_t i = archive->plan.nr_threads; i < archive->plan.nr_locations; i++)
		if (!archive->error)
			write_missing(archive, i);
	otf2_check(archive, OTF2_Archive_CloseEvtFiles(archive->otf2));
}
