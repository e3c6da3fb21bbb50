/*
 * Files: what was moved, as the status says. Of transfers that go on behind the call only what was
 * asked for is known when they begin; their ends tell the rest.
 */
#include "preload/handlers.h"

/* --- handles ---------------------------------------------------------------------------------- */

/* Pointers in all libraries. */
static struct request *find_file(uintptr_t handle)
{
	return request_find(handle | KEY_FILE);
}

/* Converts the mode of a file from the bits of the standard ABI to those of older libraries. */
static uint32_t mode_of(uint32_t mode)
{
	static const uint8_t bits[] = {7, 0, 4, 6, 1, 3, 8, 5, 2};
	uint32_t own = 0;

	for (unsigned i = 0; i < sizeof(bits); i++)
		own |= (mode >> i & 1) << bits[i];
	return abi.standard ? own : mode;
}

static void open_after(struct visit *visit, const uintptr_t *a)
{
	struct comm *comm = comm_of(visit->thread, handle_of(a[0]));
	struct request kept = {.type = REQUEST_OTHER};

	if (!comm || !a[1])
		return;
	kept.comm = comm_open_file(comm, (const char *)a[1]);
	request_add(*(const uintptr_t *)a[4] | KEY_FILE, &kept, false);
	*visit_part(visit, CALL_FILE_OPENED, kept.comm, CALL_NO_PEER) = mode_of((uint32_t)a[2]);
}

const struct handler handler_FILE_OPEN = {NULL, open_after, false};

/* The handle is gone afterwards. */
static void close_before(struct visit *visit, uintptr_t *a)
{
	struct request *kept = find_file(*(const uintptr_t *)a[0]);

	visit->saved = kept ? kept->comm : 0;
	if (kept)
		request_remove(kept);
}

static void close_after(struct visit *visit, const uintptr_t *a)
{
	(void)a;
	if (visit->saved)
		visit_part(visit, CALL_FILE_CLOSED, (uint32_t)visit->saved, CALL_NO_PEER);
}

const struct handler handler_FILE_CLOSE = {close_before, close_after, false};

/* --- transfers -------------------------------------------------------------------------------- */

void put_transfer_posted(struct visit *visit, const struct request *request)
{
	enum call_part_type type =
		request->type == REQUEST_WRITE ? CALL_WRITE_POSTED : CALL_READ_POSTED;

	*visit_part(visit, type, request->comm, CALL_NO_PEER) = request->bytes_in;
	visit_request(visit, type, request->id);
}

void put_transfer(struct visit *visit, const struct request *request, uint64_t moved)
{
	bool write = request->type == REQUEST_WRITE;

	if (request->comm)
		put_volume(visit, write ? CALL_FILE_WRITE : CALL_FILE_READ, request, moved);
	else
		*visit_part(visit, write ? CALL_WRITE : CALL_READ, 0, CALL_NO_PEER) = moved;
}

static const uintptr_t *count_of(const struct visit *visit, const uintptr_t *a)
{
	return &a[visit->info->handler->at[0]];
}

/* Behind the count stands the type. */
static struct request transfer(const struct visit *visit, const uintptr_t *a)
{
	const struct request *kept = find_file(a[0]);

	return (struct request){
		.type = visit->info->handler->type,
		.comm = kept ? kept->comm : 0,
		.peer = CALL_NO_PEER,
		.bytes_in = bytes_at(visit, count_of(visit, a)),
	};
}

/* --- that end with their call ----------------------------------------------------------------- */

static void transfer_ended(struct visit *visit, const uintptr_t *a)
{
	struct request request = transfer(visit, a);

	put_transfer(visit, &request, status_bytes(visit->status));
}

/* --- that end with a request ------------------------------------------------------------------ */

/* Behind the type stands the request. */
static void transfer_posted(struct visit *visit, const uintptr_t *a)
{
	struct request request = transfer(visit, a);

	if (request.comm)
		start_request(visit, handle_at(count_of(visit, a)[2], 0), &request);
	else
		put_transfer(visit, &request, request.bytes_in);
}

/* --- that end with another call: one at a time for each file ---------------------------------- */

static void transfer_split(struct visit *visit, const uintptr_t *a)
{
	struct request *kept = find_file(a[0]), request = transfer(visit, a);

	if (!request.comm) {
		put_transfer(visit, &request, request.bytes_in);
		return;
	}
	kept->type = request.type;
	kept->bytes_in = request.bytes_in;
	kept->id = request_next_id();
	put_transfer_posted(visit, kept);
}

static void split_end_after(struct visit *visit, const uintptr_t *a)
{
	struct request *kept = find_file(a[0]);

	if (!kept || !kept->id)
		return;
	put_end(visit, kept, visit->result ? NULL : visit->status);
	kept->id = 0;
}

const struct handler handler_SPLIT_END = {
	.before = want_status, .after = split_end_after, .always = true, .status = 2};

/* --- signatures: with an offset the count comes one later ------------------------------------- */

#define FORMS(signature, request, count)                                     \
	const struct handler handler_##signature = {.before = want_status,   \
	                                            .after = transfer_ended, \
	                                            .type = (request),       \
	                                            .status = (count) + 2,   \
	                                            .at = {count}};          \
	const struct handler handler_##signature##_POSTED = {                \
		.after = transfer_posted, .type = (request), .at = {count}}; \
	const struct handler handler_##signature##_BEGIN = {                 \
		.after = transfer_split, .type = (request), .at = {count}};

FORMS(READ, REQUEST_READ, 2)
FORMS(READ_AT, REQUEST_READ, 3)
FORMS(WRITE, REQUEST_WRITE, 2)
FORMS(WRITE_AT, REQUEST_WRITE, 3)
