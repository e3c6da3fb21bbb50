#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "cli/commands.h"
#include "trace/live/image_list.h"
#include "trace/live/tables_layout.h"

enum { BUDGET = 128 << 10 };

/* A folder of the test's own, so that its traces' images are nobody else's. */
struct place {
	char folder[PATH_MAX], path[PATH_MAX + 16];
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	char folder[] = "/tmp/adaptrace-test-XXXXXX";

	assert_non_null(mkdtemp(folder));
	assert_non_null(realpath(folder, place->folder));
	snprintf(place->path, sizeof(place->path), "%s/x.atr", place->folder);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	rmdir(place->folder);
	free(place);
	return 0;
}

static void strings_are_stored_once(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	uint32_t a, b, c;

	assert_non_null(tables);
	assert_int_equal(tables_string(tables, ""), 0);
	a = tables_string(tables, "main");
	b = tables_string(tables, "ain"); /* a tail is not the same string */
	c = tables_string(tables, "main");
	assert_int_equal(a, c);
	assert_int_not_equal(a, b);
	assert_string_equal(tables_string_at(tables, a), "main");
	assert_string_equal(tables_string_at(tables, b), "ain");
	assert_string_equal(tables_string_at(tables, UINT32_MAX), "");
	tables_free(tables);
}

static void full_strings_are_counted(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	char name[4096];
	uint32_t first, last = 1;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	first = tables_string(tables, name);
	for (unsigned i = 0; last; i++) {
		assert_true(i < 10000);
		sprintf(name, "%u", i);
		name[strlen(name)] = '-';
		last = tables_string(tables, name);
	}
	assert_int_equal(tables_run(tables)->refused_strings, 1);
	assert_int_equal(tables_string_at(tables, first)[0], 'x');
	assert_true(tables_section(tables, TRACE_STRINGS).nr <= TABLES_MAX_STRINGS);
	tables_free(tables);
}

static void many_strings(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	char name[32];
	uint32_t offsets[5000];

	for (unsigned i = 0; i < 5000; i++) {
		sprintf(name, "string %u", i);
		offsets[i] = tables_string(tables, name);
	}
	for (unsigned i = 0; i < 5000; i++) {
		sprintf(name, "string %u", i);
		assert_int_equal(tables_string(tables, name), offsets[i]);
		assert_string_equal(tables_string_at(tables, offsets[i]), name);
	}
	tables_free(tables);
}

static void entries_stay_where_they_are(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	struct trace_event *event = tables_add_event(tables);
	struct trace_module *module = tables_module(tables, 5);
	struct trace_stream *stream = tables_add_stream(tables);

	event->base_period = 17;
	module->area = 42;
	stream->cpu = 3;
	for (unsigned i = 1; i < TABLES_MAX_STREAMS; i++)
		assert_non_null(tables_add_stream(tables));
	assert_null(tables_add_stream(tables));
	for (unsigned i = 1; i < TABLES_MAX_EVENTS; i++)
		assert_non_null(tables_add_event(tables));
	assert_null(tables_add_event(tables));
	assert_ptr_equal(tables_module(tables, 5), module);
	assert_non_null(tables_module(tables, UINT16_MAX));
	assert_int_equal(tables_section(tables, TRACE_MODULES).nr, 1 << 16);
	assert_ptr_equal(tables_section(tables, TRACE_STREAMS).entries, stream);
	assert_int_equal(event->base_period, 17);
	assert_int_equal(module->area, 42);
	assert_int_equal(stream->cpu, 3);
	tables_free(tables);
}

static void commands_have_a_stand_in(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	struct trace_command *first = tables_command(tables, 7), *last = NULL;

	first->tasks = 1;
	assert_ptr_equal(tables_command(tables, 7), first);
	for (uint32_t comm = 100; comm < 100 + 2 * TRACE_MAX_COMMANDS; comm++) {
		last = tables_command(tables, comm);
		last->tasks++;
	}
	assert_int_equal(tables_section(tables, TRACE_COMMANDS).nr, TRACE_MAX_COMMANDS);
	assert_string_equal(tables_string_at(tables, last->comm), "[other commands]");
	assert_int_equal(last->tasks, TRACE_MAX_COMMANDS + 2);
	assert_ptr_equal(tables_command(tables, 7), first);
	assert_int_equal(first->tasks, 1);
	tables_free(tables);
}

