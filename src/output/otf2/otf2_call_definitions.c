/* The definitions that calls refer to: regions, communicators, metrics, MPI windows. */
#include "output/otf2/otf2_archive.h"

#include "trace/call_sources.h"
#include "trace/mpi_names.h"

#include <stdlib.h>

static bool has_parallels(const struct trace *trace)
{
	const struct trace_region *region;

	for (uint32_t i = 0; (region = trace_region(trace, i)); i++)
		if (region_traits(region->region_class)->source == CALLS_OPENMP)
			return true;
	return false;
}

static void write_openmp(struct archive *archive)
{
	otf2_check(archive, OTF2_GlobalDefWriter_WriteParadigm(
				    archive->definitions, OTF2_PARADIGM_OPENMP,
				    otf2_add_string(archive, call_sources[CALLS_OPENMP].name),
				    OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN));
}

static void write_mpi(struct archive *archive)
{
	OTF2_AttributeValue template;
	OTF2_GlobalDefWriter *to = archive->definitions;

	otf2_check(archive, OTF2_GlobalDefWriter_WriteParadigm(
				    to, OTF2_PARADIGM_MPI,
				    otf2_add_string(archive, call_sources[CALLS_MPI].name),
				    OTF2_PARADIGM_CLASS_PROCESS));
	template.stringRef = otf2_add_string(archive, "MPI Communicator ${id}");
	otf2_check(archive,
	           OTF2_GlobalDefWriter_WriteParadigmProperty(
			   to, OTF2_PARADIGM_MPI, OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE,
			   OTF2_TYPE_STRING, template));
}

void otf2_write_paradigms(struct archive *archive)
{
	if (archive->plan.nr_ranks)
		write_mpi(archive);
	if (has_parallels(archive->trace))
		write_openmp(archive);
}

static OTF2_RegionRole collective_role(const char *name)
{
	switch (mpi_collective(name).operation) {
	case MPI_OP_BARRIER:
		return OTF2_REGION_ROLE_BARRIER;
	case MPI_OP_BCAST:
	case MPI_OP_SCATTER:
	case MPI_OP_SCATTERV:
		return OTF2_REGION_ROLE_COLL_ONE2ALL;
	case MPI_OP_GATHER:
	case MPI_OP_GATHERV:
	case MPI_OP_REDUCE:
		return OTF2_REGION_ROLE_COLL_ALL2ONE;
	case MPI_OP_ALLGATHER:
	case MPI_OP_ALLGATHERV:
	case MPI_OP_ALLTOALL:
	case MPI_OP_ALLTOALLV:
	case MPI_OP_ALLTOALLW:
	case MPI_OP_ALLREDUCE:
	case MPI_OP_REDUCE_SCATTER:
	case MPI_OP_REDUCE_SCATTER_BLOCK:
		return OTF2_REGION_ROLE_COLL_ALL2ALL;
	default:
		return OTF2_REGION_ROLE_COLL_OTHER;
	}
}

static_assert((int)PARADIGM_USER == OTF2_PARADIGM_USER && (int)PARADIGM_MPI == OTF2_PARADIGM_MPI &&
                      (int)PARADIGM_OPENMP == OTF2_PARADIGM_OPENMP &&
                      (int)ROLE_PARALLEL == OTF2_REGION_ROLE_PARALLEL &&
                      (int)ROLE_CRITICAL == OTF2_REGION_ROLE_CRITICAL &&
                      (int)ROLE_BARRIER == OTF2_REGION_ROLE_BARRIER &&
                      (int)ROLE_IMPLICIT_BARRIER == OTF2_REGION_ROLE_IMPLICIT_BARRIER &&
                      (int)ROLE_FUNCTION == OTF2_REGION_ROLE_FUNCTION &&
                      (int)ROLE_CODE == OTF2_REGION_ROLE_CODE &&
                      (int)ROLE_COLLECTIVE == OTF2_REGION_ROLE_COLL_OTHER &&
                      (int)ROLE_FILE_IO == OTF2_REGION_ROLE_FILE_IO &&
                      (int)ROLE_POINT_TO_POINT == OTF2_REGION_ROLE_POINT2POINT &&
                      (int)ROLE_ONE_SIDED == OTF2_REGION_ROLE_RMA,
              "numbers of OTF2");

static void write_artificial(struct archive *archive, uint32_t number, const char *name,
                             OTF2_RegionRole role)
{
	uint32_t string = otf2_add_string(archive, name);

	if (!archive->err)
		otf2_check(archive, OTF2_GlobalDefWriter_WriteRegion(
					    archive->definitions, number, string, string, 0, role,
					    OTF2_PARADIGM_SAMPLING, OTF2_REGION_FLAG_NONE,
					    OTF2_UNDEFINED_STRING, 0, 0));
}

void otf2_write_call_regions(struct archive *archive)
{
	const struct trace_region *region;

	for (uint32_t i = 0; (region = trace_region(archive->trace, i)) && !archive->err; i++) {
		const struct region_traits *traits = region_traits(region->region_class);
		OTF2_RegionRole role =
			traits->role == ROLE_COLLECTIVE
				? collective_role(trace_string(archive->trace, region->name))
				: (OTF2_RegionRole)traits->role;
		uint32_t name = region->name ? otf2_find_string(archive, region->name)
		                             : otf2_add_string(archive, "[unknown]");
		uint32_t file = region->file ? otf2_find_string(archive, region->file)
		                             : OTF2_UNDEFINED_STRING;

		otf2_check(archive,
		           OTF2_GlobalDefWriter_WriteRegion(
				   archive->definitions, otf2_region(archive, i), name, name, 0,
				   role, (OTF2_Paradigm)call_sources[traits->source].paradigm,
				   OTF2_REGION_FLAG_NONE, file, region->line, region->line));
	}
	if (archive->nr_regions)
		write_artificial(archive, otf2_unknown_callers(archive), "[callers not sampled]",
		                 OTF2_REGION_ROLE_ARTIFICIAL);
	if (!archive->iterations.nr)
		return;
	write_artificial(archive, otf2_iteration(archive, true), "iteration",
	                 OTF2_REGION_ROLE_LOOP);
	write_artificial(archive, otf2_iteration(archive, false), "iteration, calls not stored",
	                 OTF2_REGION_ROLE_LOOP);
}

