/*
 * The events of a location: samples, and calls with what they did.
 *
 * A call of MPI is entered with a context: the one that a sample in it was taken in; where there is
 * none, nobody knows who called it, and a region that says so stands for its callers, at the root
 * or below the user's region around it. A sample in an MPI call is told from that call on; one in a
 * region of the user's has all its functions below the region, for where among them it was entered
 * is not known.
 */
#include "output/otf2/otf2_location.h"

#include "output/views/call_text.h"
#include "output/text/escape.h"
#include "output/views/mpi_paths.h"
#include "trace/call_sources.h"
#include "base/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_MOVED 4096 /* functions of a path that is told from a call on */

/* --- contexts --------------------------------------------------------------------------------- */

static uint32_t child_of(struct archive *archive, uint32_t caller, uint32_t region)
{
	uint64_t key = (uint64_t)caller << 32 | region;
	uint32_t number = map64_number(&archive->context_by_key, key);
	struct otf2_context *grown;

	if (number < archive->nr_contexts)
		return paths_nr(archive->paths) + number;
	grown = array_grow(archive->contexts, archive->nr_contexts, sizeof(*grown));
	if (otf2_failed(archive, number == UINT32_MAX ? NULL : grown))
		return 0;
	archive->contexts = grown;
	archive->contexts[archive->nr_contexts++] = (struct otf2_context){caller, region};
	return paths_nr(archive->paths) + number;
}

/*
 * The context of a path's functions from below `above` (PATH_NONE: from the root) on, when they are
 * told below another context. *nr: how many they are.
 */
static uint32_t moved_below(struct archive *archive, uint32_t context, uint32_t path,
                            uint32_t above, uint32_t *nr)
{
	const struct paths *paths = archive->paths;
	uint64_t key = (uint64_t)context << 32 | path;
	uint32_t functions[MAX_MOVED], known;

	*nr = 0;
	for (uint32_t at = path; at != above && at != PATH_NONE; at = paths_caller(paths, at))
		if (*nr < MAX_MOVED)
			functions[(*nr)++] = paths_leaf(paths, at);
	known = map64_get(&archive->moved, key);
	if (known != UINT32_MAX)
		return known;
	for (uint32_t i = *nr; i-- > 0;)
		context = child_of(archive, context, functions[i]);
	if (map64_add(&archive->moved, key, context) && !archive->err)
		archive->err = -ENOMEM;
	return context;
}

/* --- samples ---------------------------------------------------------------------------------- */

static void put_sample(struct location *location, uint64_t time, uint32_t context,
                       uint32_t distance, uint32_t rate)
{
	struct archive *archive = location->archive;

	otf2_check(archive, OTF2_EvtWriter_CallingContextSample(
				    location->writer, NULL, time, context, distance,
				    archive->plan.generator_of_rate[rate]));
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
	otf2_write_counters(location, time);
	if (!in) {
		put_sample(location, time, sample->path, archive->depths[sample->path] + 1,
		           sample->rate);
		return;
	}
	if (in->mpi)
		above = mpi_paths_outermost(archive->paths, archive->mpi, sample->path);
	/* Sampled on the way into the call or out of it, or with a stack that ends before. */
	if (in->mpi && above == PATH_NONE)
		context = in->context;
	else
		context = moved_below(archive, in->context, sample->path, above, &nr);
	put_sample(location, time, context, nr + 1, sample->rate);
}

static void next_sample(struct location *location)
{
	struct archive *archive = location->archive;
	int got = spool_next(archive->spool, &location->sample);

	location->more_samples = got == 1;
	if (got < 0 && !archive->err)
		archive->err = got;
	if (got == 1 && !archive->err)
		archive->err = convert_step(archive->conversion);
}

/* --- calls ------------------------------------------------------------------------------------ */

static struct entered *push(struct location *location)
{
	struct entered *grown =
		array_reach(location->stack, location->depth, &location->deepest, sizeof(*grown));

	if (otf2_failed(location->archive, grown))
		return NULL;
	location->stack = grown;
	return &location->stack[location->depth++];
}

/* The path of a sample in the call down to MPI's function; PATH_NONE: none tells. */
static uint32_t sampled_inside(const struct location *location, const struct call *call)
{
	if (!location->more_samples || location->sample.time < call->enter ||
	    location->sample.time >= call->leave)
		return PATH_NONE;
	return mpi_paths_outermost(location->archive->paths, location->archive->mpi,
	                           location->sample.path);
}