static void slots_wait_for_their_samples(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	struct hmb_ledger *ledger = tables_ledger(tables);
	uint32_t a = tables_add_thread(tables, 1, 1, 0, 10);
	uint32_t b = tables_add_thread(tables, 2, 2, 0, 20), c;

	ledger->nr_kinds = 2;
	tables_thread_stored(tables, a, 1, 3);
	tables_thread_stored(tables, a, 1, 0);
	tables_thread_ended(tables, a, 30);
	assert_int_equal(tables_thread(tables, a)->end, 30);
	tables_thread_ended(tables, a, 5); /* before its first sample */
	assert_int_equal(tables_thread(tables, a)->end, 10);
	assert_int_not_equal(tables_add_thread(tables, 3, 3, 0, 40), a);
	ledger->floor[1] = 3;
	ledger->nr_reductions = 3;
	assert_int_not_equal(tables_add_thread(tables, 4, 4, 0, 50), a);
	ledger->floor[1] = 4;
	ledger->nr_reductions = 4;
	assert_int_equal(tables_add_thread(tables, 5, 5, 0, 60), a);
	assert_int_equal(tables_thread(tables, a)->tid, 5);
	assert_int_equal(tables_thread(tables, a)->end, 0);
	/* None stored at all: at once. */
	tables_thread_ended(tables, b, 70);
	assert_int_equal(tables_thread(tables, b)->tid, 0);
	c = tables_add_thread(tables, 6, 6, 0, 80);
	assert_int_equal(c, b);
	tables_free(tables);
}

static void clear(struct hmb_ledger *ledger, unsigned kind)
{
	ledger->since[kind] = ++ledger->cleared;
	ledger->floor[kind] = 0;
}

static void slots_of_cleared_samples_are_used_again(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	struct hmb_ledger *ledger = tables_ledger(tables);
	uint32_t a = tables_add_thread(tables, 1, 1, 0, 10);

	ledger->nr_kinds = 2;
	tables_thread_stored(tables, a, 0, 5);
	tables_thread_stored(tables, a, 1, 3);
	clear(ledger, 0);
	tables_thread_stored(tables, a, 1, 2);
	tables_thread_ended(tables, a, 20);
	assert_int_not_equal(tables_add_thread(tables, 2, 2, 0, 30), a);
	clear(ledger, 1);
	assert_int_equal(tables_add_thread(tables, 3, 3, 0, 40), a);
	/* It has the slot's samples alone, which are not those of before. */
	tables_thread_stored(tables, a, 0, 1);
	tables_thread_ended(tables, a, 50);
	assert_int_not_equal(tables_add_thread(tables, 4, 4, 0, 60), a);
	ledger->floor[0] = 2;
	ledger->nr_reductions++;
	assert_int_equal(tables_add_thread(tables, 5, 5, 0, 70), a);
	tables_free(tables);
}

/* A reader of sums may know the thread for long before it adds the first one. */
static void a_held_thread_keeps_its_slot_until_sums_are_cleared(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	uint32_t a = tables_add_thread(tables, 1, 1, 0, 10);

	tables_ledger(tables)->nr_kinds = 1;
	tables_hold_thread(tables, a);
	tables_thread_ended(tables, a, 20);
	assert_int_not_equal(tables_add_thread(tables, 2, 2, 0, 30), a);
	tables_clear_sums(tables);
	tables_ledger(tables)->nr_reductions++;
	assert_int_equal(tables_add_thread(tables, 3, 3, 0, 40), a);
	tables_hold_thread(tables, TABLES_MAX_THREADS); /* there is none */
	tables_free(tables);
}

