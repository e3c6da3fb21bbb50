#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "preload/handlers.h"
#include "preload/write.h"

/* Requests from the calls that begin them to those that end them, of a library that is not there.
 */

enum { COMM = 0x1000, TYPE = 0x2000, COUNT = 3, PEER = 5, TAG = 7, TYPE_SIZE = 4 };
#define NULL_HANDLE ((uintptr_t)0x3000)

/* As Open MPI has it. */
struct status {
	int source, tag, error, cancelled;
	size_t bytes;
};

/* What a record says of one part. */
struct part {
	unsigned type;
	int peer;
	uint64_t words[3], request;
};

static struct comm comm = {.handle = COMM, .number = 1};
static struct call_requests last;
static struct part parts[RING_MAX_PARTS];

static int fake_type_size(uintptr_t type, int *size)
{
	*size = type == TYPE ? TYPE_SIZE : 0;
	return 0;
}

static int setup(void **state)
{
	(void)state;
	abi = (struct abi){
		.tried = true,
		.known = true,
		.open_mpi = true,
		.pointers = true,
		.handle_mask = UINTPTR_MAX,
		.request_null = NULL_HANDLE,
		.request_done = NULL_HANDLE,
		.request_done_mask = UINTPTR_MAX,
		.proc_null = -2,
		.in_status = 18,
		.pending = 19,
		.status_size = sizeof(struct status),
	};
	mpi.type_size = fake_type_size;
	requests_forked();
	process.threaded = false;
	process.shared = calloc(1, sizeof(*process.shared));
	assert_non_null(process.shared);
	this_thread = (struct thread){.comm_handle = COMM, .comm = &comm};
	last = (struct call_requests){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	thread_stop(&this_thread);
	free(process.shared);
	process.shared = NULL;
	return 0;
}

/* How many parts the record has. */
static unsigned decode(void)
{
	const uint64_t *at = this_thread.parts;
	unsigned nr_parts = ring_head_parts(this_thread.made);

	for (unsigned i = 0; i < nr_parts; i++) {
		struct part *part = &parts[i];
		unsigned type = *at & 0xff, nr = ring_part_words(type) - 1;

		*part = (struct part){.type = type, .peer = (int32_t)(*at >> 32)};
		at++;
		if (ring_part_fields(type) & PART_REQUEST) {
			part->request =
				*call_last_request(&last, call_part_fields(type)) + 1 + at[nr - 1];
			call_note_request(&last, call_part_fields(type), part->request);
		}
		memcpy(part->words, at, nr * sizeof(*at));
		at += nr;
	}
	assert_ptr_equal(at, &this_thread.parts[thread_part_words(&this_thread)]);
	return nr_parts;
}

/* A call, during which the library sets *handle; how many parts it has. */
static unsigned call(const struct handler *handler, uintptr_t *a, uintptr_t *handle,
                     uintptr_t becomes)
{
	const struct call_info info = {.handler = handler};
	struct visit visit = {.thread = &this_thread, .info = &info};

	if (handler->before)
		handler->before(&visit, a);
	if (handle)
		*handle = becomes;
	thread_begin_record(&this_thread, 0, 0, 0);
	if (handler->after)
		handler->after(&visit, a);
	return decode();
}

/* A call that makes a request; its id, or 0. */
static uint64_t begin(const struct handler *handler, uintptr_t handle)
{
	uintptr_t made = 0;
	uintptr_t a[] = {0, COUNT, TYPE, PEER, TAG, COMM, (uintptr_t)&made};
	unsigned nr = call(handler, a, &made, handle);

	return nr ? parts[0].request : 0;
}

static unsigned end(uintptr_t handle, uintptr_t becomes, struct status *status)
{
	uintptr_t a[] = {(uintptr_t)&handle, (uintptr_t)status};

	return call(&handler_WAIT, a, &handle, becomes);
}

static void check_ended(uintptr_t handle, unsigned type, uint64_t request)
{
	struct status status = {.source = 9, .tag = 8, .bytes = 24};

	assert_int_equal(end(handle, NULL_HANDLE, &status), 1);
	assert_int_equal(parts[0].type, type);
	assert_int_equal(parts[0].request, request);
}

/* A library gives the handle of what has ended to the next. */
static void test_handles_come_again(void **state)
{
	uint64_t before = 0;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		bool sends = i % 2;
		uint64_t id = begin(sends ? &handler_ISEND : &handler_IRECV, 0x100);

		assert_int_equal(parts[0].type, sends ? CALL_SEND_POSTED : CALL_RECEIVE_POSTED);
		assert_int_equal(parts[0].peer, PEER);
		assert_true(id > before);
		before = id;
		check_ended(0x100, sends ? CALL_SEND_DONE : CALL_RECEIVE_DONE, id);
		if (!sends) {
			assert_int_equal(parts[0].peer, 9);
			assert_int_equal(parts[0].words[0], 8);
			assert_int_equal(parts[0].words[1], 24);
		}
		assert_int_equal(end(0x100, NULL_HANDLE, NULL), 0);
	}
	assert_int_equal(process.shared->untracked, 0);
}

