#include "cli/renew_names.h"
#include "cli/say.h"
#include "trace/write/trace_rename.h"
#include "trace/write/trace_write.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_PATIENCE_MS 10000

struct late {
	const struct trace *trace;
	const struct debug_places *places;
	uint32_t unseen; /* of all modules, as flags of a run */
};

static struct module *module_add(struct module_table *modules, const struct trace *trace,
                                 uint16_t id)
{
	const struct trace_module *entry = trace_module(trace, id);
	struct module_file file = {0};
	uint64_t window;

	if (!entry || entry->kind != MODULE_FILE || !entry->build_id_size ||
	    entry->build_id_size > BUILD_ID_MAX)
		return NULL;
	window = entry->window;
	file.window = &window;
	file.path = trace_string(trace, entry->path);
	file.build_id.size = entry->build_id_size;
	memcpy(file.build_id.bytes, entry->build_id, entry->build_id_size);
	return file.path[0] == '/' ? module_table_file(modules, &file) : NULL;
}

/* A table for each module: nothing is open longer than its names are asked for. */
static int ask_module(void *arg, uint16_t id, const uint32_t *offsets, size_t n, symbol_fn *fn,
                      void *fn_arg)
{
	struct late *late = arg;
	struct module_table *modules = module_table_new();
	struct symbolizer *symbolizer = modules ? symbolizer_new(modules) : NULL;
	struct module *module = NULL;
	struct symbolizer_stats stats;
	int err = symbolizer ? module_table_read_aside(modules, FILE_PATIENCE_MS) : -ENOMEM;

	if (!err)
		module = module_add(modules, late->trace, id);
	if (module) {
		module_table_search(modules, late->places);
		symbolizer_read_aside(symbolizer, NULL, NULL);
		err = symbolizer_module(symbolizer, module, offsets, n, fn, fn_arg);
		symbolizer_stats(symbolizer, &stats);
		late->unseen |= trace_unseen(&stats);
	}
	symbolizer_free(symbolizer);
	module_table_free(modules);
	return err;
}

static int check_folder(const char *folder)
{
	struct stat stat_now;
	int err = 0;

	if (!folder)
		return 0;
	if (stat(folder, &stat_now))
		err = -errno;
	else if (!S_ISDIR(stat_now.st_mode))
		err = -ENOTDIR;
	else if (access(folder, X_OK))
		err = -errno;
	if (err)
		say("cannot look for names in '%s': %s", folder, strerror(-err));
	return err;
}

/* Says why lines are missing that are there, by flags of a run. */
static void names_say_lineless(uint32_t flags)
{
	say_flags(flags & (TRACE_RUN_LINES_PACKED | TRACE_RUN_LINES_REFUSED));
}

int names_renew(struct trace *trace, const struct debug_places *places)
{
	struct late late = {trace, places, 0};
	const struct name_source source = {.module = ask_module, .arg = &late};
	uint32_t renewed = 0;
	int err = check_folder(places->folder);

	if (err)
		return err;
	err = trace_rename(trace, &source, &renewed);
	names_say_lineless(late.unseen);
	if (err)
		say("cannot look names up again: %s", strerror(-err));
	else if (!renewed)
		say("no file of this machine says more than the trace does already; --symbols=DIR "
		    "names a folder with programs or debug files");
	return err;
}
