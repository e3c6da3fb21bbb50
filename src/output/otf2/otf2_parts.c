/* Messages, collectives, requests and one-sided accesses: what stands inside of calls. */
#include "output/otf2/otf2_location.h"

#include "trace/mpi_names.h"

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

/* Whether a message or collective is told; counts it where its other end was dropped. */
static bool is_told(struct location *location, const struct call *call,
                    const struct call_part *part)
{
	bool told = location->told[part - call->parts];

	location->archive->nr_unpaired += !told;
	location->archive->has_messages |= told && call_part_fields(part->type) & PART_TAG;
	return told;
}

/* A request without an end here (it was freed, or the program ended) is told as what is certain. */
static void write_posted(struct location *location, uint64_t time, const struct call *call,
                         const struct call_part *part)
{
	struct archive *archive = location->archive;
	uint32_t comm = 0;
	bool ends;

	if (part->type == CALL_SEND_POSTED && !comm_of(archive, part, true, &comm))
		return;
	if (part->type != CALL_RECEIVE_POSTED && !is_told(location, call, part))
		return;
	ends = otf2_activate(location, part, 0);
	if (part->type == CALL_SEND_POSTED && !ends)
		otf2_check(archive, OTF2_EvtWriter_MpiSend(location->writer, NULL, time,
		                                           (uint32_t)part->peer, comm,
		                                           (uint32_t)part->tag, part->bytes));
	if (!ends)
		return;
	if (part->type == CALL_SEND_POSTED)
		otf2_check(archive, OTF2_EvtWriter_MpiIsend(
					    location->writer, NULL, time, (uint32_t)part->peer,
					    comm, (uint32_t)part->tag, part->bytes, part->request));
	else if (part->type == CALL_RECEIVE_POSTED)
		otf2_check(archive, OTF2_EvtWriter_MpiIrecvRequest(location->writer, NULL, time,
		                                                   part->request));
	else
		otf2_check(archive, OTF2_EvtWriter_NonBlockingCollectiveRequest(
					    location->writer, NULL, time, part->request));
}

