#include "cli/convert_output.h"

#include "cli/bounds.h"
#include "cli/expected_size.h"
#include "cli/output_name.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "base/new_file.h"
#include "base/new_folder.h"
#include "output/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- names ------------------------------------------------------------------------------------ */

/* Returns a name beside the trace: x.atr becomes x.folded, or x-otf2. */
static char *default_name(const struct convert_output *output)
{
	size_t size = strlen(output->from);
	char *name;

	if (size > 4 && !strcmp(output->from + size - 4, ".atr"))
		size -= 4;
	if (asprintf(&name, "%.*s%s", (int)size, output->from, output->converter->suffix) < 0)
		return NULL;
	return name;
}

/* Where -o names the archive's first file its folder is meant. */
static char *wanted_name(const struct convert_output *output)
{
	static const char anchor[] = "/traces.otf2";
	size_t size = strlen(output->named);

	if (output->converter->to_folder) {
		if (size > strlen(anchor) && !strcmp(output->named + size - strlen(anchor), anchor))
			size -= strlen(anchor);
		while (size > 1 && output->named[size - 1] == '/')
			size--;
	}
	return strndup(output->named, size);
}

char *convert_output_name(const struct convert_output *output)
{
	return output->named ? wanted_name(output) : default_name(output);
}

static bool is_standard(const char *name)
{
	return !strcmp(name, "-");
}

char *convert_output_scratch(const char *name)
{
	const char *temporary = getenv("TMPDIR");
	char *copy, *folder;

	if (is_standard(name))
		return strdup(temporary && *temporary ? temporary : "/var/tmp");
	copy = strdup(name);
	folder = copy ? strdup(dirname(copy)) : NULL;
	free(copy);
	return folder;
}

/* --- what may be in the way ------------------------------------------------------------------- */

static bool is_file_or_folder(const struct stat *stat)
{
	return S_ISREG(stat->st_mode) || S_ISDIR(stat->st_mode);
}

static bool is_writable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

static int check_standard_output(const struct converter *converter)
{
	if (converter->to_folder)
		say("--%s writes a folder, not to standard output; name it with -o",
		    converter->name);
	else if (!converter->text && isatty(STDOUT_FILENO))
		say("--%s does not write to a terminal; redirect it or name a file with -o",
		    converter->name);
	else if (!is_writable(STDOUT_FILENO))
		say("cannot write to standard output: %s", strerror(EBADF));
	else
		return 0;
	return -EINVAL;
}

static void say_it_exists(const char *name)
{
	say("'%s' exists; replace it with --force or name another with -o", name);
}

/* A folder is made beside what is there, and links are not followed. */
static int check_place(const struct converter *converter, const char *name)
{
	int err = converter->to_folder ? 0 : new_file_check(name);

	if (err == -EISDIR)
		say("'%s' is a folder, and --%s writes a file; name that with -o", name,
		    converter->name);
	else if (err)
		say("cannot write '%s': %s; name another with -o", name, new_file_error(err));
	return err;
}

int convert_output_check(const struct convert_output *output, const char *name)
{
	const struct converter *converter = output->converter;
	struct stat stat_now;
	int err;

	if (is_standard(name))
		return check_standard_output(converter);
	err = check_place(converter, name);
	if (err)
		return err;
	if (stat(name, &stat_now))
		return 0;
	if (output_name_takes(name, output->force ? output->named : NULL, output->from)) {
		say("'%s' is the trace itself; name another output with -o", name);
		return -EEXIST;
	}
	if (output->force)
		return 0;
	if (!is_file_or_folder(&stat_now))
		return 0; /* a device or pipe */
	say_it_exists(name);
	return -EEXIST;
}

/* --- writing ---------------------------------------------------------------------------------- */

struct writing {
	struct progress progress;
	struct expected_size expected;
	const struct convert_output *output;
	const char *name;
	struct new_file file; /* where it goes to one */
};

static void tell_size(struct writing *writing, uint64_t size)
{
	const char *instead = writing->output->converter->instead;
	char text[TEXT_SIZE];

	text_bytes(text, size);
	progress_clear(&writing->progress);
	say("'%s' will take about %s%s%s; for fewer samples, convert what 'adaptrace merge -m 4M "
	    "-o thin.atr %s' makes",
	    writing->name, text, instead ? "; " : "", instead ? instead : "",
	    writing->output->from);
}

static int writing_tick(void *arg, double share)
{
	struct writing *writing = arg;
	uint64_t size = expected_size(&writing->expected, share);

	if (size)
		tell_size(writing, size);
	return progress_tick(&writing->progress, share);
}

