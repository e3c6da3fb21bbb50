#include "symbolize/symbols_aside.h"
#include "symbolize/dwarf/lines.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PACKET_SIZE 32768
#define MAX_ANSWER  ((size_t)16 << 20) /* one symbol with the calls inlined there */
#define HEAP_SIZE   (32 << 20)         /* the largest M_MMAP_THRESHOLD */
#define TICK_MS     100
#define PATIENCE_MS 10000
#define NETWORK_MS  120000 /* a debuginfod server has its own time limits */
#define MOST_STALLS 2

/*
 * A request for names of a module, or for the identities of source files. The offsets follow in
 * packets, or the paths with their NULs in one packet.
 */
struct question {
	uint32_t module; /* or SOURCE_FILES */
	uint32_t nr;     /* offsets or paths */
};

#define SOURCE_FILES UINT32_MAX

/*
 * An answer, one for each symbol and one at the end. Behind it stand strings: the symbol's name,
 * and of each source its line, its function, its file and the MD5 of that. A byte 1 comes before
 * each of these, and for NULL a byte 0 alone. Of a source file there is just what identifies it.
 */
struct answer {
	uint32_t size; /* with the strings */
	uint32_t is_end;
	uint32_t offset, lo, hi, nr_sources;
	int32_t err; /* of the end */
};

/* --- the side process ------------------------------------------------------------------------- */

struct sender {
	int fd;
	size_t used;
	char bytes[PACKET_SIZE];
};

static void send_rest(struct sender *sender)
{
	if (sender->used && send(sender->fd, sender->bytes, sender->used, MSG_NOSIGNAL) < 0)
		_exit(1); /* nobody wants the answer any more */
	sender->used = 0;
}

static void send_bytes(struct sender *sender, const void *bytes, size_t size)
{
	size_t piece;

	for (const char *from = bytes; size; from += piece, size -= piece) {
		if (sender->used == sizeof(sender->bytes))
			send_rest(sender);
		piece = sizeof(sender->bytes) - sender->used;
		if (piece > size)
			piece = size;
		memcpy(sender->bytes + sender->used, from, piece);
		sender->used += piece;
	}
}

static size_t string_size(const char *string)
{
	return string ? strlen(string) + 2 : 1;
}

static void send_string(struct sender *sender, const char *string)
{
	send_bytes(sender, string ? "\1" : "", 1);
	if (string)
		send_bytes(sender, string, strlen(string) + 1);
}

static void send_md5(struct sender *sender, const uint8_t *md5)
{
	send_bytes(sender, md5 ? "\1" : "", 1);
	if (md5)
		send_bytes(sender, md5, SOURCE_MD5_SIZE);
}

static int send_symbol(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct sender *sender = arg;
	struct answer answer = {
		.size = (uint32_t)(sizeof(answer) + string_size(symbol->name)),
		.offset = offset,
		.lo = symbol->lo,
		.hi = symbol->hi,
		.nr_sources = (uint32_t)symbol->nr_sources,
	};

	for (size_t i = 0; i < symbol->nr_sources; i++)
		answer.size +=
			(uint32_t)(sizeof(uint32_t) + string_size(symbol->sources[i].function) +
		                   string_size(symbol->sources[i].file) + 1 +
		                   (symbol->sources[i].md5 ? SOURCE_MD5_SIZE : 0));
	send_bytes(sender, &answer, sizeof(answer));
	send_string(sender, symbol->name);
	for (size_t i = 0; i < symbol->nr_sources; i++) {
		send_bytes(sender, &symbol->sources[i].line, sizeof(uint32_t));
		send_string(sender, symbol->sources[i].function);
		send_string(sender, symbol->sources[i].file);
		send_md5(sender, symbol->sources[i].md5);
	}
	return 0;
}

static uint32_t *receive_offsets(int fd, uint32_t nr)
{
	size_t size = (size_t)nr * sizeof(uint32_t), done = 0;
	uint32_t *offsets = malloc(size + PACKET_SIZE);
	ssize_t got = 1;

	while (offsets && done < size && got > 0) {
		got = recv(fd, (char *)offsets + done, PACKET_SIZE, 0);
		done += got > 0 ? (size_t)got : 0;
	}
	if (done == size)
		return offsets;
	free(offsets);
	return NULL;
}

