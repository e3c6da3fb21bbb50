/* Calls that complete requests. */
#include "preload/handlers.h"

#include <string.h>

static void put_received_later(struct visit *visit, const struct request *request,
                               const unsigned char *status)
{
	if (request->as_asked)
		visit_message(visit, CALL_RECEIVE_DONE, request->comm, request->peer, request->tag,
		              request->bytes);
	else
		visit_message(visit, CALL_RECEIVE_DONE, request->comm, status_source(status),
		              status_tag(status), status_bytes(status));
	visit_request(visit, CALL_RECEIVE_DONE, request->id);
}

static void put_sent(struct visit *visit, const struct request *request)
{
	visit_part(visit, CALL_SEND_DONE, request->comm, request->peer);
	visit_request(visit, CALL_SEND_DONE, request->id);
}

static void put_ended(struct visit *visit, enum call_part_type type, const struct request *request,
                      uint64_t bytes)
{
	put_volume(visit, type, request, bytes);
	visit_request(visit, type, request->id);
}

static void put_done(struct visit *visit, const struct request *request,
                     const unsigned char *status)
{
	switch (request->type) {
	case REQUEST_RECEIVE:
		put_received_later(visit, request, status);
		break;
	case REQUEST_SEND:
		put_sent(visit, request);
		break;
	case REQUEST_READ:
		put_ended(visit, CALL_READ_DONE, request, status_bytes(status));
		break;
	case REQUEST_WRITE:
		put_ended(visit, CALL_WRITE_DONE, request, status_bytes(status));
		break;
	default:
		put_ended(visit, CALL_COLLECTIVE_DONE, request, request->bytes);
		break;
	}
}

static void put_cancelled(struct visit *visit, const struct request *request)
{
	visit_part(visit, CALL_CANCELLED, request->comm, request->peer);
	visit_request(visit, CALL_CANCELLED, request->id);
}

void put_end(struct visit *visit, const struct request *request, const unsigned char *status)
{
	/* Messages alone can be cancelled; statuses of others may say so without a reason. */
	bool message = (request->type == REQUEST_SEND || request->type == REQUEST_RECEIVE) &&
	               !request->as_asked;

	if (!status || (message && status_cancelled(status)))
		put_cancelled(visit, request);
	else
		put_done(visit, request, status);
}

/* A request that was taken has ended, as its status says; NULL: it failed. */
static void complete(struct visit *visit, struct request *request, uint64_t handle,
                     const unsigned char *status)
{
	if (request_ends(request))
		put_end(visit, request, status);
	request_end(request, handle);
}

/* --- one request ------------------------------------------------------------------------------ */

static void take_one(struct visit *visit, uintptr_t *a)
{
	visit->request = NULL;
	visit->saved = handle_at(a[0], 0);
	if (!handle_done(visit->saved))
		visit->request = request_take(visit->saved);
	if (visit->request)
		want_status(visit, a);
}

static void complete_one(struct visit *visit)
{
	if (visit->request)
		complete(visit, visit->request, visit->saved, visit->result ? NULL : visit->status);
}

static void wait_after(struct visit *visit, const uintptr_t *a)
{
	(void)a;
	complete_one(visit);
}

const struct handler handler_WAIT = {
	.before = take_one, .after = wait_after, .always = true, .status = 1};

static void test_after(struct visit *visit, const uintptr_t *a)
{
	if (!visit->request)
		return;
	if (visit->result || *(const int *)a[1]) {
		complete_one(visit);
		return;
	}
	visit->thread->idle = true;
	request_put_back(visit->request, visit->saved);
	if (!visit->request->id)
		return;
	visit_part(visit, CALL_TEST_FAILED, visit->request->comm, visit->request->peer);
	visit_request(visit, CALL_TEST_FAILED, visit->request->id);
}

const struct handler handler_TEST = {
	.before = take_one, .after = test_after, .always = true, .status = 2};

/* --- arrays of requests ----------------------------------------------------------------------- */

/*
 * Copies the program's array of requests, because the library overwrites it. If the program ignores
 * the statuses, there is room for them behind the copy.
 */
static void copy_handles(struct visit *visit, uintptr_t *a, bool many)
{
	uintptr_t *status = &a[visit->info->handler->status];
	size_t nr = count_arg(a[0], false), size = nr * handle_size();
	size_t statuses = *status == abi.status_ignore ? (many ? nr : 1) * abi.status_size : 0;
	unsigned char *copy;

	size = (size + 7) & ~(size_t)7;
	copy = nr ? thread_scratch(visit->thread, size + statuses + 8) : NULL;
	visit->saved = (uintptr_t)copy;
	visit->nr_saved = copy ? nr : 0;
	if (!copy)
		return;
	memcpy(copy, (const void *)a[1], nr * handle_size());
	if (statuses)
		*status = (uintptr_t)(copy + size);
	visit->status = (const unsigned char *)*status;
}

