/* All converters through their common entry: errors, interruptions, and files that lie. */
#include "trace_world.h"
#include "lies.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#include "output/convert/convert.h"
#include "base/new_file.h"
#include "base/new_folder.h"
#include "symbolize/modules/module.h"
#include "trace_symbols.h"

enum { NR_FUNCTIONS = 4, FUNCTION_SIZE = 16 };

static void name_functions(const char *path)
{
	static const char *const names[NR_FUNCTIONS] = {"one", "two<\xff>", "", "three;\n"};
	struct named_range ranges[3 * NR_FUNCTIONS];
	size_t nr = 0;

	for (uint32_t m = 1; m < 4; m++)
		for (uint32_t f = 0; f < NR_FUNCTIONS; f++)
			ranges[nr++] = (struct named_range){m, f * FUNCTION_SIZE,
			                                    (f + 1) * FUNCTION_SIZE, names[f]};
	assert_true(name_ranges(path, ranges, nr));
}

static struct trace *world_trace(struct world *w, size_t budget, size_t nr)
{
	world_open(w, budget);
	put_many(w, nr);
	assert_int_equal(trace_write(w->path, w->tables, NULL, NULL, NULL), 0);
	name_functions(w->path);
	return open_good(w->path);
}

/* --- running one ------------------------------------------------------------------------------ */

static bool known(const char *path)
{
	(void)path;
	return true;
}

/* Into memory, or a folder that is removed again; *size: of the file. */
static int run(const struct converter *converter, struct conversion *conversion, size_t *size)
{
	struct new_folder folder;
	char path[128], *memory = NULL;
	FILE *file;
	int err;

	*size = 1;
	if (converter->to_folder) {
		snprintf(path, sizeof(path), "%s/folder", conversion->scratch);
		assert_int_equal(new_folder_open(&folder, path, false, known), 0);
		err = converter->to_folder(conversion, folder.temporary);
		assert_int_equal(new_folder_close(&folder, -ECANCELED), -ECANCELED);
		return err;
	}
	if (!converter->to_file)
		return 0;
	file = open_memstream(&memory, size);
	err = converter->to_file(conversion, file);
	fclose(file);
	free(memory);
	return err;
}

/* Some formats have no way to say that there is nothing. */
static void assert_nothing_shown(int err)
{
	assert_true(!err || err == -ENODATA);
}

static void all_convert(void **state)
{
	const struct converter *converter;
	struct world w;
	struct trace *trace = world_trace(&w, 256 << 10, 3000);
	size_t size;

	(void)state;
	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		for (uint32_t event = 0; event <= NR_EVENTS; event++) { /* the last is not there */
			struct conversion conversion = {
				.trace = trace, .event = event, .scratch = w.folder};

			if (event == NR_EVENTS)
				assert_nothing_shown(run(converter, &conversion, &size));
			else
				assert_int_equal(run(converter, &conversion, &size), 0);
			assert_true(size > 0 || event == NR_EVENTS);
		}
	}
	trace_close(trace);
	world_close(&w);
}

static void folders_have_a_bound(void **state)
{
	const struct converter *converter;
	struct world w;
	struct trace *trace = world_trace(&w, 256 << 10, 3000);
	size_t size;

	(void)state;
	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		struct conversion conversion = {.trace = trace, .scratch = w.folder, .room = 1};

		if (!converter->to_folder)
			continue;
		assert_int_equal(run(converter, &conversion, &size), -E2BIG);
		conversion.room = 1 << 30;
		assert_int_equal(run(converter, &conversion, &size), 0);
	}
	trace_close(trace);
	world_close(&w);
}

static void an_empty_trace(void **state)
{
	const struct converter *converter;
	struct world w;
	struct trace *trace = world_trace(&w, 64 << 10, 0);
	size_t size;

	(void)state;
	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		struct conversion conversion = {.trace = trace, .scratch = w.folder};

		assert_nothing_shown(run(converter, &conversion, &size));
	}
	trace_close(trace);
	world_close(&w);
}