/* Values that the program gave: a metric for each name. Those with a number were used. */
void otf2_write_metrics(struct archive *archive)
{
	OTF2_GlobalDefWriter *to = archive->definitions;
	const struct trace_region *region;

	for (uint32_t n = 0; n < archive->metrics.nr && !archive->err; n++) {
		uint32_t name, unit = otf2_add_string(archive, "#");
		uint32_t member = archive->nr_counters + n;

		region = trace_region(archive->trace, archive->metrics.in_order[n]);
		name = otf2_find_string(archive, region->name);
		otf2_check(archive, OTF2_GlobalDefWriter_WriteMetricMember(
					    to, member, name, 0, OTF2_METRIC_TYPE_USER,
					    OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
					    OTF2_BASE_DECIMAL, 0, unit));
		otf2_check(archive, OTF2_GlobalDefWriter_WriteMetricClass(
					    to, otf2_value_class(archive, n), 1, &member,
					    OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
	}
}

static void write_group(struct archive *archive, uint32_t number, uint32_t comm, uint32_t nr,
                        bool remote)
{
	uint64_t *members = calloc(nr + 1UL, sizeof(*members));

	if (otf2_failed(archive, members))
		goto out;
	for (uint32_t i = 0; i < nr; i++)
		members[i] = (uint64_t)trace_member(archive->trace, comm, (int32_t)i, remote);
	otf2_check(archive, OTF2_GlobalDefWriter_WriteGroup(
				    archive->definitions, number, 0, OTF2_GROUP_TYPE_COMM_GROUP,
				    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, nr, members));
out:
	free(members);
}

static void write_comm_groups(struct archive *archive)
{
	const struct otf2_plan *plan = &archive->plan;
	uint64_t *members = calloc(plan->nr_ranks + 1UL, sizeof(*members));
	const struct trace_comm *comm;
	uint32_t next = 0;

	if (otf2_failed(archive, members))
		goto out;
	for (uint32_t i = 0; i < plan->nr_ranks; i++)
		members[i] = i; /* each rank's location has its number */
	otf2_check(archive, OTF2_GlobalDefWriter_WriteGroup(archive->definitions, 0, 0,
	                                                    OTF2_GROUP_TYPE_COMM_LOCATIONS,
	                                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
	                                                    plan->nr_ranks, members));
	if (plan->has_self)
		otf2_check(archive, OTF2_GlobalDefWriter_WriteGroup(
					    archive->definitions, 1, 0, OTF2_GROUP_TYPE_COMM_SELF,
					    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 0, members));
	for (uint32_t i = 0; (comm = trace_comm(archive->trace, i)) && !archive->err; i++) {
		uint32_t group = plan->comms[i].group;

		/* The second side of an intercommunicator has those of the first. */
		if (plan->comms[i].number == PLAN_NONE || comm->flags & TRACE_COMM_SELF ||
		    group < next)
			continue;
		next = group + 1;
		write_group(archive, group, i, comm->nr_members, false);
		if (comm->flags & TRACE_COMM_INTER)
			write_group(archive, group + 1, i, comm->nr_remote, true);
	}
out:
	free(members);
}

static void write_comm(struct archive *archive, const struct trace_comm *comm,
                       const struct otf2_comm *to)
{
	uint32_t name = otf2_find_string(archive, comm->name), parent = OTF2_UNDEFINED_COMM;

	if (comm->parent && archive->plan.comms[comm->parent - 1].number < to->number)
		parent = archive->plan.comms[comm->parent - 1].number;
	if (comm->flags & TRACE_COMM_INTER && !(comm->flags & TRACE_COMM_SELF))
		otf2_check(archive, OTF2_GlobalDefWriter_WriteInterComm(
					    archive->definitions, to->number, name, to->group,
					    to->group + 1, parent, OTF2_COMM_FLAG_NONE));
	else
		otf2_check(archive,
		           OTF2_GlobalDefWriter_WriteComm(archive->definitions, to->number, name,
		                                          to->group, parent, OTF2_COMM_FLAG_NONE));
}

static void write_mpi_windows(struct archive *archive)
{
	for (uint32_t n = 0; n < archive->mpi_windows.nr && !archive->err; n++) {
		uint32_t i = archive->mpi_windows.in_order[n];

		otf2_check(archive,
		           OTF2_GlobalDefWriter_WriteRmaWin(
				   archive->definitions, n,
				   otf2_find_string(archive, trace_comm(archive->trace, i)->name),
				   archive->plan.comms[i].number, OTF2_RMA_WIN_FLAG_NONE));
	}
}

void otf2_write_comms(struct archive *archive)
{
	const struct trace_comm *comm;
	uint32_t next = 0;

	write_comm_groups(archive);
	for (uint32_t i = 0; (comm = trace_comm(archive->trace, i)) && !archive->err; i++)
		if (archive->plan.comms[i].number == next) {
			write_comm(archive, comm, &archive->plan.comms[i]);
			next++;
		}
	write_mpi_windows(archive);
}