/* A signal that came too late for the converter is in time for its output. */
static int finished(const struct conversion *conversion, int err)
{
	return err ? err : conversion->tick(conversion->arg, 1);
}

static int to_standard_output(struct writing *writing, struct conversion *conversion)
{
	int err = writing->output->converter->to_file(conversion, stdout);

	return err ? err : new_file_flush(stdout);
}

static void give_up(void *arg)
{
	struct writing *writing = arg;

	progress_end(&writing->progress);
	new_file_close(&writing->file, -EFBIG);
}

static int to_stream(struct writing *writing, struct conversion *conversion)
{
	struct bounds_output output = {
		.fd = fileno(writing->file.file),
		.name = writing->name,
		.traces_size = writing->output->trace_size,
		.give_up = give_up,
		.arg = writing,
	};
	FILE *stream = bounds_stream(&output);
	int err;

	if (!stream)
		return -errno;
	writing->expected.file = stream;
	err = writing->output->converter->to_file(conversion, stream);
	err = finished(conversion, err);
	if (!err)
		err = new_file_flush(stream);
	fclose(stream);
	return err;
}

static int to_named_file(struct writing *writing, struct conversion *conversion)
{
	int err = new_file_open(&writing->file, writing->name);

	if (err)
		return err;
	/* A trace that was named itself is kept: it cannot be measured again. */
	if (new_file_is_same(writing->output->from, writing->name))
		writing->file.wish.existing = NEW_FILE_KEEP_OLD;
	else
		writing->file.wish.existing =
			writing->output->force ? NEW_FILE_REPLACE : NEW_FILE_REFUSE;
	return new_file_close(&writing->file, to_stream(writing, conversion));
}

static int to_named_folder(struct writing *writing, struct conversion *conversion)
{
	const struct converter *converter = writing->output->converter;
	struct new_folder folder;
	int err = new_folder_open(&folder, writing->name, writing->output->force, converter->known);

	if (err)
		return err;
	err = converter->to_folder(conversion, folder.temporary);
	return new_folder_close(&folder, finished(conversion, err));
}

/* Tells whether the path is a folder, and not a link to one. */
static bool is_own_folder(const char *path)
{
	struct stat now;

	return !lstat(path, &now) && S_ISDIR(now.st_mode);
}

static void complain(const struct convert_output *output, const char *name, const char *scratch,
                     int err)
{
	char text[BOUNDS_TEXT_SIZE];

	if (err == -EBADMSG)
		say("cannot convert '%s': its records make no sense; record again", output->from);
	else if (err == -ENODATA)
		say("cannot convert '%s': --%s needs a sample or a call, and there is none; record "
		    "for longer, or more often (-F, -c)",
		    output->from, output->converter->name);
	else if (err == -EEXIST && output->force)
		say("'%s' is not replaced: it %s; name another with -o", name,
		    is_own_folder(name) ? "holds more than an archive" : "is no folder");
	else if (err == -EEXIST)
		say_it_exists(name);
	else if (err == -E2BIG && output->converter->to_folder)
		bounds_say_output(name, output->trace_size);
	else if (is_standard(name) && access(scratch, W_OK | X_OK))
		say("cannot keep intermediate data in '%s': %s; TMPDIR names a folder for it",
		    scratch, strerror(errno));
	else if (err == -ENOMEM)
		say("cannot convert '%s': %s", output->from, bounds_strerror(-err, text));
	else if (err != -EINTR && is_standard(name))
		say("cannot write to standard output: %s", strerror(-err));
	else if (err != -EINTR)
		say("cannot write '%s': %s", name, new_file_error(err));
}

/* There is nothing to clean up of a pipe, and it may wait for its reader for ever. */
static bool has_to_clean_up(const char *name)
{
	struct stat now;

	return !is_standard(name) && (stat(name, &now) || is_file_or_folder(&now));
}

int convert_output_write(const struct convert_output *output, struct conversion *conversion,
                         const char *name)
{
	struct writing writing = {.output = output, .name = name};
	int err;

	progress_begin(&writing.progress, has_to_clean_up(name), output->quiet);
	conversion->tick = writing_tick;
	conversion->arg = &writing;
	conversion->room = bounds_output_room(output->trace_size);
	if (output->converter->to_folder)
		err = to_named_folder(&writing, conversion);
	else if (is_standard(name))
		err = to_standard_output(&writing, conversion);
	else
		err = to_named_file(&writing, conversion);
	progress_end(&writing.progress);
	conversion->tick = NULL;
	conversion->arg = NULL;
	if (err)
		complain(output, name, conversion->scratch, err);
	return err;
}
