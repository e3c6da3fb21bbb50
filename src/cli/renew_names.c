#include "cli/renew_names.h"
#include "cli/say.h"
#include "trace/write/trace_rename.h"
#include "trace/write/trace_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Modules of the trace, which the side process opens itself: it knows those that are in the table
 * when it starts.
 */
struct late {
	struct module_table *table;
	struct symbolizer *symbolizer;
	struct module **modules; /* by their numbers in the trace; NULL: cannot be found again */
};

static struct module *add_module(struct module_table *table, const struct trace *trace,
                                 const struct trace_module *entry)
{
	const uint64_t area = entry->area;
	struct module_file file = {.path = trace_string(trace, entry->path), .area = &area};

	if (entry->type != MODULE_FILE || file.path[0] != '/' || !entry->build_id_size ||
	    entry->build_id_size > BUILD_ID_MAX)
		return NULL;
	file.build_id.size = entry->build_id_size;
	memcpy(file.build_id.bytes, entry->build_id, entry->build_id_size);
	return module_table_unopened(table, &file);
}

static int late_init(struct late *late, const struct trace *trace,
                     const struct debug_search *search)
{
	const struct trace_module *entry;

	*late = (struct late){.table = module_table_new()};
	late->symbolizer = late->table ? symbolizer_new(late->table) : NULL;
	late->modules = calloc(UINT16_MAX + 1, sizeof(*late->modules));
	if (!late->symbolizer || !late->modules)
		return -ENOMEM;
	module_table_search(late->table, search);
	for (uint32_t id = 0; id <= UINT16_MAX && (entry = trace_module(trace, id)); id++)
		late->modules[id] = add_module(late->table, trace, entry);
	return symbolizer_read_aside(late->symbolizer, NULL, NULL);
}

static void late_fini(struct late *late)
{
	symbolizer_free(late->symbolizer);
	module_table_free(late->table);
	free(late->modules);
}

static int ask_module(void *arg, uint16_t id, const uint32_t *offsets, size_t n, symbol_fn *fn,
                      void *fn_arg)
{
	const struct late *late = arg;

	if (!late->modules[id])
		return 0;
	return symbolizer_module(late->symbolizer, late->modules[id], offsets, n, fn, fn_arg);
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

int names_renew(struct trace *trace, const struct debug_search *search)
{
	struct late late;
	const struct name_provider provider = {.module = ask_module, .arg = &late};
	struct symbolizer_stats stats = {0};
	uint32_t renewed = 0;
	int err = check_folder(search->folder);

	if (err)
		return err;
	err = late_init(&late, trace, search);
	if (!err) {
		err = trace_rename(trace, &provider, &renewed);
		symbolizer_stats(late.symbolizer, &stats);
		names_say_lineless(trace_unseen(&stats));
	}
	late_fini(&late);
	if (err)
		say("cannot look names up again: %s", strerror(-err));
	else if (!renewed)
		say("no file of this machine says more than the trace does already; --symbols=DIR "
		    "names a folder with programs or debug files");
	return err;
}