static void test_persistent(void **state)
{
	uintptr_t handle = 0x100, a[] = {(uintptr_t)&handle};
	uint64_t before = 0;

	(void)state;
	assert_int_equal(begin(&handler_SEND_INIT, handle), 0);
	assert_int_equal(end(handle, handle, NULL), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(call(&handler_START, a, NULL, 0), 1);
		assert_int_equal(parts[0].type, CALL_SEND_POSTED);
		assert_int_equal(parts[0].words[1], COUNT * TYPE_SIZE);
		assert_true(parts[0].request > before);
		before = parts[0].request;
		check_ended(handle, CALL_SEND_DONE, before);
	}
	assert_int_equal(call(&handler_REQUEST_FREE, a, &handle, NULL_HANDLE), 0);
	assert_null(request_find(0x100));
}

/* All its partitions are one message, as its making said: statuses say nothing of such. */
static void test_partitioned(void **state)
{
	uintptr_t handle = 0x100, start[] = {(uintptr_t)&handle};
	uintptr_t a[] = {0, 2, COUNT, TYPE, PEER, TAG, COMM, 0, (uintptr_t)&handle};

	(void)state;
	assert_int_equal(call(&handler_PRECV_INIT, a, NULL, 0), 0);
	assert_int_equal(call(&handler_START, start, NULL, 0), 1);
	check_ended(handle, CALL_RECEIVE_DONE, parts[0].request);
	assert_int_equal(parts[0].peer, PEER);
	assert_int_equal(parts[0].words[0], TAG);
	assert_int_equal(parts[0].words[1], 2 * COUNT * TYPE_SIZE);
}

/* Of those that are waited for, these have ended, in this order. */
static void test_some(void **state)
{
	uintptr_t handles[4] = {0x100, NULL_HANDLE, 0x300, 0x400};
	int nr = 2, indices[4] = {3, 0};
	struct status statuses[4] = {{.source = 1, .bytes = 10}, {.source = 2, .bytes = 20}};
	uintptr_t a[] = {4, (uintptr_t)handles, (uintptr_t)&nr, (uintptr_t)indices,
	                 (uintptr_t)statuses};
	uint64_t first = begin(&handler_IRECV, 0x100), second = begin(&handler_IRECV, 0x300),
		 third = begin(&handler_IRECV, 0x400);

	(void)state;
	assert_int_equal(call(&handler_WAITSOME, a, &handles[3], NULL_HANDLE), 2);
	assert_int_equal(parts[0].request, third);
	assert_int_equal(parts[0].peer, 1);
	assert_int_equal(parts[1].request, first);
	assert_int_equal(parts[1].words[1], 20);
	nr = -32766; /* MPI_UNDEFINED: none was under way */
	assert_int_equal(call(&handler_TESTSOME, a, NULL, 0), 0);
	check_ended(0x300, CALL_RECEIVE_DONE, second);
}

