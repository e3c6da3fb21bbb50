/*
 * Files: what was moved, as the status says. Of transfers that end later only what was asked for is
 * known when they begin.
 */
#include "preload/handlers.h"

/* --- handles ---------------------------------------------------------------------------------- */

/* Pointers in all libraries. */
static struct request *find_file(uintptr_t handle)
{
	return abi.known ? request_find(handle | KEY_FILE) : NULL;
}

static void open_after(struct visit *visit, const uintptr_t *a, bool large)
{
	struct comm *comm = abi.known ? comm_of(visit->thread, handle_of(a[0])) : NULL;
	struct request kept = {.kind = REQUEST_OTHER};

	(void)large;
	if (!comm || !a[1])
		return;
	kept.comm = comm_open_file(comm, (const char *)a[1]);
	request_add(*(const uintptr_t *)a[4] | KEY_FILE, &kept, false);
	*visit_part(visit, CALL_FILE_OPENED, kept.comm, CALL_NO_PEER) = (uint32_t)a[2];
	visit->thread->nr_words++;
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

static void close_after(struct visit *visit, const uintptr_t *a, bool large)
{
	(void)a;
	(void)large;
	if (visit->saved)
		visit_part(visit, CALL_FILE_CLOSED, (uint32_t)visit->saved, CALL_NO_PEER);
}

const struct handler handler_FILE_CLOSE = {close_before, close_after, false};

/* --- transfers -------------------------------------------------------------------------------- */

static void put_transfer(struct visit *visit, bool write, uintptr_t file, uint64_t moved,
                         uint64_t asked)
{
	const struct request *kept = find_file(file);

	if (kept) {
		visit_part(visit, write ? CALL_FILE_WRITE : CALL_FILE_READ, kept->comm,
		           CALL_NO_PEER);
		visit_word(visit, moved);
		visit_word(visit, asked);
	} else {
		visit_part(visit, write ? CALL_WRITE : CALL_READ, 0, CALL_NO_PEER);
		visit_word(visit, moved);
	}
}

static uint64_t asked_for(const uintptr_t *count, bool large)
{
	return count_arg(count[0], large) * type_size(count[1]);
}

static void file_before(struct visit *visit, uintptr_t *a)
{
	if (abi.known)
		want_status(visit, &a[4]);
}

static void file_at_before(struct visit *visit, uintptr_t *a)
{
	if (abi.known)
		want_status(visit, &a[5]);
}

static void transfer_ended(struct visit *visit, bool write, const uintptr_t *a,
                           const uintptr_t *count, bool large)
{
	if (abi.known)
		put_transfer(visit, write, a[0], status_bytes(visit->status),
		             asked_for(count, large));
}

static void read_after(struct visit *visit, const uintptr_t *a, bool large)
{
	transfer_ended(visit, false, a, &a[2], large);
}

static void read_at_after(struct visit *visit, const uintptr_t *a, bool large)
{
	transfer_ended(visit, false, a, &a[3], large);
}

static void write_after(struct visit *visit, const uintptr_t *a, bool large)
{
	transfer_ended(visit, true, a, &a[2], large);
}

static void write_at_after(struct visit *visit, const uintptr_t *a, bool large)
{
	transfer_ended(visit, true, a, &a[3], large);
}

const struct handler handler_READ = {file_before, read_after, false};
const struct handler handler_READ_AT = {file_at_before, read_at_after, false};
const struct handler handler_WRITE = {file_before, write_after, false};
const struct handler handler_WRITE_AT = {file_at_before, write_at_after, false};

static void transfer_begins(struct visit *visit, bool write, const uintptr_t *a,
                            const uintptr_t *count, bool large)
{
	uint64_t asked = abi.known ? asked_for(count, large) : 0;

	if (abi.known)
		put_transfer(visit, write, a[0], asked, asked);
}

static void read_posted_after(struct visit *visit, const uintptr_t *a, bool large)
{
	transfer_begins(visit, false, a, &a[2], large);
}

static void read_at_posted_after(struct visit *visit, const uintptr_t *a, bool large)
{
	transfer_begins(visit, false, a, &a[3], large);
}

static void write_posted_after(struct visit *visit, const uintptr_t *a, bool large)
{
	transfer_begins(visit, true, a, &a[2], large);
}

static void write_at_posted_after(struct visit *visit, const uintptr_t *a, bool large)
{
	transfer_begins(visit, true, a, &a[3], large);
}

const struct handler handler_READ_POSTED = {NULL, read_posted_after, false};
const struct handler handler_READ_AT_POSTED = {NULL, read_at_posted_after, false};
const struct handler handler_WRITE_POSTED = {NULL, write_posted_after, false};
const struct handler handler_WRITE_AT_POSTED = {NULL, write_at_posted_after, false};
