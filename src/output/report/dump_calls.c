#include "output/report/dump_calls.h"
#include "output/views/call_text.h"
#include "output/text/json_writer.h"
#include "output/text/text.h"
#include "trace/call_sources.h"

#include <inttypes.h>

/*
 * The thread that made a call. Fields are 0 if a corrupt file gives the call a thread that does not
 * exist.
 */
struct caller {
	uint32_t comm;      /* string */
	int pid, tid, rank; /* rank -1: none */
};

static struct caller caller_of(const struct trace *trace, const struct call *call)
{
	const struct trace_thread *thread = trace_thread(trace, call->thread);

	return (struct caller){
		.comm = thread ? thread->comm : 0,
		.pid = thread ? thread->pid : 0,
		.tid = thread ? thread->tid : 0,
		.rank = trace_rank(trace, call->thread),
	};
}

static const char *class_word(const struct trace *trace, const struct call *call)
{
	return trace_region_traits(trace, call->region)->word;
}

static const char *comm_name(const struct trace *trace, uint32_t comm, char text[TEXT_SIZE])
{
	const struct trace_comm *entry = trace_comm(trace, comm);

	if (entry && entry->name)
		return trace_string(trace, entry->name);
	snprintf(text, TEXT_SIZE, "communicator %u", comm);
	return text;
}

/* --- text ------------------------------------------------------------------------------------- */

static bool is_file(const struct trace *trace, uint32_t comm)
{
	const struct trace_comm *entry = trace_comm(trace, comm);

	return entry && entry->flags & TRACE_COMM_FILE;
}

static void put_part(FILE *to, const struct trace *trace, const struct call_part *part)
{
	unsigned fields = call_part_fields(part->type);
	bool file = fields & PART_COMM && is_file(trace, part->comm);
	char text[TEXT_SIZE];

	if (part->type == CALL_VALUE) {
		fprintf(to, "  %g", call_part_value(part));
		return;
	}
	fprintf(to, "  %s", part_type_name(part->type));
	if (!call_peer_text(to, trace, part) && fields & PART_COMM) {
		fputs(file ? " of " : " in ", to);
		text_put(to, comm_name(trace, part->comm, text), 0);
	}
	if (fields & PART_TAG)
		fprintf(to, " %s %d", file ? "mode" : "tag", part->tag);
	if (fields & PART_BYTES)
		fprintf(to, " %" PRIu64 " bytes", part->bytes);
	if (fields & PART_BYTES_IN)
		fprintf(to, " %" PRIu64 " %s", part->bytes_in, file ? "asked for" : "in");
	if (fields & PART_REQUEST)
		fprintf(to, " request %" PRIu64, part->request);
}

void dump_call_text(FILE *to, const struct trace *trace, const struct trace_call *entry)
{
	const struct call *call = &entry->call;
	struct caller caller = caller_of(trace, call);

	fprintf(to, "%" PRIu64 ".%09" PRIu64 "  ", call->enter / 1000000000,
	        call->enter % 1000000000);
	text_put(to, trace_command_name(trace, caller.comm), 0);
	fprintf(to, " %d/%d  ", caller.pid, caller.tid);
	if (caller.rank >= 0)
		fprintf(to, "rank %d  ", caller.rank);
	text_put(to, trace_region_name(trace, call->region), 0);
	fprintf(to, " %" PRIu64 " ns%s", call->leave - call->enter,
	        call->flags & CALL_UNFINISHED ? " (unfinished)" : "");
	for (uint32_t i = 0; i < call->nr_parts; i++)
		put_part(to, trace, &call->parts[i]);
	fputc('\n', to);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* rank: the caller's. */
static void put_peer(struct json_writer *json, const struct trace *trace, int rank,
                     const struct call_part *part)
{
	int peer = part->peer == CALL_ROOT_SELF ? rank : trace_peer(trace, part->comm, part->peer);

	json_known(json, "peer", part->peer >= 0, (uint64_t)part->peer);
	json_known(json, "peer_rank", peer >= 0, (uint64_t)peer);
}

static void put_fields(struct json_writer *json, const struct trace *trace, int rank,
                       const struct call_part *part)
{
	unsigned fields = call_part_fields(part->type);
	bool file = fields & PART_COMM && is_file(trace, part->comm);
	char text[TEXT_SIZE];

	if (fields & PART_COMM) {
		json_text(json, file ? "file" : "communicator", comm_name(trace, part->comm, text));
		json_number(json, file ? "file_number" : "communicator_number", part->comm);
	}
	if (fields & PART_PEER)
		put_peer(json, trace, rank, part);
	if (fields & PART_TAG)
		json_int(json, file ? "mode" : "tag", part->tag);
	if (fields & PART_BYTES)
		json_number(json, "bytes", part->bytes);
	if (fields & PART_BYTES_IN)
		json_number(json, file ? "asked" : "bytes_in", part->bytes_in);
	if (fields & PART_REQUEST)
		json_number(json, "request", part->request);
}

static void put_part_json(struct json_writer *json, const struct trace *trace, int rank,
                          const struct call_part *part)
{
	json_begin(json, NULL);
	json_text(json, "kind", part_type_name(part->type));
	if (part->type == CALL_VALUE)
		json_real(json, "value", call_part_value(part));
	else
		put_fields(json, trace, rank, part);
	json_end(json);
}

void dump_call_json(FILE *to, const struct trace *trace, const struct trace_call *entry)
{
	const struct call *call = &entry->call;
	struct caller caller = caller_of(trace, call);
	struct json_writer json = {.to = to};

	json_begin(&json, NULL);
	json_number(&json, "time_ns", call->enter);
	json_number(&json, "end_ns", call->leave);
	json_int(&json, "pid", caller.pid);
	json_int(&json, "tid", caller.tid);
	json_text(&json, "comm", trace_string(trace, caller.comm));
	json_known(&json, "rank", caller.rank >= 0, (uint64_t)caller.rank);
	json_text(&json, "call", trace_region_name(trace, call->region));
	json_text(&json, "class", class_word(trace, call));
	json_number(&json, "level", entry->level);
	json_number(&json, "depth", call->depth);
	json_flag(&json, "finished", !(call->flags & CALL_UNFINISHED));
	json_begin_list(&json, "parts");
	for (uint32_t i = 0; i < call->nr_parts; i++)
		put_part_json(&json, trace, caller.rank, &call->parts[i]);
	json_end_list(&json);
	json_end(&json);
	fputc('\n', to);
}