static void a_million_tasks_fit(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);

	tables_ledger(tables)->nr_kinds = 1;
	for (int i = 1; i <= 1000000; i++) {
		uint32_t thread = tables_add_thread(tables, i, i, 0, (uint64_t)i);

		if (i % 1000 == 0)
			tables_thread_stored(tables, thread, 0, 20);
		tables_thread_ended(tables, thread, (uint64_t)i);
	}
	assert_in_range(tables_section(tables, TRACE_THREADS).nr, 1000, 1001);
	assert_int_equal(tables_run(tables)->folded_threads, 0);
	tables_free(tables);
}

static void too_many_tasks_share(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	uint32_t make = tables_string(tables, "make"), cc = tables_string(tables, "cc"), last,
		 other;

	for (int i = 1; i <= TABLES_MAX_THREADS; i++)
		last = tables_add_thread(tables, i, i, make, 0);
	other = tables_add_thread(tables, 100000, 100000, cc, 0);
	assert_int_equal(tables_thread(tables, last)->flags, TRACE_THREAD_FOLDED);
	assert_int_equal(tables_thread(tables, last)->comm, make);
	assert_int_equal(tables_thread(tables, last)->tid, 0);
	assert_int_equal(tables_thread(tables, other)->comm, cc);
	assert_int_equal(tables_add_thread(tables, 100001, 100001, cc, 0), other);
	tables_thread_stored(tables, other, 3, 63);
	tables_thread_ended(tables, other, 5);
	assert_int_equal(tables_thread(tables, other)->flags, TRACE_THREAD_FOLDED);
	assert_int_equal(tables_run(tables)->folded_threads, TRACE_MAX_COMMANDS + 2);
	tables_free(tables);
}

/* --- images ----------------------------------------------------------------------------------- */

/* The image of a trace whose folder's name is its real one. */
static void image_path(const char *path, const char *suffix, char image[PATH_MAX])
{
	snprintf(image, PATH_MAX, "/dev/shm/adaptrace-%u-%016llx%s", geteuid(),
	         (unsigned long long)XXH3_64bits(path, strlen(path)), suffix);
}

static bool has_image(const char *path, const char *suffix)
{
	char image[PATH_MAX];

	image_path(path, suffix, image);
	return !access(image, F_OK);
}

/* A recorder that is killed after it has stored a little. */
static void record_and_die(const char *path, const char *host)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct tables *tables = tables_new(BUDGET, path);

		tables_run(tables)->host = tables_string(tables, host);
		tables_add_thread(tables, 11, 12, 0, 13);
		memset(tables_arena(tables), 0x5a, BUDGET);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void recover_and_check(const char *path, const char *host)
{
	struct tables *tables = tables_recover(path);

	assert_non_null(tables);
	assert_int_equal(tables_budget(tables), BUDGET);
	assert_string_equal(tables_string_at(tables, tables_run(tables)->host), host);
	assert_int_equal(tables_thread(tables, 0)->tid, 12);
	assert_int_equal(((unsigned char *)tables_arena(tables))[BUDGET - 1], 0x5a);
	tables_recovered(tables);
	tables_free(tables);
}

/* Containers without a /dev/shm have nothing to test here. */
static void need_images(const char *path)
{
	struct tables *tables = tables_new(BUDGET, path);
	bool recoverable = tables_recoverable(tables);

	tables_free(tables);
	if (!recoverable)
		skip();
}

static void a_killed_recorder_leaves_an_image(void **state)
{
	struct place *place = *state;

	need_images(place->path);
	record_and_die(place->path, "one");
	assert_true(has_image(place->path, ""));
	recover_and_check(place->path, "one");
	assert_false(has_image(place->path, ""));
	assert_null(tables_recover(place->path));
	assert_int_equal(errno, ENOENT);
}

/* Others have images, too: how many of this trace are listed, of which the first is copied. */
static unsigned count_listed(const char *path, const char *file, struct image_entry *first)
{
	struct image_list list;
	unsigned nr = 0;

	assert_int_equal(image_list_make(&list), 0);
	for (size_t i = 0; i < list.nr; i++) {
		const struct image_entry *entry = &list.entries[i];

		if (path ? entry->trace_path && !strcmp(entry->trace_path, path)
		         : !entry->trace_path && !strcmp(entry->file, file))
			if (!nr++)
				*first = *entry;
	}
	image_list_free(&list);
	return nr;
}

