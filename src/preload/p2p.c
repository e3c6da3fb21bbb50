/* Sends and receives. */
#include "preload/handlers.h"

/* --- blocking --------------------------------------------------------------------------------- */

static inline void put_send(struct visit *visit, uint64_t bytes, uintptr_t dest, uintptr_t tag,
                            uintptr_t comm)
{
	if (is_peer((int)dest))
		visit_message(visit, CALL_SEND, comm_number(visit->thread, handle_of(comm)),
		              (int)dest, (int)tag, bytes);
}

/* A receive that ended here, or was cancelled. */
static void put_received(struct visit *visit, const unsigned char *status, uint32_t comm)
{
	if (is_peer(status_source(status)))
		visit_message(visit, CALL_RECEIVE, comm, status_source(status), status_tag(status),
		              status_bytes(status));
}

static void send_after(struct visit *visit, const uintptr_t *a)
{
	put_send(visit, bytes_at(visit, &a[1]), a[3], a[4], a[5]);
}

const struct handler handler_SEND = {NULL, send_after, false};

static void recv_after(struct visit *visit, const uintptr_t *a)
{
	put_received(visit, visit->status, comm_number(visit->thread, handle_of(a[5])));
}

const struct handler handler_RECV = {.before = want_status, .after = recv_after, .status = 6};

/* The send's arguments come first, for both. */
static void exchange_after(struct visit *visit, const uintptr_t *a)
{
	uintptr_t comm = a[visit->info->handler->at[0]];

	put_send(visit, bytes_at(visit, &a[1]), a[3], a[4], comm);
	put_received(visit, visit->status, comm_number(visit->thread, handle_of(comm)));
}

const struct handler handler_SENDRECV = {
	.before = want_status, .after = exchange_after, .status = 11, .at = {10}};
const struct handler handler_SENDRECV_REPLACE = {
	.before = want_status, .after = exchange_after, .status = 8, .at = {7}};

/* --- probed messages: a receive of one does not say its communicator -------------------------- */

static void keep_message(struct visit *visit, uintptr_t message, uintptr_t comm)
{
	struct request kept = {
		.type = REQUEST_OTHER,
		.comm = comm_number(visit->thread, handle_of(comm)),
	};

	request_add(handle_at(message, 0) | KEY_MESSAGE, &kept, false);
}

static void mprobe_after(struct visit *visit, const uintptr_t *a)
{
	keep_message(visit, a[3], a[2]);
}

const struct handler handler_MPROBE = {NULL, mprobe_after, false};

static void improbe_after(struct visit *visit, const uintptr_t *a)
{
	visit->thread->idle = !*(const int *)a[3];
	if (abi.known && *(const int *)a[3])
		keep_message(visit, a[4], a[2]);
}

/* The answer comes through an argument. */
static void ask_after(struct visit *visit, const uintptr_t *a)
{
	visit->thread->idle = !*(const int *)a[visit->info->handler->at[0]];
}

const struct handler handler_ASK_1 = {.after = ask_after, .unknown = true, .at = {1}};
const struct handler handler_ASK_2 = {.after = ask_after, .unknown = true, .at = {2}};
const struct handler handler_ASK_3 = {.after = ask_after, .unknown = true, .at = {3}};
const struct handler handler_IMPROBE = {.after = improbe_after, .unknown = true};

/* The communicator, before the message is gone. */
static void find_message(struct visit *visit, uintptr_t *a)
{
	struct request *kept = request_find(handle_at(a[3], 0) | KEY_MESSAGE);

	visit->saved = 0;
	if (!kept)
		return;
	visit->saved = kept->comm;
	request_remove(kept);
}

static void mrecv_before(struct visit *visit, uintptr_t *a)
{
	find_message(visit, a);
	want_status(visit, a);
}

static void mrecv_after(struct visit *visit, const uintptr_t *a)
{
	(void)a;
	put_received(visit, visit->status, (uint32_t)visit->saved);
}

const struct handler handler_MRECV = {.before = mrecv_before, .after = mrecv_after, .status = 4};

static void imrecv_after(struct visit *visit, const uintptr_t *a)
{
	struct request request = {.type = REQUEST_RECEIVE, .comm = (uint32_t)visit->saved};

	start_request(visit, handle_at(a[4], 0), &request);
}

const struct handler handler_IMRECV = {.before = find_message, .after = imrecv_after};

/* --- non-blocking ----------------------------------------------------------------------------- */

__attribute__((always_inline)) static inline void
put_started(struct visit *visit, enum request_type type, const struct request *request)
{
	if (type == REQUEST_SEND) {
		visit_message(visit, CALL_SEND_POSTED, request->comm, request->peer, request->tag,
		              request->bytes);
		visit_request(visit, CALL_SEND_POSTED, request->id);
	} else if (type == REQUEST_RECEIVE) {
		visit_part(visit, CALL_RECEIVE_POSTED, request->comm, request->peer);
		visit_request(visit, CALL_RECEIVE_POSTED, request->id);
	} else if (type == REQUEST_COLLECTIVE) {
		put_volume(visit, CALL_COLLECTIVE_POSTED, request, request->bytes);
		visit_request(visit, CALL_COLLECTIVE_POSTED, request->id);
	} else {
		put_transfer_posted(visit, request);
	}
}

/*
 * Adds a complete message to this call for an operation that ended at once, or whose request cannot
 * be followed.
 */