static void copy_all(struct visit *visit, uintptr_t *a)
{
	copy_handles(visit, a, true);
}

static void copy_any(struct visit *visit, uintptr_t *a)
{
	if (abi.known)
		copy_handles(visit, a, false);
}

static void complete_saved(struct visit *visit, size_t i, const unsigned char *status)
{
	uintptr_t handle = i < visit->nr_saved ? handle_at(visit->saved, i) : abi.request_null;
	struct request *request = handle_done(handle) ? NULL : request_take(handle);

	if (request)
		complete(visit, request, handle, status);
}

/*
 * Completes the requests of a failed call without statuses: the requests that the library has set
 * to null have ended.
 */
static void complete_failed(struct visit *visit, uintptr_t array)
{
	for (size_t i = 0; i < visit->nr_saved; i++)
		if (handle_at(array, i) == abi.request_null)
			complete_saved(visit, i, NULL);
}

/*
 * Completes one of several requests that ended together. If the call failed, each status contains
 * the error of its request.
 */
static void complete_told(struct visit *visit, size_t i, const unsigned char *status)
{
	int err = visit->result ? status_error(status) : 0;

	if (err != abi.pending)
		complete_saved(visit, i, err ? NULL : status);
}

static bool statuses_tell(const struct visit *visit)
{
	return !visit->result || visit->result == abi.in_status;
}

static void complete_all(struct visit *visit, uintptr_t array)
{
	if (!statuses_tell(visit)) {
		complete_failed(visit, array);
		return;
	}
	for (size_t i = 0; i < visit->nr_saved; i++)
		complete_told(visit, i, visit->status + i * abi.status_size);
}

static void waitall_after(struct visit *visit, const uintptr_t *a)
{
	complete_all(visit, a[1]);
}

const struct handler handler_WAITALL = {
	.before = copy_all, .after = waitall_after, .always = true, .status = 2};

static void testall_after(struct visit *visit, const uintptr_t *a)
{
	visit->thread->idle = !visit->result && !*(const int *)a[2];
	if (!visit->thread->idle)
		complete_all(visit, a[1]);
}

const struct handler handler_TESTALL = {
	.before = copy_all, .after = testall_after, .always = true, .status = 3};

/* The index counts where the call succeeded; negative: there was no request. */
static void complete_any(struct visit *visit, const uintptr_t *a)
{
	const int *index = (const int *)a[2];

	if (visit->result)
		complete_failed(visit, a[1]);
	else if (*index >= 0)
		complete_saved(visit, (size_t)*index, visit->status);
}

static void waitany_after(struct visit *visit, const uintptr_t *a)
{
	complete_any(visit, a);
}

const struct handler handler_WAITANY = {
	.before = copy_any, .after = waitany_after, .always = true, .status = 3};

static void testany_after(struct visit *visit, const uintptr_t *a)
{
	visit->thread->idle = !visit->result && !*(const int *)a[3];
	if (abi.known && !visit->thread->idle)
		complete_any(visit, a);
}

const struct handler handler_TESTANY = {
	.before = copy_any, .after = testany_after, .always = true, .unknown = true, .status = 4};

static void some_after(struct visit *visit, const uintptr_t *a)
{
	int nr;

	if (!statuses_tell(visit)) {
		complete_failed(visit, a[1]);
		return;
	}
	nr = *(const int *)a[2];
	visit->thread->idle = !nr;
	for (int i = 0; i < nr && (size_t)i < visit->nr_saved; i++)
		complete_told(visit, (size_t)((const int *)a[3])[i],
		              visit->status + (size_t)i * abi.status_size);
}

const struct handler handler_WAITSOME = {
	.before = copy_all, .after = some_after, .always = true, .status = 4};
const struct handler handler_TESTSOME = {
	.before = copy_all, .after = some_after, .always = true, .status = 4};

/* --- without completion ----------------------------------------------------------------------- */

static void request_free_before(struct visit *visit, uintptr_t *a)
{
	visit->saved = handle_at(a[0], 0);
}

/* Nobody will hear of its end: as far as the program can know, it has ended. */
static void request_free_after(struct visit *visit, const uintptr_t *a)
{
	struct request *request;

	(void)a;
	if (handle_done(visit->saved))
		return;
	request = request_take(visit->saved);
	if (!request)
		return;
	request->persistent = false; /* it is gone in any case */
	if (request_ends(request) && request->type == REQUEST_SEND)
		put_sent(visit, request);
	else if (request_ends(request))
		put_cancelled(visit, request);
	request_end(request, visit->saved);
}

const struct handler handler_REQUEST_FREE = {request_free_before, request_free_after, false};