static void images_are_listed_by_trace(void **state)
{
	struct place *place = *state;
	struct image_entry entry = {0};
	struct tables *tables, *recovery;
	char image[PATH_MAX];
	int fd;

	need_images(place->path);
	image_path(place->path, "", image);
	assert_int_equal(count_listed(place->path, NULL, &entry), 0);
	record_and_die(place->path, "one");
	assert_int_equal(count_listed(place->path, NULL, &entry), 1);
	assert_int_equal(entry.holder, SHM_IMAGE_NOBODY);
	assert_true(entry.size >= BUDGET);
	assert_true(shm_image_held(place->path, SHM_IMAGE_NOBODY));

	tables = tables_new(BUDGET, place->path); /* the other one is put aside */
	assert_int_equal(count_listed(place->path, NULL, &entry), 2);
	assert_true(shm_image_held(place->path, SHM_IMAGE_RECORDER));
	assert_true(shm_image_held(place->path, SHM_IMAGE_NOBODY));
	tables_free(tables);
	recovery = tables_recover(place->path);
	assert_int_equal(count_listed(place->path, NULL, &entry), 1);
	assert_int_equal(entry.holder, SHM_IMAGE_RECOVERY);
	assert_false(shm_image_held(place->path, SHM_IMAGE_NOBODY));
	tables_recovered(recovery);
	tables_free(recovery);

	record_and_die(place->path, "one");
	assert_int_equal(chmod(image, 0640), 0);
	assert_int_equal(count_listed(place->path, NULL, &entry), 0);
	assert_int_equal(count_listed(NULL, image, &entry), 0);
	assert_int_equal(chmod(image, 0600), 0);
	fd = open(image, O_WRONLY); /* one that has the name of another trace's image */
	assert_int_equal(pwrite(fd, "/y", 2, offsetof(struct image_header, trace_path)), 2);
	close(fd);
	assert_int_equal(count_listed(place->path, NULL, &entry), 0);
	assert_int_equal(count_listed(NULL, image, &entry), 1);
	unlink(image);
}

/* What another program wrote, or nobody ever did, is refused and stays. */
static void an_image_that_lies_is_refused(void **state)
{
	const size_t ledger = (sizeof(struct image_header) + 4095) & ~(size_t)4095;
	const struct {
		size_t at;
		uint32_t value;
	} lies[] = {
		{offsetof(struct image_header, magic), 1},
		{offsetof(struct image_header, version), 1},
		{offsetof(struct image_header, layout), 1},
		{offsetof(struct image_header, size), BUDGET},
		{offsetof(struct image_header, budget), 2 * BUDGET},
		{offsetof(struct image_header, budget), 1},
		{offsetof(struct image_header, nr[TRACE_RUN]), 2},
		{offsetof(struct image_header, nr[TRACE_THREADS]), TABLES_MAX_THREADS + 1},
		{offsetof(struct image_header, nr[TRACE_STRINGS]), 0},
		{offsetof(struct image_header, nr[TRACE_STRINGS]), 3},
		{ledger + offsetof(struct hmb_ledger, nr_kinds), HMB_MAX_KINDS + 1},
		{ledger + offsetof(struct hmb_ledger, nr_bins), 1 << 30},
	};
	struct place *place = *state;
	char image[PATH_MAX];

	need_images(place->path);
	image_path(place->path, "", image);
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		int fd;

		record_and_die(place->path, "one");
		fd = open(image, O_WRONLY);
		assert_true(fd >= 0);
		assert_int_equal(pwrite(fd, &lies[i].value, 4, (off_t)lies[i].at), 4);
		close(fd);
		assert_null(tables_recover(place->path));
		assert_int_equal(errno, EBADMSG);
		assert_int_equal(unlink(image), 0);
	}
}

static void one_that_had_not_begun_lost_nothing(void **state)
{
	struct place *place = *state;
	char name[] = "recover", *argv[] = {name, place->path, NULL};

	need_images(place->path);
	record_and_die(place->path, "one");
	assert_int_equal(cmd_recover(2, argv), 1);
	assert_false(has_image(place->path, ""));
	assert_int_not_equal(access(place->path, F_OK), 0);
}