static void answer_question(struct symbolizer *symbolizer, struct sender *sender,
                            const struct question *question, const uint32_t *offsets)
{
	struct symbolizer_counts *counts = symbolizer_counts(symbolizer);
	struct module *module =
		module_table_get(symbolizer_modules(symbolizer), (uint16_t)question->module);
	struct answer end = {.size = sizeof(end) + sizeof(*counts), .is_end = true};

	counts->stats = (struct symbolizer_stats){0};
	if (module)
		end.err = symbolizer_look_up(symbolizer, module, offsets, question->nr, send_symbol,
		                             sender);
	send_bytes(sender, &end, sizeof(end));
	send_bytes(sender, counts, sizeof(*counts));
	send_rest(sender);
}

static void answer_about_file(struct symbolizer *symbolizer, struct sender *sender,
                              const char *path)
{
	struct answer answer = {.is_end = true};
	struct source_identity identity;

	symbolizer_look_at_file(symbolizer, path, &identity);
	answer.size = sizeof(answer) + sizeof(identity);
	send_bytes(sender, &answer, sizeof(answer));
	send_bytes(sender, &identity, sizeof(identity));
	send_rest(sender);
}

static bool answer_about_files(struct symbolizer *symbolizer, struct sender *sender, uint32_t nr)
{
	char paths[PACKET_SIZE];
	ssize_t got = recv(sender->fd, paths, sizeof(paths), 0);
	const char *at = paths;

	if (got <= 0 || paths[got - 1])
		return false;
	for (uint32_t i = 0; i < nr && at < paths + got; i++, at += strlen(at) + 1)
		answer_about_file(symbolizer, sender, at);
	return true;
}

/*
 * Debug information is read into fresh memory, module after module, and page faults would take half
 * of the time. Huge pages make them few, and freed memory is kept for the next module.
 */
static void prepare_heap(void)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start;
	void *heap;

	mallopt(M_MMAP_THRESHOLD, HEAP_SIZE);
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_SIZE);
	heap = malloc(HEAP_SIZE - page);
	start = ((uintptr_t)heap + page - 1) & -page;
	if (heap)
		madvise((void *)start, HEAP_SIZE - 2 * page, MADV_HUGEPAGE);
	free(heap);
}

static void answer_questions(void *arg, int fd)
{
	struct sender *sender = calloc(1, sizeof(*sender));
	struct question question;
	uint32_t *offsets;

	if (!sender)
		return;
	sender->fd = fd;
	prepare_heap();
	module_table_read_directly(symbolizer_modules(arg));
	while (recv(fd, &question, sizeof(question), 0) == sizeof(question)) {
		if (question.module == SOURCE_FILES) {
			if (!answer_about_files(arg, sender, question.nr))
				break;
			continue;
		}
		offsets = receive_offsets(fd, question.nr);
		if (!offsets)
			break;
		answer_question(arg, sender, &question, offsets);
		free(offsets);
	}
	free(sender);
}

/* --- the caller ------------------------------------------------------------------------------- */

struct symbols_aside *symbols_aside_new(symbolizer_go_on_fn *go_on, void *arg)
{
	struct symbols_aside *aside = calloc(1, sizeof(*aside));

	if (!aside)
		return NULL;
	*aside = (struct symbols_aside){.go_on = go_on, .arg = arg, .process.fd = -1};
	aside->sources = calloc(LINES_MAX_CHAIN, sizeof(*aside->sources));
	if (aside->sources)
		return aside;
	free(aside);
	return NULL;
}

void symbols_aside_free(struct symbols_aside *aside)
{
	if (!aside)
		return;
	side_process_kill(&aside->process);
	free(aside->sources);
	free(aside->bytes);
	free(aside);
}

static int start(struct symbols_aside *aside, struct symbolizer *symbolizer)
{
	int *files, err;
	size_t nr;

	if (aside->process.fd >= 0)
		return 0;
	files = module_table_files(symbolizer_modules(symbolizer), &nr);
	if (!files)
		return -ENOMEM;
	err = side_process_start(&aside->process, answer_questions, symbolizer, files, nr);
	free(files);
	return err;
}

static int send_question(const struct symbols_aside *aside, const struct module *module,
                         const uint32_t *offsets, size_t n)
{
	const struct question question = {module->id, (uint32_t)n};
	size_t size = n * sizeof(*offsets), piece;

	if (send(aside->process.fd, &question, sizeof(question), MSG_NOSIGNAL) < 0)
		return -EPIPE;
	for (const char *from = (const char *)offsets; size; from += piece, size -= piece) {
		piece = size < PACKET_SIZE ? size : PACKET_SIZE;
		if (send(aside->process.fd, from, piece, MSG_NOSIGNAL) < 0)
			return -EPIPE;
	}
	return 0;
}

