#include "output/views/call_text.h"

#include "output/text/text.h"

#include <inttypes.h>
#include <string.h>

const char *part_type_name(unsigned type)
{
	static const char *const names[NR_CALL_PARTS] = {
		[CALL_SEND] = "send",
		[CALL_RECEIVE] = "receive",
		[CALL_SEND_POSTED] = "send-posted",
		[CALL_SEND_DONE] = "send-done",
		[CALL_RECEIVE_POSTED] = "receive-posted",
		[CALL_RECEIVE_DONE] = "receive-done",
		[CALL_TEST_FAILED] = "test-failed",
		[CALL_CANCELLED] = "cancelled",
		[CALL_COLLECTIVE] = "collective",
		[CALL_COLLECTIVE_POSTED] = "collective-posted",
		[CALL_COLLECTIVE_DONE] = "collective-done",
		[CALL_COMM_CREATED] = "communicator-created",
		[CALL_COMM_FREED] = "communicator-freed",
		[CALL_PUT] = "put",
		[CALL_GET] = "get",
		[CALL_ATOMIC] = "atomic",
		[CALL_READ] = "read",
		[CALL_WRITE] = "write",
		[CALL_VALUE] = "value",
		[CALL_FILE_OPENED] = "file-opened",
		[CALL_FILE_CLOSED] = "file-closed",
		[CALL_FILE_READ] = "read",
		[CALL_FILE_WRITE] = "write",
		[CALL_READ_POSTED] = "read-posted",
		[CALL_READ_DONE] = "read-done",
		[CALL_WRITE_POSTED] = "write-posted",
		[CALL_WRITE_DONE] = "write-done",
	};

	return type < NR_CALL_PARTS ? names[type] : "unknown";
}

const char *policy_name(uint32_t policy)
{
	static const char *const names[NR_TRACE_POLICIES] = {
		[TRACE_POLICY_ALL] = "all",     [TRACE_POLICY_CLASS] = "class",
		[TRACE_POLICY_DEPTH] = "depth", [TRACE_POLICY_DURATION] = "duration",
		[TRACE_POLICY_TIME] = "time",   [TRACE_POLICY_ITERATIONS] = "iterations",
	};

	return policy < NR_TRACE_POLICIES ? names[policy] : "unknown";
}

static void put_size(FILE *to, const struct call_part *part)
{
	unsigned fields = call_part_fields(part->type);
	bool file = !(fields & PART_PEER);

	if (fields & PART_BYTES)
		fprintf(to, "%" PRIu64 " byte%s%s", part->bytes, plural(part->bytes),
		        fields & PART_BYTES_IN ? ", " : "");
	if (fields & PART_BYTES_IN)
		fprintf(to, "%" PRIu64 " %s", part->bytes_in, file ? "asked for" : "in");
}

/* Names that a file gives them may need to be escaped: those that MPI gives are constant. */
static void put_comm(FILE *to, const struct trace *trace, uint32_t number)
{
	const struct trace_comm *comm = trace_comm(trace, number);

	if (!comm || !comm->id)
		fputs("an unknown communicator", to);
	else if (comm->id == TRACE_COMM_WORLD_ID)
		fputs("MPI_COMM_WORLD", to);
	else if (comm->flags & TRACE_COMM_SELF)
		fputs("MPI_COMM_SELF", to);
	else
		fprintf(to, "communicator %" PRIu32, number);
}

static void put_member(FILE *to, const struct trace *trace, const struct call_part *part)
{
	const struct trace_comm *comm = trace_comm(trace, part->comm);
	bool inter = comm && comm->flags & TRACE_COMM_INTER;

	fprintf(to, "%d in %s", part->peer, inter ? "the other group of " : "");
	put_comm(to, trace, part->comm);
}

static bool is_world(const struct trace *trace, uint32_t number)
{
	const struct trace_comm *comm = trace_comm(trace, number);

	return comm && comm->id == TRACE_COMM_WORLD_ID;
}

static void put_peer(FILE *to, const struct trace *trace, const struct call_part *part)
{
	int32_t rank = trace_peer(trace, part->comm, part->peer);

	if (rank < 0) {
		put_member(to, trace, part);
		return;
	}
	fprintf(to, "rank %d", rank);
	if (is_world(trace, part->comm))
		return;
	fputs(" (", to);
	put_member(to, trace, part);
	fputc(')', to);
}

/* The root is on the process's own side of an intercommunicator. */
static void put_near_root(FILE *to, const struct trace *trace, const struct call_part *part)
{
	fputs(part->peer == CALL_ROOT_SELF ? " as root in " : " with root in its own group of ",
	      to);
	put_comm(to, trace, part->comm);
}

static const char *peer_word(unsigned type)
{
	unsigned fields = call_part_fields(type);

	return fields & PART_TAG ? " with " : fields & PART_BYTES_IN ? " with root " : " at ";
}

bool call_peer_text(FILE *to, const struct trace *trace, const struct call_part *part)
{
	bool has_peer = call_part_fields(part->type) & PART_PEER && part->peer != CALL_NO_PEER;

	if (!has_peer)
		return false;
	if (part->peer < 0) {
		put_near_root(to, trace, part);
		return true;
	}
	fputs(peer_word(part->type), to);
	put_peer(to, trace, part);
	return true;
}

/* The communicator of a part that names no peer. */
static void put_comm_alone(FILE *to, const struct trace *trace, const struct call_part *part)
{
	bool is_made = part->type == CALL_COMM_CREATED || part->type == CALL_COMM_FREED;
	bool has_root = call_part_fields(part->type) & PART_PEER;

	if (!is_made && (!has_root || is_world(trace, part->comm)))
		return;
	fputs(is_made ? "" : ", in ", to);
	put_comm(to, trace, part->comm);
}

void call_part_text(FILE *to, const struct trace *trace, const struct call_part *part)
{
	unsigned fields = call_part_fields(part->type);

	put_size(to, part);
	if (!call_peer_text(to, trace, part))
		put_comm_alone(to, trace, part);
	if (part->type == CALL_FILE_OPENED)
		fprintf(to, "mode %d", part->tag);
	else if (fields & PART_TAG)
		fprintf(to, ", tag %d", part->tag);
	if (fields & PART_REQUEST)
		fprintf(to, "%srequest %" PRIu64, fields & (PART_BYTES | PART_BYTES_IN) ? ", " : "",
		        part->request);
}