static void a_living_recorder_is_left_alone(void **state)
{
	struct place *place = *state;
	struct tables *tables, *second;

	need_images(place->path);
	tables = tables_new(BUDGET, place->path);
	assert_null(tables_recover(place->path));
	assert_int_equal(errno, EBUSY);
	second = tables_new(BUDGET, place->path);
	assert_non_null(second);
	assert_true(!tables_recoverable(second) && tables_name_taken(second));
	tables_free(second);
	assert_true(tables_recoverable(tables));
	tables_free(tables);
}

static void one_leftover_is_kept(void **state)
{
	struct place *place = *state;
	struct tables *tables;

	need_images(place->path);
	record_and_die(place->path, "one");
	tables = tables_new(BUDGET, place->path);
	assert_true(tables_kept_leftover(tables) && tables_recoverable(tables));
	tables_free(tables);
	recover_and_check(place->path, "one");
	record_and_die(place->path, "two");
	record_and_die(place->path, "three");
	recover_and_check(place->path, "three");
	recover_and_check(place->path, "two");
	assert_false(has_image(place->path, "") || has_image(place->path, ".old"));
}

static void kept_on_request(void **state)
{
	struct place *place = *state;
	struct tables *tables;

	need_images(place->path);
	tables = tables_new(BUDGET, place->path);
	tables_keep(tables);
	tables_free(tables);
	tables = tables_recover(place->path);
	assert_non_null(tables);
	tables_free(tables); /* not said to be recovered: it stays */
	tables = tables_recover(place->path);
	assert_non_null(tables);
	tables_recovered(tables);
	tables_free(tables);
}

static void only_the_users_own_is_recovered(void **state)
{
	struct place *place = *state;
	char path[PATH_MAX], target[PATH_MAX + 16];

	need_images(place->path);
	record_and_die(place->path, "one");
	image_path(place->path, "", path);
	assert_int_equal(chmod(path, 0644), 0);
	assert_null(tables_recover(place->path));
	assert_int_equal(errno, EACCES);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(truncate(path, 4096), 0);
	assert_null(tables_recover(place->path));
	assert_int_equal(errno, EBADMSG);
	assert_int_equal(truncate(path, 0), 0);
	assert_null(tables_recover(place->path));
	assert_int_equal(errno, EBADMSG);
	snprintf(target, sizeof(target), "%s/target", place->folder);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
	assert_null(tables_recover(place->path));
	assert_int_equal(errno, EACCES);
	unlink(path);
}

/* Whatever a header says that is not true is noticed. */
static void headers_are_checked(void **state)
{
	struct place *place = *state;
	char path[PATH_MAX];
	unsigned refused = 0;

	need_images(place->path);
	record_and_die(place->path, "one");
	image_path(place->path, "", path);
	for (unsigned at = 0; at < 80; at++) {
		int fd = open(path, O_RDWR);
		unsigned char byte, flipped;
		struct tables *tables;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		flipped = byte ^ 0xff;
		assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
		close(fd);
		tables = tables_recover(place->path);
		if (tables) {
			for (uint32_t t = 0; t < tables_section(tables, TRACE_THREADS).nr; t++)
				assert_non_null(tables_thread(tables, t));
		} else {
			assert_int_equal(errno, EBADMSG);
			refused++;
		}
		tables_free(tables);
		fd = open(path, O_RDWR);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
	}
	assert_true(refused > 40);
	recover_and_check(place->path, "one");
}

/* A limit on file sizes sends a signal to who passes it. */
static void file_limits_are_no_signal(void **state)
{
	struct place *place = *state;
	struct rlimit limit, old;
	struct tables *tables;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 1 << 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	tables = tables_new(BUDGET, place->path);
	assert_non_null(tables);
	assert_false(tables_recoverable(tables));
	memset(tables_arena(tables), 1, BUDGET);
	tables_add_thread(tables, 1, 1, 0, 0);
	tables_free(tables);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
}

