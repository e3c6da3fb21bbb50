/*
 * Teams of OpenMP's threads, as the fork-join model of OTF2 has them. All teams of a process are
 * one, whose members are the threads that were in regions: which of them were in one is told by
 * their events. The thread that forks enters and leaves the team at the begin and end of the
 * region; others do where their work was recorded.
 */
#include "output/otf2/otf2_location.h"

#include "trace/call_sources.h"

#include <errno.h>
#include <stdlib.h>

/* --- numbers ---------------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t thread, uint32_t region)
{
	return (uint64_t)thread << 32 | region;
}

int otf2_teams_init(struct otf2_teams *teams, const struct trace *trace, uint32_t nr_threads)
{
	const struct trace_openmp *sum;
	int err = 0;

	if (otf2_numbers_init(&teams->threads, nr_threads) ||
	    otf2_numbers_init(&teams->groups, 2 * nr_threads + trace_nr(trace, TRACE_THREADS)))
		return -ENOMEM;
	for (uint32_t i = 0; (sum = trace_openmp(trace, i)) && !err; i++)
		err = map64_add(&teams->sums, key_of(sum->thread, sum->region), i);
	return err;
}

void otf2_teams_fini(struct otf2_teams *teams)
{
	otf2_numbers_fini(&teams->threads);
	otf2_numbers_fini(&teams->groups);
	map64_fini(&teams->sums);
}

/* Returns OTF2's number of the team of a location, which becomes a member. */
static uint32_t team_of(const struct location *location)
{
	struct archive *archive = location->archive;
	uint32_t group = archive->plan.group_of_thread[location->thread];

	otf2_number(&archive->teams.threads, location->thread);
	return archive->plan.nr_comms + otf2_number(&archive->teams.groups, group);
}

/* --- events ----------------------------------------------------------------------------------- */

/* A call does not say how many threads it had. Returns the most of its region. */
static uint32_t nr_requested(const struct location *location, uint32_t region)
{
	const struct archive *archive = location->archive;
	uint32_t i = map64_get(&archive->teams.sums, key_of(location->thread, region));
	const struct trace_openmp *sum = trace_openmp(archive->trace, i);

	return sum && sum->most_threads < UINT32_MAX ? (uint32_t)sum->most_threads : 1;
}

static uint32_t class_of(const struct location *location, uint32_t region)
{
	return trace_region(location->archive->trace, region)->region_class;
}

void otf2_team_begun(struct location *location, uint64_t time, uint32_t region)
{
	struct archive *archive = location->archive;
	uint32_t class = class_of(location, region);

	if (class == TRACE_PARALLEL)
		otf2_check(archive, OTF2_EvtWriter_ThreadFork(location->writer, NULL, time,
		                                              OTF2_PARADIGM_OPENMP,
		                                              nr_requested(location, region)));
	if (class == TRACE_PARALLEL || class == TRACE_TEAM_PART)
		otf2_check(archive, OTF2_EvtWriter_ThreadTeamBegin(location->writer, NULL, time,
		                                                   team_of(location)));
}

void otf2_team_done(struct location *location, uint64_t time, uint32_t region)
{
	struct archive *archive = location->archive;
	uint32_t class = class_of(location, region);

	if (class == TRACE_PARALLEL || class == TRACE_TEAM_PART)
		otf2_check(archive, OTF2_EvtWriter_ThreadTeamEnd(location->writer, NULL, time,
		                                                 team_of(location)));
	if (class == TRACE_PARALLEL)
		otf2_check(archive, OTF2_EvtWriter_ThreadJoin(location->writer, NULL, time,
		                                              OTF2_PARADIGM_OPENMP));
}

/* --- definitions ------------------------------------------------------------------------------ */

/* Members of a team are places among all threads that were in regions. */
static void write_team(struct archive *archive, uint32_t n, uint32_t group, uint32_t name,
                       uint64_t *members)
{
	const struct otf2_numbers *threads = &archive->teams.threads;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < threads->nr; i++)
		if (archive->plan.group_of_thread[threads->in_order[i]] ==
		    archive->teams.groups.in_order[n])
			members[nr++] = i;
	otf2_check(archive, OTF2_GlobalDefWriter_WriteGroup(
				    archive->definitions, group, name, OTF2_GROUP_TYPE_COMM_GROUP,
				    OTF2_PARADIGM_OPENMP, OTF2_GROUP_FLAG_NONE, nr, members));
	otf2_check(archive, OTF2_GlobalDefWriter_WriteComm(
				    archive->definitions, archive->plan.nr_comms + n, name, group,
				    OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
}

void otf2_write_teams(struct archive *archive)
{
	const struct otf2_numbers *threads = &archive->teams.threads;
	uint32_t group = archive->plan.nr_comms ? archive->plan.nr_comm_groups : 0, name;
	uint64_t *members;

	if (!archive->teams.groups.nr)
		return;
	members = calloc(threads->nr + 1UL, sizeof(*members));
	if (otf2_failed(archive, members))
		goto out;
	for (uint32_t i = 0; i < threads->nr; i++)
		members[i] = archive->plan.location_of_thread[threads->in_order[i]];
	otf2_check(archive,
	           OTF2_GlobalDefWriter_WriteGroup(
			   archive->definitions, group, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS,
			   OTF2_PARADIGM_OPENMP, OTF2_GROUP_FLAG_NONE, threads->nr, members));
	name = otf2_add_string(archive, "OpenMP team");
	for (uint32_t n = 0; n < archive->teams.groups.nr && !archive->err; n++)
		write_team(archive, n, group + 1 + n, name, members);
out:
	free(members);
}