/* A file may have more than frames can name. */
static void modules_without_end(void **state)
{
	enum { NR_MODULES = FRAME_MAX_MODULES + 5000 };
	struct trace_module *modules = calloc(NR_MODULES, sizeof(*modules));
	const struct converter *converter;
	struct changed_trace changed;
	struct world w;
	struct trace *trace = world_trace(&w, 64 << 10, 100);
	size_t size;

	(void)state;
	for (unsigned i = 0; i < NR_MODULES; i++)
		modules[i].type = MODULE_FILE;
	trace_close(trace);
	assert_true(change_begin(&changed, w.path));
	change_section(&changed, TRACE_MODULES, modules, NR_MODULES * sizeof(*modules));
	assert_true(change_end(&changed));
	trace = open_good(w.path);
	assert_int_equal(trace_nr(trace, TRACE_MODULES), FRAME_MAX_MODULES);
	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		struct conversion conversion = {.trace = trace, .scratch = w.folder};

		assert_int_equal(run(converter, &conversion, &size), 0);
	}
	trace_close(trace);
	free(modules);
	world_close(&w);
}

/* --- giving up -------------------------------------------------------------------------------- */

struct patience {
	unsigned left;
	double share;
};

static int tick(void *arg, double share)
{
	struct patience *patience = arg;

	assert_true(share >= patience->share && share <= 1);
	patience->share = share;
	return patience->left-- ? 0 : -EINTR;
}

static void all_can_be_interrupted(void **state)
{
	const struct converter *converter;
	struct world w;
	struct trace *trace = world_trace(&w, 64 << 20, 80000);
	size_t size;

	(void)state;
	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		if (!converter->to_file && !converter->to_folder)
			continue;
		if (converter->unsampled) /* convert_profile() does not tick: it takes seconds */
			continue;
		for (unsigned left = 0; left < 3; left++) {
			struct patience patience = {left, 0};
			struct conversion conversion = {.trace = trace,
			                                .scratch = w.folder,
			                                .tick = tick,
			                                .arg = &patience};
			int err = run(converter, &conversion, &size);

			assert_true(err == -EINTR || (err == 0 && left > 0));
		}
	}
	trace_close(trace);
	world_close(&w);
}

/* Each is two files of an archive, and there may be a hundred thousand. */
static void threads_can_be_interrupted(void **state)
{
	enum { NR_THREADS = 100 };
	const struct trace_thread threads[NR_THREADS] = {{.pid = 1, .tid = 1}};
	struct patience patience = {NR_THREADS + NR_THREADS / 2, 0};
	struct conversion conversion = {.tick = tick, .arg = &patience};
	const struct converter *converter;
	struct changed_trace changed;
	struct world w;
	struct trace *trace = world_trace(&w, 64 << 10, 100);
	size_t size;

	(void)state;
	trace_close(trace);
	assert_true(change_begin(&changed, w.path));
	change_section(&changed, TRACE_THREADS, threads, sizeof(threads));
	assert_true(change_end(&changed));
	conversion.trace = trace = open_good(w.path);
	conversion.scratch = w.folder;
	for (unsigned i = 0; (converter = converter_at(i)); i++)
		if (converter->to_folder)
			assert_int_equal(run(converter, &conversion, &size), -EINTR);
	trace_close(trace);
	world_close(&w);
}

static void no_scratch_folder(void **state)
{
	const struct converter *converter;
	struct world w;
	struct trace *trace = world_trace(&w, 64 << 10, 100);
	struct conversion conversion = {.trace = trace, .scratch = "/nowhere/at/all"};
	char *memory;
	size_t size;

	(void)state;
	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		FILE *file = open_memstream(&memory, &size);
		int err = converter->to_file ? converter->to_file(&conversion, file) : 0;

		assert_true(err == 0 || err == -ENOENT);
		fclose(file);
		free(memory);
	}
	trace_close(trace);
	world_close(&w);
}

/* --- files that lie --------------------------------------------------------------------------- */

static void convert_lies(struct world *w, const char *path)
{
	const struct converter *converter;
	char why[TRACE_WHY_SIZE];
	struct trace *trace = trace_open(path, why);
	size_t size;

	for (unsigned i = 0; trace && (converter = converter_at(i)); i++) {
		struct conversion conversion = {.trace = trace, .scratch = w->folder};
		int err = run(converter, &conversion, &size);

		/* OTF2 may refuse what makes no sense to it. */
		assert_true(err == 0 || err == -EBADMSG || (converter->to_folder && err == -EIO));
	}
	trace_close(trace);
}