static void count_call(struct location *location, bool known)
{
	struct otf2_calls *calls = &location->archive->nr_calls[location->thread];

	calls->nr++;
	calls->known += known;
}

/* The context of a call that is entered now, and how far it is below what is known to be there. */
static uint32_t context_of(struct location *location, const struct call *call, bool mpi,
                           uint32_t *distance)
{
	struct archive *archive = location->archive;
	uint32_t region = otf2_region(archive, call->region);
	uint32_t path = mpi ? sampled_inside(location, call) : PATH_NONE;
	uint32_t caller = path == PATH_NONE ? PATH_NONE : paths_caller(archive->paths, path);
	const struct entered *in = location->depth ? &location->stack[location->depth - 1] : NULL;
	uint32_t below = in ? in->context : PATH_NONE, nr = 0;

	if (mpi)
		count_call(location, path != PATH_NONE);
	if (mpi && path == PATH_NONE && !(in && in->mpi)) {
		below = child_of(archive, below, otf2_unknown_callers(archive));
		nr = 1;
	} else if (!in && caller != PATH_NONE) {
		below = caller;
		nr = archive->depths[caller];
	} else if (caller != PATH_NONE && !in->mpi) {
		below = moved_below(archive, below, caller, PATH_NONE, &nr);
	}
	*distance = nr + 2;
	return child_of(archive, below, region);
}

static void put_enter(struct location *location, uint64_t time, const struct entered *what,
                      uint32_t distance)
{
	struct archive *archive = location->archive;
	struct entered *entered = push(location);

	if (!entered)
		return;
	*entered = *what;
	if (archive->conversion->enter_leave)
		otf2_check(archive,
		           OTF2_EvtWriter_Enter(location->writer, NULL, time, what->region));
	else
		otf2_check(archive, OTF2_EvtWriter_CallingContextEnter(location->writer, NULL, time,
		                                                       what->context, distance));
}

void otf2_leave_region(struct location *location, uint64_t time)
{
	struct archive *archive = location->archive;
	const struct entered *entered = &location->stack[--location->depth];

	if (archive->conversion->enter_leave)
		otf2_check(archive,
		           OTF2_EvtWriter_Leave(location->writer, NULL, time, entered->region));
	else
		otf2_check(archive, OTF2_EvtWriter_CallingContextLeave(location->writer, NULL, time,
		                                                       entered->context));
}

void otf2_enter_region(struct location *location, uint64_t time, uint32_t region)
{
	const struct entered *in = location->depth ? &location->stack[location->depth - 1] : NULL;
	struct entered entered = {.region = region, .iteration = true};

	if (!location->archive->conversion->enter_leave)
		entered.context = child_of(location->archive, in ? in->context : PATH_NONE, region);
	put_enter(location, time, &entered, 2);
}

bool otf2_in_mpi(const struct location *location)
{
	return location->depth && location->stack[location->depth - 1].mpi;
}

static void write_enter(struct location *location, const struct call_moment *moment)
{
	struct archive *archive = location->archive;
	const struct call *call = moment->call;
	const struct trace_region *region = trace_region(archive->trace, call->region);
	struct entered entered = {
		.region = otf2_region(archive, call->region),
		.mpi = trace_region_is_mpi(region->region_class),
	};
	uint32_t distance = 0;

	if (entered.mpi) {
		location->told = message_reader_next(location->messages, call);
		if (otf2_failed(archive, location->told))
			return;
	}
	if (!archive->conversion->enter_leave)
		entered.context = context_of(location, call, entered.mpi, &distance);
	otf2_team_begun(location, moment->time, call->region);
	put_enter(location, moment->time, &entered, distance);
	otf2_write_begun(location, moment->time, call);
}

static void write_leave(struct location *location, const struct call_moment *moment)
{
	otf2_cut_iteration(location, moment->time);
	if (!location->depth)
		return;
	otf2_write_done(location, moment->time, moment->call);
	otf2_leave_region(location, moment->time);
	otf2_team_done(location, moment->time, moment->call->region);
}

