/* MPI windows and one-sided access. */
#include "preload/handlers.h"

/* --- MPI windows: their communicators are known when they are made --------------------------- */

static void mpi_window_after(struct visit *visit, const uintptr_t *a)
{
	const uint8_t *at = visit->info->handler->at; /* communicator, MPI window */
	struct request kept = {
		.type = REQUEST_OTHER,
		.comm = comm_number(visit->thread, handle_of(a[at[0]])),
	};

	request_add(handle_at(a[at[1]], 0) | KEY_MPI_WINDOW, &kept, false);
}

const struct handler handler_WIN_CREATE = {.after = mpi_window_after, .at = {4, 5}};
const struct handler handler_WIN_ALLOCATE = {.after = mpi_window_after, .at = {3, 5}};
const struct handler handler_WIN_CREATE_DYNAMIC = {.after = mpi_window_after, .at = {1, 2}};

static void win_free_before(struct visit *visit, uintptr_t *a)
{
	struct request *kept = request_find(handle_at(a[0], 0) | KEY_MPI_WINDOW);

	(void)visit;
	if (kept)
		request_remove(kept);
}

const struct handler handler_WIN_FREE = {win_free_before, NULL, false};

/* --- one-sided -------------------------------------------------------------------------------- */

static void put_access(struct visit *visit, uintptr_t mpi_window, uintptr_t target, uint64_t bytes)
{
	enum call_part_type type = (enum call_part_type)visit->info->handler->type;
	const struct request *kept;

	if (!is_peer((int)target))
		return;
	kept = request_find(handle_of(mpi_window) | KEY_MPI_WINDOW);
	*visit_part(visit, type, kept ? kept->comm : 0, (int)target) = bytes;
}

static void access_after(struct visit *visit, const uintptr_t *a)
{
	const uint8_t *at = visit->info->handler->at; /* count, target, MPI window */

	put_access(visit, a[at[2]], a[at[1]], bytes_at(visit, &a[at[0]]));
}

/* One element of a type. */
static void element_after(struct visit *visit, const uintptr_t *a)
{
	const uint8_t *at = visit->info->handler->at; /* type, target, MPI window */

	put_access(visit, a[at[2]], a[at[1]], type_size(a[at[0]]));
}

const struct handler handler_PUT = {.after = access_after, .type = CALL_PUT, .at = {1, 3, 7}};
const struct handler handler_GET = {.after = access_after, .type = CALL_GET, .at = {1, 3, 7}};
const struct handler handler_ACCUMULATE = {
	.after = access_after, .type = CALL_ATOMIC, .at = {1, 3, 8}};
const struct handler handler_GET_ACCUMULATE = {
	.after = access_after, .type = CALL_ATOMIC, .at = {4, 6, 11}};
const struct handler handler_FETCH_AND_OP = {
	.after = element_after, .type = CALL_ATOMIC, .at = {2, 3, 6}};
const struct handler handler_COMPARE_AND_SWAP = {
	.after = element_after, .type = CALL_ATOMIC, .at = {3, 4, 6}};