/* A process that waits for a file system that does not answer uses none. */
static uint64_t cpu_time(const struct symbols_aside *aside)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(aside->process.pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/*
 * 0, -EINTR: it shall not go on; -ETIMEDOUT: the process makes no progress. Ticks are counted, not
 * the clock: both processes may be stopped meanwhile.
 */
static int await_packet(const struct symbols_aside *aside, int patience_ms)
{
	uint64_t before = cpu_time(aside), now;

	for (int idle = 0; idle < patience_ms; idle += TICK_MS, before = now) {
		if (side_process_wait(&aside->process, TICK_MS, false))
			return 0;
		if (aside->go_on && !aside->go_on(aside->arg))
			return -EINTR;
		now = cpu_time(aside);
		if (now != before)
			idle = 0;
	}
	return -ETIMEDOUT;
}

static int make_room(struct symbols_aside *aside)
{
	size_t room = aside->room ? 2 * aside->room : 8 * PACKET_SIZE;
	char *bytes;

	if (aside->room - aside->used >= PACKET_SIZE)
		return 0;
	bytes = room > 2 * MAX_ANSWER ? NULL : realloc(aside->bytes, room);
	if (!bytes)
		return -ENOMEM;
	aside->bytes = bytes;
	aside->room = room;
	return 0;
}

static int receive_packet(struct symbols_aside *aside, int patience_ms)
{
	int err = make_room(aside);
	ssize_t got;

	if (!err)
		err = await_packet(aside, patience_ms);
	if (err)
		return err;
	got = recv(aside->process.fd, aside->bytes + aside->used, PACKET_SIZE, 0);
	if (got <= 0)
		return -EPIPE;
	aside->used += (size_t)got;
	return 0;
}

/* The part of an answer that is not parsed yet. */
struct text {
	const char *at, *end;
};

static int take(struct text *text, void *to, size_t size)
{
	if ((size_t)(text->end - text->at) < size)
		return -EPROTO;
	memcpy(to, text->at, size);
	text->at += size;
	return 0;
}

static int take_string(struct text *text, const char **string)
{
	char is_there = 0;
	const char *end;

	*string = NULL;
	if (take(text, &is_there, 1))
		return -EPROTO;
	if (!is_there)
		return 0;
	end = memchr(text->at, '\0', (size_t)(text->end - text->at));
	if (!end)
		return -EPROTO;
	*string = text->at;
	text->at = end + 1;
	return 0;
}

static int take_md5(struct text *text, const uint8_t **md5)
{
	char is_there = 0;

	*md5 = NULL;
	if (take(text, &is_there, 1))
		return -EPROTO;
	if (!is_there)
		return 0;
	if (text->end - text->at < SOURCE_MD5_SIZE)
		return -EPROTO;
	*md5 = (const uint8_t *)text->at;
	text->at += SOURCE_MD5_SIZE;
	return 0;
}

static int take_symbol(const struct symbols_aside *aside, const struct answer *answer,
                       struct text text, struct symbol *symbol)
{
	int err = take_string(&text, &symbol->name);

	if (answer->nr_sources > LINES_MAX_CHAIN)
		return -EPROTO;
	for (uint32_t i = 0; i < answer->nr_sources && !err; i++) {
		struct source *source = &aside->sources[i];

		err = take(&text, &source->line, sizeof(source->line));
		if (!err)
			err = take_string(&text, &source->function);
		if (!err)
			err = take_string(&text, &source->file);
		if (!err)
			err = take_md5(&text, &source->md5);
	}
	symbol->lo = answer->lo;
	symbol->hi = answer->hi;
	symbol->sources = aside->sources;
	symbol->nr_sources = answer->nr_sources;
	return err;
}

static int take_end(struct symbolizer *symbolizer, const struct answer *answer, struct text text)
{
	struct symbolizer_counts *counts = symbolizer_counts(symbolizer), theirs;

	if (take(&text, &theirs, sizeof(theirs)))
		return -EPROTO;
	counts->maps_left = theirs.maps_left;
	counts->stats.kernel_hidden |= theirs.stats.kernel_hidden;
	counts->stats.lines_refused += theirs.stats.lines_refused;
	counts->stats.lines_packed += theirs.stats.lines_packed;
	counts->stats.refused += theirs.stats.refused;
	counts->stats.split_missing += theirs.stats.split_missing;
	return answer->err;
}

/* One module's question at work. */
struct exchange {
	struct symbols_aside *aside;
	struct symbolizer *symbolizer;
	const uint32_t *offsets;
	size_t n; /* offsets that were not answered yet */
	symbol_fn *fn;
	void *arg;
	bool is_over;
	struct source_identity *identity; /* NULL: it is about a module */
};

static int on_symbol(struct exchange *exchange, const struct answer *answer, struct text text)
{
	struct symbol symbol = {0};

	if (take_symbol(exchange->aside, answer, text, &symbol))
		return -EPROTO;
	while (exchange->n && *exchange->offsets < answer->offset) {
		exchange->offsets++;
		exchange->n--;
	}
	if (!exchange->n || *exchange->offsets != answer->offset)
		return -EPROTO;
	exchange->offsets++;
	exchange->n--;
	return exchange->fn(exchange->arg, answer->offset, &symbol);
}

/* The answers that have come whole. */
static int take_answers(struct exchange *exchange)
{
	struct symbols_aside *aside = exchange->aside;
	struct answer answer;
	size_t at = 0;
	int err = 0;

	while (!err && !exchange->is_over && aside->used - at >= sizeof(answer)) {
		struct text text = {aside->bytes + at + sizeof(answer), NULL};

		memcpy(&answer, aside->bytes + at, sizeof(answer));
		if (answer.size < sizeof(answer) || answer.size > MAX_ANSWER)
			return -EPROTO;
		if (answer.size > aside->used - at)
			break;
		at += answer.size;
		text.end = aside->bytes + at;
		exchange->is_over = answer.is_end;
		if (exchange->identity)
			err = take(&text, exchange->identity, sizeof(*exchange->identity));
		else
			err = answer.is_end ? take_end(exchange->symbolizer, &answer, text)
			                    : on_symbol(exchange, &answer, text);
	}
	memmove(aside->bytes, aside->bytes + at, aside->used - at);
	aside->used -= at;
	return err;
}

static int patience_of(struct symbolizer *symbolizer)
{
	const struct debug_search *search =
		module_table_debug_search(symbolizer_modules(symbolizer));

	return search && search->ask_server ? NETWORK_MS : PATIENCE_MS;
}

static int await_answers(struct exchange *exchange, int err)
{
	struct symbols_aside *aside = exchange->aside;

	exchange->is_over = false;
	while (!err && !exchange->is_over) {
		err = receive_packet(aside, patience_of(exchange->symbolizer));
		if (!err)
			err = take_answers(exchange);
	}
	if (!exchange->is_over)
		side_process_kill(&aside->process);
	return err;
}

static int ask(struct exchange *exchange, const struct module *module)
{
	struct symbols_aside *aside = exchange->aside;

	if (start(aside, exchange->symbolizer))
		return -EAGAIN;
	aside->used = 0;
	return await_answers(exchange,
	                     send_question(aside, module, exchange->offsets, exchange->n));
}

static bool is_on_dead_mount(const struct symbols_aside *aside, const char *path)
{
	struct mounts mounts = {0};

	if (aside->dead.nr)
		mounts_on_way(&mounts, 0, path);
	return mounts_meet(&mounts, &aside->dead);
}

bool symbols_aside_skips(const struct symbols_aside *aside, struct symbolizer *symbolizer,
                         const struct module *module)
{
	struct mounts mounts = {0};

	if (aside->dead.nr)
		module_mounts(symbolizer_modules(symbolizer), module, &mounts);
	return aside->nr_stalls >= MOST_STALLS || mounts_meet(&mounts, &aside->dead);
}

/* Other files on the same file system would take as long. False: none of these is to blame. */
static bool blame(struct symbols_aside *aside, const struct mounts *mounts)
{
	if (!mounts->nr || aside->dead.nr == MOUNTS_MAX)
		return false;
	mounts_add(&aside->dead, mounts->devs[mounts->nr - 1]);
	return true;
}

static bool blame_for_module(struct symbols_aside *aside, struct symbolizer *symbolizer,
                             const struct module *module)
{
	struct mounts mounts = {0};

	module_mounts(symbolizer_modules(symbolizer), module, &mounts);
	return blame(aside, &mounts);
}

static bool blame_for_path(struct symbols_aside *aside, const char *path)
{
	struct mounts mounts = {0};

	mounts_on_way(&mounts, 0, path);
	return blame(aside, &mounts);
}

int symbols_aside_module(struct symbols_aside *aside, struct symbolizer *symbolizer,
                         struct module *module, const uint32_t *offsets, size_t n, symbol_fn *fn,
                         void *arg)
{
	struct exchange exchange = {aside, symbolizer, offsets, n, fn, arg, false, NULL};
	int err = ask(&exchange, module);

	if (err != -ETIMEDOUT && err != -EPIPE && err != -EPROTO)
		return err == -EINTR ? 0 : err;
	symbolizer_counts(symbolizer)->stats.unanswered++;
	if (err != -ETIMEDOUT || blame_for_module(aside, symbolizer, module))
		return 0;
	aside->nr_stalls++;
	if (module->type != MODULE_FILE)
		return 0;
	/* Its own file lies on a local disk: then it is a debug file that cannot be read. */
	module_table_only_own_files(symbolizer_modules(symbolizer));
	err = exchange.n ? ask(&exchange, module) : 0;
	return err == -ENOMEM ? err : 0;
}

/* --- source files ----------------------------------------------------------------------------- */

#define MAX_BATCH 256

/* Files about which one question is asked, so that no process waits for the other at each file. */
struct file_batch {
	size_t files[MAX_BATCH]; /* indexes */
	uint32_t nr;
	size_t next; /* the first file that it does not hold */
	size_t used;
	char paths[PACKET_SIZE];
};

static bool is_askable(const struct symbols_aside *aside, const char *path)
{
	return path[0] == '/' && strlen(path) < PATH_MAX && !is_on_dead_mount(aside, path);
}

static void batch_fill(struct file_batch *batch, const struct symbols_aside *aside,
                       const char *const *paths, size_t n)
{
	size_t size;

	batch->nr = 0;
	batch->used = 0;
	for (; batch->next < n && batch->nr < MAX_BATCH; batch->next++) {
		const char *path = paths[batch->next];

		if (!is_askable(aside, path))
			continue;
		size = strlen(path) + 1;
		if (size > sizeof(batch->paths) - batch->used)
			break;
		memcpy(batch->paths + batch->used, path, size);
		batch->used += size;
		batch->files[batch->nr++] = batch->next;
	}
}

static int send_batch(struct symbols_aside *aside, struct symbolizer *symbolizer,
                      const struct file_batch *batch)
{
	const struct question question = {SOURCE_FILES, batch->nr};

	if (start(aside, symbolizer))
		return -EAGAIN;
	aside->used = 0;
	if (send(aside->process.fd, &question, sizeof(question), MSG_NOSIGNAL) < 0 ||
	    send(aside->process.fd, batch->paths, batch->used, MSG_NOSIGNAL) < 0)
		return -EPIPE;
	return 0;
}

/* Files behind one that does not answer are asked about again. */
static int ask_about_batch(struct symbols_aside *aside, struct symbolizer *symbolizer,
                           const char *const *paths, struct file_batch *batch,
                           source_identity_fn *fn, void *arg)
{
	struct source_identity identity;
	struct exchange exchange = {
		.aside = aside, .symbolizer = symbolizer, .identity = &identity};
	int err = send_batch(aside, symbolizer, batch);

	for (uint32_t i = 0; i < batch->nr; i++) {
		size_t file = batch->files[i];

		err = await_answers(&exchange, err);
		if (!err) {
			fn(arg, file, &identity);
			continue;
		}
		if (err == -ETIMEDOUT && !blame_for_path(aside, paths[file]))
			aside->nr_stalls++;
		batch->next = file + 1;
		break;
	}
	return err == -EINTR || err == -EAGAIN || err == -ENOMEM ? err : 0;
}

int symbols_aside_files(struct symbols_aside *aside, struct symbolizer *symbolizer,
                        const char *const *paths, size_t n, source_identity_fn *fn, void *arg)
{
	struct file_batch *batch = calloc(1, sizeof(*batch));
	int err = batch ? 0 : -ENOMEM;

	while (!err && batch->next < n && aside->nr_stalls < MOST_STALLS) {
		batch_fill(batch, aside, paths, n);
		err = ask_about_batch(aside, symbolizer, paths, batch, fn, arg);
	}
	free(batch);
	return err == -EAGAIN || err == -EINTR ? 0 : err;
}