static void lies_are_survived(void **state)
{
	struct lies lies;
	struct world w;

	(void)state;
	trace_close(world_trace(&w, 64 << 10, 400));
	lies_open(&lies, w.path);
	for (unsigned i = 0; i < 40; i++)
		convert_lies(&w, lies_next(&lies, 20));
	lies_close(&lies);
	world_close(&w);
}

/* What is before the record that is missing is not all that there was. */
static void half_a_trace_is_none(void **state)
{
	const struct converter *converter;
	struct trace *trace;
	struct world w;
	size_t size;

	(void)state;
	trace_close(world_trace(&w, 256 << 10, 3000));
	announce_more(w.path);
	trace = open_good(w.path);
	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		struct conversion conversion = {.trace = trace, .scratch = w.folder};

		if (converter->to_file || converter->to_folder)
			assert_int_equal(run(converter, &conversion, &size), -EBADMSG);
	}
	trace_close(trace);
	world_close(&w);
}

/* --- what has the name already ---------------------------------------------------------------- */

static int write_file(const char *path, enum new_file_existing existing, const char *text)
{
	struct new_file file;

	assert_int_equal(new_file_open(&file, path), 0);
	file.wish.existing = existing;
	fputs(text, file.file);
	return new_file_close(&file, 0);
}

static void assert_holds(const char *path, const char *text)
{
	char held[16] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(held, sizeof(held), file));
	assert_string_equal(held, text);
	fclose(file);
}