static inline void put_at_once(struct visit *visit, enum request_type type,
                               const struct request *request)
{
	if (type == REQUEST_SEND)
		visit_message(visit, CALL_SEND, request->comm, request->peer, request->tag,
		              request->bytes);
	else if (type == REQUEST_COLLECTIVE)
		put_volume(visit, CALL_COLLECTIVE, request, request->bytes);
	else if (type != REQUEST_RECEIVE)
		put_transfer(visit, request, request->bytes_in);
}

/*
 * The type is a parameter of its own: where it is a constant, the request never needs memory.
 */
__attribute__((always_inline)) static inline void
start(struct visit *visit, uint64_t handle, enum request_type type, struct request *request)
{
	bool done = handle_done(handle);

	if (!done)
		request->id = request_next_id();
	if (!done && request_add(handle, request, !request_tells(type)))
		put_started(visit, type, request);
	else
		put_at_once(visit, type, request);
}

void start_request(struct visit *visit, uint64_t handle, struct request *request)
{
	start(visit, handle, (enum request_type)request->type, request);
}

__attribute__((always_inline)) static inline struct request
message(struct visit *visit, enum request_type type, const uintptr_t *a)
{
	return (struct request){
		.type = (uint8_t)type,
		.comm = comm_number(visit->thread, handle_of(a[5])),
		.peer = (int)a[3],
		.tag = (int)a[4],
		.bytes = type == REQUEST_SEND ? bytes_at(visit, &a[1]) : 0,
	};
}

__attribute__((always_inline)) static inline void
start_message(struct visit *visit, enum request_type type, const uintptr_t *a)
{
	struct request request;

	if (!is_peer((int)a[3]))
		return;
	request = message(visit, type, a);
	start(visit, handle_at(a[6], 0), type, &request);
}

static void isend_after(struct visit *visit, const uintptr_t *a)
{
	start_message(visit, REQUEST_SEND, a);
}

const struct handler handler_ISEND = {NULL, isend_after, false};

static void irecv_after(struct visit *visit, const uintptr_t *a)
{
	start_message(visit, REQUEST_RECEIVE, a);
}

const struct handler handler_IRECV = {NULL, irecv_after, false};

/*
 * One request for both: it is the receive's, and the send is this call's. In its status MPICH, up
 * to 5.0 at least, has what was there before.
 */
static void start_both(struct visit *visit, const uintptr_t *a, const uintptr_t *receive,
                       uint64_t most)
{
	uintptr_t comm = receive[2];
	struct request request = {
		.type = REQUEST_RECEIVE,
		.as_asked = !abi.open_mpi,
		.comm = comm_number(visit->thread, handle_of(comm)),
		.peer = (int)receive[0],
		.tag = (int)receive[1],
		.bytes = most,
	};

	put_send(visit, bytes_at(visit, &a[1]), a[3], a[4], comm);
	if (is_peer((int)receive[0]))
		start_request(visit, handle_at(receive[3], 0), &request);
}

static void isendrecv_after(struct visit *visit, const uintptr_t *a)
{
	start_both(visit, a, &a[8], bytes_at(visit, &a[6]));
}

const struct handler handler_ISENDRECV = {NULL, isendrecv_after, false};

static void isendrecv_replace_after(struct visit *visit, const uintptr_t *a)
{
	start_both(visit, a, &a[5], bytes_at(visit, &a[1]));
}

const struct handler handler_ISENDRECV_REPLACE = {NULL, isendrecv_replace_after, false};

/* --- persistent and partitioned --------------------------------------------------------------- */

static void keep_persistent(uint64_t handle, struct request *request)
{
	request->persistent = true;
	request_add(handle, request, false);
}

static void init_after(struct visit *visit, const uintptr_t *a)
{
	struct request request;

	if (!is_peer((int)a[3]))
		return;
	request = message(visit, (enum request_type)visit->info->handler->type, a);
	keep_persistent(handle_at(a[6], 0), &request);
}

const struct handler handler_SEND_INIT = {.after = init_after, .type = REQUEST_SEND};
const struct handler handler_RECV_INIT = {.after = init_after, .type = REQUEST_RECEIVE};

/* Neither partitions nor their arrivals are messages: what is started is one. */
static void partitioned_after(struct visit *visit, const uintptr_t *a)
{
	struct request request = {
		.type = visit->info->handler->type,
		.as_asked = true,
		.comm = comm_number(visit->thread, handle_of(a[6])),
		.peer = (int)a[4],
		.tag = (int)a[5],
		.bytes = count_arg(a[1], false) * bytes_at(visit, &a[2]),
	};

	if (is_peer((int)a[4]))
		keep_persistent(handle_at(a[8], 0), &request);
}

const struct handler handler_PSEND_INIT = {.after = partitioned_after, .type = REQUEST_SEND};
const struct handler handler_PRECV_INIT = {.after = partitioned_after, .type = REQUEST_RECEIVE};

static void start_again(struct visit *visit, uint64_t handle)
{
	struct request *request = request_find(handle);

	if (!request)
		return;
	request->id = request_next_id();
	put_started(visit, (enum request_type)request->type, request);
}

static void start_after(struct visit *visit, const uintptr_t *a)
{
	start_again(visit, handle_at(a[0], 0));
}

const struct handler handler_START = {NULL, start_after, false};

static void startall_after(struct visit *visit, const uintptr_t *a)
{
	for (size_t i = 0; i < count_arg(a[0], false); i++)
		start_again(visit, handle_at(a[1], i));
}

const struct handler handler_STARTALL = {NULL, startall_after, false};