/* Where memory is refused, commands have slots of their own all the same. */
static void without_memory_commands_stay_apart(void **state)
{
	struct place *place = *state;
	struct tables *tables = tables_new(BUDGET, place->path);
	uint32_t many = tables_string(tables, "many"), other = tables_string(tables, "other");
	int fd = tables->image.fd;
	uint32_t slot = 0;

	if (fd < 0) {
		tables_free(tables);
		skip();
	}
	tables->image.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (pid_t tid = 1; !tables_run(tables)->folded_threads; tid++) {
		slot = tables_add_thread(tables, tid, tid, many, 1);
		tables_thread_stored(tables, slot, 0, 0);
	}
	assert_int_equal(tables_thread(tables, slot)->comm, many);
	slot = tables_add_thread(tables, 1 << 20, 1 << 20, other, 1);
	assert_int_equal(tables_thread(tables, slot)->comm, other);
	assert_true(tables_thread(tables, slot)->flags & TRACE_THREAD_FOLDED);
	close(tables->image.fd);
	tables->image.fd = fd;
	tables_free(tables);
}

static void nothing(int signal)
{
	(void)signal;
}

/* Who is stopped and goes on while memory is looked for gets it all the same. */
static void a_signal_refuses_no_memory(void **state)
{
	const size_t size = 64 << 20;
	const struct itimerval soon = {.it_value.tv_usec = 1000};
	struct place *place = *state;
	struct shm_image image;

	signal(SIGALRM, nothing);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(shm_image_create(&image, size, place->path), 0);
		if (image.fd < 0 || shm_image_room(&image) < size) {
			shm_image_close(&image);
			skip();
		}
		assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
		assert_int_equal(shm_image_reserve(&image, 0, size), 0);
		shm_image_close(&image);
	}
	signal(SIGALRM, SIG_DFL);
}

static void sizes_are_checked(void **state)
{
	struct place *place = *state;

	assert_null(tables_new(ARENA_MIN_SIZE - 1, place->path));
	assert_int_equal(errno, EINVAL);
	assert_null(tables_new(ARENA_MAX_SIZE + 1, place->path));
	assert_int_equal(errno, EINVAL);
}

/* While a leftover is recovered a newer one may be put in its place. */
static void a_newer_leftover_outlives_a_recovery(void **state)
{
	struct place *place = *state;
	struct tables *recorder, *recovery, *next;

	need_images(place->path);
	record_and_die(place->path, "one");
	recorder = tables_new(BUDGET, place->path);
	recovery = tables_recover(place->path);
	assert_non_null(recovery);
	tables_keep(recorder);
	tables_free(recorder);
	next = tables_new(BUDGET, place->path);
	assert_true(tables_kept_leftover(next));
	tables_recovered(recovery);
	tables_free(recovery);
	assert_true(has_image(place->path, ".old"));
	tables_free(next);
	recovery = tables_recover(place->path);
	assert_non_null(recovery);
	tables_recovered(recovery);
	tables_free(recovery);
	assert_false(has_image(place->path, ".old"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(strings_are_stored_once),
		TEST(full_strings_are_counted),
		TEST(many_strings),
		TEST(entries_stay_where_they_are),
		TEST(commands_have_a_stand_in),
		TEST(slots_wait_for_their_samples),
		TEST(slots_of_cleared_samples_are_used_again),
		TEST(a_held_thread_keeps_its_slot_until_sums_are_cleared),
		TEST(a_million_tasks_fit),
		TEST(too_many_tasks_share),
		TEST(a_killed_recorder_leaves_an_image),
		TEST(images_are_listed_by_trace),
		TEST(an_image_that_lies_is_refused),
		TEST(one_that_had_not_begun_lost_nothing),
		TEST(a_living_recorder_is_left_alone),
		TEST(one_leftover_is_kept),
		TEST(a_newer_leftover_outlives_a_recovery),
		TEST(kept_on_request),
		TEST(only_the_users_own_is_recovered),
		TEST(headers_are_checked),
		TEST(file_limits_are_no_signal),
		TEST(without_memory_commands_stay_apart),
		TEST(a_signal_refuses_no_memory),
		TEST(sizes_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