static void write_value(struct location *location, const struct call_moment *moment, double number)
{
	static const OTF2_Type type = OTF2_TYPE_DOUBLE;
	struct archive *archive = location->archive;
	uint32_t metric =
		otf2_value_class(archive, otf2_number(&archive->metrics, moment->call->region));
	const OTF2_MetricValue value = {.floating_point = number};

	otf2_check(archive, OTF2_EvtWriter_Metric(location->writer, NULL, moment->time, metric, 1,
	                                          &type, &value));
}

static void write_point(struct location *location, const struct call_moment *moment)
{
	const struct call *call = moment->call;
	char name[OTF2_TEXT_SIZE], *text;
	double value;

	if (call_value(call, &value)) {
		write_value(location, moment, value);
		return;
	}
	/* A recorder keeps no longer names. */
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1,
	         trace_region_name(location->archive->trace, call->region));
	text = escape_copy(name);
	if (!otf2_failed(location->archive, text))
		otf2_write_marker(location->archive, moment->time,
		                  location->archive->plan.location_of_thread[location->thread],
		                  text);
	free(text);
}

static void write_moment(struct location *location)
{
	const struct call_moment *moment = &location->moment;

	if (!trace_region(location->archive->trace, moment->call->region))
		return;
	if (moment->type == CALL_ENTERED)
		write_enter(location, moment);
	else if (moment->type == CALL_LEFT)
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
	if (got < 0 && !archive->err)
		archive->err = got;
	if (got == 1 && ++archive->nr_moments % (1 << 16) == 0)
		otf2_tick(archive);
}

/*
 * A sample at the time at which a call is entered belongs to the call. A sample at the time at
 * which it is left does not.
 */
static void write_all(struct location *location)
{
	struct archive *archive = location->archive;

	next_sample(location);
	next_moment(location);
	iteration_follower_init(&location->follower, &archive->iterations, location->thread);
	while (!archive->err && (location->more_samples || location->more_calls)) {
		if (location->more_calls &&
		    (!location->more_samples || location->moment.time <= location->sample.time)) {
			if (location->moment.type == CALL_ENTERED)
				otf2_iterations_before_call(location, location->moment.call);
			location->last = location->moment.time;
			write_moment(location);
			next_moment(location);
		} else {
			otf2_iterations_before(location, location->sample.time);
			if (location->sample.time > location->last)
				location->last = location->sample.time;
			write_sample(location, location->last);
			next_sample(location);
		}
	}
	otf2_iterations_before(location, UINT64_MAX);
}

static void write_location(struct archive *archive, uint32_t thread)
{
	struct location location = {.archive = archive, .thread = thread};

	location.writer =
		OTF2_Archive_GetEvtWriter(archive->otf2, archive->plan.location_of_thread[thread]);
	if (otf2_failed(archive, location.writer))
		return;
	if (spool_has_calls(archive->spool, thread)) {
		location.calls = call_stream_new(archive->spool->calls, thread);
		if (!location.calls && !archive->err)
			archive->err = -errno;
	}
	location.messages = message_reader_new(archive->pairs, 0, thread);
	if (otf2_failed(archive, location.messages))
		goto out;
	spool_open(archive->spool, thread);
	write_all(&location);
out:
	message_reader_free(location.messages);
	call_stream_free(location.calls);
	map64_fini(&location.requests);
	free(location.stack);
	otf2_check(archive,
	           OTF2_EvtWriter_GetNumberOfEvents(location.writer, &archive->nr_events[thread]));
	otf2_check(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, location.writer));
	otf2_tick(archive); /* it may have no events, and takes time all the same */
}

/* A rank that is not in the trace has no events, and a file for them. */
static void write_missing(struct archive *archive, uint32_t location)
{
	OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive->otf2, location);

	if (!otf2_failed(archive, writer))
		otf2_check(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, writer));
	otf2_tick(archive);
}

void otf2_write_events(struct archive *archive)
{
	otf2_check(archive, OTF2_Archive_OpenEvtFiles(archive->otf2));
	for (uint32_t i = 0; i < archive->plan.nr_threads && !archive->err; i++)
		write_location(archive, i);
	for (uint32_t i = 0; i < archive->plan.nr_ranks && !archive->err; i++)
		if (archive->plan.thread_of_location[i] == PLAN_NONE)
			write_missing(archive, i);
	otf2_check(archive, OTF2_Archive_CloseEvtFiles(archive->otf2));
}