static void test_cancelled(void **state)
{
	struct status status = {.cancelled = 1};
	uint64_t id = begin(&handler_IRECV, 0x100);

	(void)state;
	assert_int_equal(end(0x100, NULL_HANDLE, &status), 1);
	assert_int_equal(parts[0].type, CALL_CANCELLED);
	assert_int_equal(parts[0].request, id);
	assert_null(request_find(0x100));
}

static void test_not_ready(void **state)
{
	int flag = 0;
	uintptr_t handle = 0x100, a[] = {(uintptr_t)&handle, (uintptr_t)&flag, 0};
	uint64_t id;

	(void)state;
	process.threaded = true;
	id = begin(&handler_ISEND, handle);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(call(&handler_TEST, a, NULL, 0), 1);
		assert_int_equal(parts[0].type, CALL_TEST_FAILED);
		assert_int_equal(parts[0].request, id);
		assert_true(this_thread.idle);
		a[2] = 0;
	}
	check_ended(handle, CALL_SEND_DONE, id);
}

/* All that were complete at once have one handle: each end is one of them, the first's is last. */
static void test_one_handle_for_all(void **state)
{
	uint64_t id = begin(&handler_ISEND, 0x100);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(begin(&handler_ISEND, 0x100), 0);
		assert_int_equal(parts[0].type, CALL_SEND);
	}
	assert_int_equal(end(0x100, NULL_HANDLE, NULL), 0);
	assert_int_equal(end(0x100, NULL_HANDLE, NULL), 0);
	check_ended(0x100, CALL_SEND_DONE, id);
}

/* What finds no place is a whole message at once, and counted; the others are there. */
static void test_more_than_there_is_room_for(void **state)
{
	enum { NR = 80000 };
	static uint64_t ids[NR];
	uint64_t nr_kept = 0;

	(void)state;
	for (unsigned i = 0; i < NR; i++) {
		ids[i] = begin(&handler_ISEND, 0x10000 + 0x10UL * i);
		assert_int_equal(parts[0].type, ids[i] ? CALL_SEND_POSTED : CALL_SEND);
		nr_kept += ids[i] != 0;
	}
	assert_int_equal(nr_kept + process.shared->untracked, NR);
	assert_in_range(nr_kept, 50000, 65536);
	for (unsigned i = 0; i < NR; i++)
		if (ids[i])
			check_ended(0x10000 + 0x10UL * i, CALL_SEND_DONE, ids[i]);
		else
			assert_int_equal(end(0x10000 + 0x10UL * i, NULL_HANDLE, NULL), 0);
	assert_true(begin(&handler_ISEND, 0x100));
}

/* Where threads share a handle each finds its own, and else the oldest. */
static void test_threads(void **state)
{
	static struct thread other;
	const struct request request = {.type = REQUEST_SEND};
	struct request *mine, *theirs, *older;

	(void)state;
	process.threaded = true;
	older = request_add(0x100, &request, false);
	older->owner = &other;
	older->id = 1;
	theirs = request_add(0x100, &request, false);
	theirs->owner = &other;
	theirs->id = 2;
	assert_ptr_equal(request_find(0x100), older);
	mine = request_add(0x100, &request, false);
	mine->id = 3;
	assert_ptr_equal(request_find(0x100), mine);
	assert_ptr_equal(request_take(0x100), mine);
	assert_ptr_equal(request_take(0x100), older);
	assert_ptr_equal(request_take(0x100), theirs);
	assert_null(request_take(0x100));
	request_put_back(older, 0x100);
	assert_ptr_equal(request_find(0x100), older);
	request_end(mine, 0x100);
	request_end(theirs, 0x100);
	assert_ptr_equal(request_find(0x100), older);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_handles_come_again),
		TEST(test_persistent),
		TEST(test_partitioned),
		TEST(test_some),
		TEST(test_cancelled),
		TEST(test_not_ready),
		TEST(test_one_handle_for_all),
		TEST(test_more_than_there_is_room_for),
		TEST(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