static void files_that_exist(void **state)
{
	char folder[] = "/tmp/adaptrace-test-XXXXXX", path[64], old[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x", folder);
	snprintf(old, sizeof(old), "%s/x.old", folder);
	assert_int_equal(write_file(path, NEW_FILE_REFUSE, "a"), 0);
	assert_int_equal(write_file(path, NEW_FILE_REFUSE, "b"), -EEXIST);
	assert_holds(path, "a");
	assert_int_equal(write_file(path, NEW_FILE_REPLACE, "c"), 0);
	assert_holds(path, "c");
	assert_int_not_equal(access(old, F_OK), 0);
	assert_int_equal(write_file(path, NEW_FILE_KEEP_OLD, "d"), 0);
	assert_holds(path, "d");
	assert_holds(old, "c");
	unlink(path);
	unlink(old);
	assert_int_equal(rmdir(folder), 0);
}

/* Its writer dies half-way. */
static void files_of_the_killed(void **state)
{
	char folder[] = "/tmp/adaptrace-test-XXXXXX", path[64];
	struct new_file file;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	fd = open(folder, O_TMPFILE | O_RDWR, 0600);
	if (fd < 0) {
		rmdir(folder);
		skip();
	}
	close(fd);
	snprintf(path, sizeof(path), "%s/x", folder);
	if (!fork()) {
		if (!new_file_open(&file, path))
			fputs("half", file.file);
		fflush(NULL);
		_exit(0);
	}
	wait(NULL);
	assert_int_equal(rmdir(folder), 0);
}

static bool known_a(const char *path)
{
	return !strcmp(path, "a") || !strcmp(path, "sub/a");
}

static int write_folder(const char *path, bool replace, const char *name, int err)
{
	struct new_folder folder;
	char file[128];
	int opened = new_folder_open(&folder, path, replace, known_a);

	if (opened)
		return opened;
	snprintf(file, sizeof(file), "%s/sub", folder.temporary);
	assert_int_equal(mkdir(file, 0700), 0);
	snprintf(file, sizeof(file), "%s/%s", folder.temporary, name);
	fclose(fopen(file, "w"));
	return new_folder_close(&folder, err);
}

static void folders_that_exist(void **state)
{
	char folder[] = "/tmp/adaptrace-test-XXXXXX", path[64], file[96];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x", folder);
	snprintf(file, sizeof(file), "%s/sub/a", path);
	assert_int_equal(write_folder(path, false, "a", -EINTR), -EINTR);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(write_folder(path, false, "a", 0), 0);
	assert_int_equal(write_folder(path, false, "sub/a", 0), -EEXIST);
	assert_int_equal(write_folder(path, true, "sub/a", -EINTR), -EINTR);
	assert_int_not_equal(access(file, F_OK), 0);
	assert_int_equal(write_folder(path, true, "sub/a", 0), 0);
	assert_int_equal(access(file, F_OK), 0);
	/* Something of the user's, or of another kind: it stays. */
	snprintf(file, sizeof(file), "%s/sub/mine", path);
	fclose(fopen(file, "w"));
	assert_int_equal(write_folder(path, true, "a", 0), -EEXIST);
	assert_int_equal(access(file, F_OK), 0);
	unlink(file);
	snprintf(file, sizeof(file), "%s/sub/a", path);
	unlink(file);
	assert_int_equal(symlink("/etc/passwd", file), 0);
	assert_int_equal(write_folder(path, true, "a", 0), -EEXIST);
	unlink(file);
	snprintf(file, sizeof(file), "%s/sub", path);
	assert_int_equal(rmdir(file), 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* Whether a converter that writes text says of something that it is not known. */
static bool says_unknown(const struct converter *converter, const struct trace *trace,
                         const char *scratch)
{
	struct conversion conversion = {.trace = trace, .scratch = scratch};
	char *memory = NULL;
	size_t size;
	FILE *file = open_memstream(&memory, &size);
	bool says;

	assert_int_equal(converter->to_file(&conversion, file), 0);
	fclose(file);
	says = strstr(memory, "[unknown]");
	free(memory);
	return says;
}

/* As a thread may call itself. */
static void empty_names_are_called_unknown(void **state)
{
	const struct converter *converter;

	(void)state;
	for (unsigned empty = 0; empty < 2; empty++) {
		struct world w;
		struct trace *trace;

		world_open(&w, 64 << 10);
		put_many(&w, 10);
		for (uint32_t i = 0; empty && tables_thread(w.tables, i); i++)
			tables_thread(w.tables, i)->comm = 0;
		trace = world_written(&w);
		for (unsigned i = 0; (converter = converter_at(i)); i++)
			if (converter->text && strcmp(converter->name, "callgrind") != 0)
				assert_int_equal(says_unknown(converter, trace, w.folder), empty);
		trace_close(trace);
		world_close(&w);
	}
}

/* --- time 0 ----------------------------------------------------------------------------------- */

static void inflate_text(char *text, size_t room, char *packed, size_t size)
{
	z_stream stream = {.next_in = (void *)packed,
	                   .avail_in = (unsigned)size,
	                   .next_out = (void *)text,
	                   .avail_out = (unsigned)room - 1};

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	inflate(&stream, Z_FINISH);
	text[stream.total_out] = '\0';
	inflateEnd(&stream);
}

/* Times are since the first sample where that came before what is called the start. */
static void time_0_is_one_moment(void **state)
{
	struct world w;
	char text[256], *memory = NULL;
	size_t size;
	FILE *file = open_memstream(&memory, &size);
	struct conversion conversion = {.scratch = w.folder};
	struct trace_run *run;
	struct trace *trace;

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 10);
	run = tables_run(w.tables);
	run->start = w.all[0].sample.time + 1000000;
	run->real_start = 1700000000000000000;
	conversion.trace = trace = world_written(&w);
	assert_int_equal(firefox_write(&conversion, file), 0);
	fclose(file);
	inflate_text(text, sizeof(text), memory, size);
	assert_non_null(strstr(text, "\"startTime\":1699999999999,"));
	free(memory);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_convert),
		cmocka_unit_test(folders_have_a_bound),
		cmocka_unit_test(an_empty_trace),
		cmocka_unit_test(modules_without_end),
		cmocka_unit_test(all_can_be_interrupted),
		cmocka_unit_test(threads_can_be_interrupted),
		cmocka_unit_test(no_scratch_folder),
		cmocka_unit_test(lies_are_survived),
		cmocka_unit_test(half_a_trace_is_none),
		cmocka_unit_test(files_that_exist),
		cmocka_unit_test(files_of_the_killed),
		cmocka_unit_test(folders_that_exist),
		cmocka_unit_test(empty_names_are_called_unknown),
		cmocka_unit_test(time_0_is_one_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
