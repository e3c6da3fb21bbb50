/* Windows. */
#include "preload/handlers.h"

/* --- windows: their communicators are known when they are made -------------------------------- */

static void keep_window(struct visit *visit, uintptr_t comm, uintptr_t window)
{
	struct request kept = {.kind = REQUEST_OTHER};

	kept.comm = comm_number(visit->thread, handle_of(comm));
	request_add(handle_at(window, 0) | KEY_WINDOW, &kept, false);
}

static void win_create_after(struct visit *visit, const uintptr_t *a)
{
	keep_window(visit, a[4], a[5]);
}

const struct handler handler_WIN_CREATE = {NULL, win_create_after, false};

static void win_allocate_after(struct visit *visit, const uintptr_t *a)
{
	keep_window(visit, a[3], a[5]);
}

const struct handler handler_WIN_ALLOCATE = {NULL, win_allocate_after, false};

static void win_create_dynamic_after(struct visit *visit, const uintptr_t *a)
{
	keep_window(visit, a[1], a[2]);
}

const struct handler handler_WIN_CREATE_DYNAMIC = {NULL, win_create_dynamic_after, false};

static void win_free_before(struct visit *visit, uintptr_t *a)
{
	struct request *kept = request_find(handle_at(a[0], 0) | KEY_WINDOW);

	(void)visit;
	if (kept)
		request_remove(kept);
}

const struct handler handler_WIN_FREE = {win_free_before, NULL, false};

/* --- one-sided -------------------------------------------------------------------------------- */

static void put_access(struct visit *visit, enum call_part_kind kind, uintptr_t window,
                       uintptr_t target, uint64_t bytes)
{
	const struct request *kept;

	if (!is_peer((int)target))
		return;
	kept = request_find(handle_of(window) | KEY_WINDOW);
	*visit_part(visit, kind, kept ? kept->comm : 0, (int)target) = bytes;
}

static void put_after(struct visit *visit, const uintptr_t *a)
{
	put_access(visit, CALL_PUT, a[7], a[3], bytes_at(visit, &a[1]));
}

static void get_after(struct visit *visit, const uintptr_t *a)
{
	put_access(visit, CALL_GET, a[7], a[3], bytes_at(visit, &a[1]));
}

static void accumulate_after(struct visit *visit, const uintptr_t *a)
{
	put_access(visit, CALL_ATOMIC, a[8], a[3], bytes_at(visit, &a[1]));
}

static void get_accumulate_after(struct visit *visit, const uintptr_t *a)
{
	put_access(visit, CALL_ATOMIC, a[11], a[6], bytes_at(visit, &a[4]));
}

static void fetch_and_op_after(struct visit *visit, const uintptr_t *a)
{
	put_access(visit, CALL_ATOMIC, a[6], a[3], type_size(a[2]));
}

static void compare_and_swap_after(struct visit *visit, const uintptr_t *a)
{
	put_access(visit, CALL_ATOMIC, a[6], a[4], type_size(a[3]));
}

const struct handler handler_PUT = {NULL, put_after, false};
const struct handler handler_GET = {NULL, get_after, false};
const struct handler handler_ACCUMULATE = {NULL, accumulate_after, false};
const struct handler handler_GET_ACCUMULATE = {NULL, get_accumulate_after, false};
const struct handler handler_FETCH_AND_OP = {NULL, fetch_and_op_after, false};
const struct handler handler_COMPARE_AND_SWAP = {NULL, compare_and_swap_after, false};