static void write_received(struct location *location, uint64_t time, const struct call *call,
                           const struct call_part *part)
{
	struct archive *archive = location->archive;
	bool requested = part->type == CALL_RECEIVE_DONE && otf2_is_active(location, part);
	uint32_t comm;

	if (!comm_of(archive, part, true, &comm) || !is_told(location, call, part)) {
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

	if (part->peer == CALL_ROOT_SELF)
		return OTF2_COLLECTIVE_ROOT_SELF;
	if (part->peer == CALL_ROOT_NEAR)
		return OTF2_COLLECTIVE_ROOT_THIS_GROUP;
	return comm_of(archive, part, true, &comm) ? (uint32_t)part->peer
	                                           : OTF2_COLLECTIVE_ROOT_NONE;
}

static void write_collective(struct location *location, uint64_t time, const struct call *call,
                             const struct call_part *part, bool end)
{
	struct archive *archive = location->archive;
	uint32_t comm;

	if (!comm_of(archive, part, false, &comm))
		return;
	if (end ? !location->told[part - call->parts] : !is_told(location, call, part))
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

	if (!otf2_is_active(location, part))
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
	uint32_t comm, mpi_window, peer = (uint32_t)part->peer;
	OTF2_EvtWriter *to = location->writer;

	if (!comm_of(archive, part, true, &comm))
		return;
	mpi_window = otf2_number(&archive->mpi_windows, part->comm);
	if (end)
		otf2_check(archive, OTF2_EvtWriter_RmaOpCompleteBlocking(to, NULL, time, mpi_window,
		                                                         location->accesses++));
	else if (part->type == CALL_PUT)
		otf2_check(archive, OTF2_EvtWriter_RmaPut(to, NULL, time, mpi_window, peer,
		                                          part->bytes, location->accesses));
	else if (part->type == CALL_GET)
		otf2_check(archive, OTF2_EvtWriter_RmaGet(to, NULL, time, mpi_window, peer,
		                                          part->bytes, location->accesses));
	else
		otf2_check(archive, OTF2_EvtWriter_RmaAtomic(to, NULL, time, mpi_window, peer,
		                                             OTF2_RMA_ATOMIC_TYPE_ACCUMULATE,
		                                             part->bytes, 0, location->accesses));
}

static void write_at_enter(struct location *location, uint64_t time, const struct call *call,
                           const struct call_part *part)
{
	struct archive *archive = location->archive;
	uint32_t comm;

	switch (part->type) {
	case CALL_SEND:
		if (comm_of(archive, part, true, &comm) && is_told(location, call, part))
			otf2_check(archive,
			           OTF2_EvtWriter_MpiSend(location->writer, NULL, time,
			                                  (uint32_t)part->peer, comm,
			                                  (uint32_t)part->tag, part->bytes));
		break;
	case CALL_SEND_POSTED:
	case CALL_RECEIVE_POSTED:
	case CALL_COLLECTIVE_POSTED:
		write_posted(location, time, call, part);
		break;
	case CALL_COLLECTIVE:
		write_collective(location, time, call, part, false);
		break;
	case CALL_FILE_READ:
	case CALL_FILE_WRITE:
	case CALL_READ_POSTED:
	case CALL_WRITE_POSTED:
		otf2_file_begun(location, time, call, part);
		break;
	default:
		break;
	}
}

static void write_request_event(struct location *location, uint64_t time,
                                const struct call_part *part)
{
	struct archive *archive = location->archive;
	uint32_t handle = map64_get(&location->requests, part->request);

	if (handle == UINT32_MAX)
		return;
	if (handle)
		otf2_file_request(location, time, handle - 1, part);
	else if (part->type == CALL_SEND_DONE)
		otf2_check(archive, OTF2_EvtWriter_MpiIsendComplete(location->writer, NULL, time,
		                                                    part->request));
	else if (part->type == CALL_TEST_FAILED)
		otf2_check(archive, OTF2_EvtWriter_MpiRequestTest(location->writer, NULL, time,
		                                                  part->request));
	else
		otf2_check(archive, OTF2_EvtWriter_MpiRequestCancelled(location->writer, NULL, time,
		                                                       part->request));
}

static void write_at_leave(struct location *location, uint64_t time, const struct call *call,
                           const struct call_part *part)
{
	switch (part->type) {
	case CALL_RECEIVE:
	case CALL_RECEIVE_DONE:
		write_received(location, time, call, part);
		break;
	case CALL_SEND_DONE:
	case CALL_TEST_FAILED:
	case CALL_CANCELLED:
	case CALL_READ_DONE:
	case CALL_WRITE_DONE:
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
	case CALL_FILE_OPENED:
	case CALL_FILE_CLOSED:
	case CALL_FILE_READ:
	case CALL_FILE_WRITE:
	case CALL_READ_POSTED:
	case CALL_WRITE_POSTED:
		otf2_file_done(location, time, call, part);
		break;
	default:
		break;
	}
	if (call_part_fields(part->type) & PART_REQUEST &&
	    !(call_part_fields(part->type) & PART_POSTS) && part->type != CALL_TEST_FAILED)
		map64_remove(&location->requests, part->request);
}

/* A call is one collective at most: what else it did stands inside. */
static bool shows(const struct call *call, uint32_t i)
{
	if (call->parts[i].type != CALL_COLLECTIVE)
		return true;
	while (i-- > 0)
		if (call->parts[i].type == CALL_COLLECTIVE)
			return false;
	return true;
}

void otf2_write_begun(struct location *location, uint64_t time, const struct call *call)
{
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (shows(call, i))
			write_at_enter(location, time, call, &call->parts[i]);
}

void otf2_write_done(struct location *location, uint64_t time, const struct call *call)
{
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (shows(call, i))
			write_at_leave(location, time, call, &call->parts[i]);
}
