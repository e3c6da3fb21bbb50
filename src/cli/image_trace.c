#include "cli/image_trace.h"

#include "cli/say.h"
#include "output/text/text.h"
#include "trace/write/live_naming.h"
#include "trace/write/trace_write.h"
#include "cli/foreign_options.h"
#include "cli/leftovers.h"
#include "cli/output_name.h"
#include "cli/open_trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <argp.h>
#include <stdlib.h>

#define FILE_PATIENCE_MS 10000

static struct module *add_file(struct module_table *modules, const struct tables *tables,
                               const struct trace_module *entry)
{
	const uint64_t area = entry->area;
	struct module_file file = {
		.path = tables_string_at(tables, entry->path),
		.pid = getpid(),
		.area = &area,
		.build_id.size = entry->build_id_size,
	};
	struct module *module;

	if (file.path[0] != '/' || entry->build_id_size > BUILD_ID_MAX ||
	    entry->flags & TRACE_MODULE_UNSEEN)
		return NULL;
	memcpy(file.build_id.bytes, entry->build_id, entry->build_id_size);
	module = module_table_file(modules, &file);
	return module ? module_table_area(modules, module, area) : NULL;
}

/* Without a build-id, what has the path now is more likely the last that was mapped there. */
static bool is_replaced(const struct live_table *table, size_t id)
{
	const struct trace_module *entries = table->entries;

	for (size_t later = id + 1; !entries[id].build_id_size && later < table->nr; later++)
		if (entries[later].type == MODULE_FILE && entries[later].path == entries[id].path &&
		    entries[later].area == entries[id].area)
			return true;
	return false;
}

/* A piece of its code has its name for a path. */
static struct module *add_kernel(struct module_table *modules, const struct tables *tables,
                                 const struct trace_module *entry, size_t id)
{
	const char *path = tables_string_at(tables, entry->path);

	return strcmp(path, "[kernel]") ? module_table_piece(modules, entry->area << 32 | id, path)
	                                : module_table_kernel(modules, entry->area << 32);
}

static struct module *add_module(struct module_table *modules, const struct tables *tables,
                                 const struct live_table *table, size_t id, bool alive)
{
	const struct trace_module *entry = (const struct trace_module *)table->entries + id;

	switch (entry->type) {
	case MODULE_FILE:
		return is_replaced(table, id) ? NULL : add_file(modules, tables, entry);
	case MODULE_VDSO:
		return entry->area ? NULL : module_table_vdso(modules);
	case MODULE_KERNEL:
		return add_kernel(modules, tables, entry, id);
	case MODULE_ANON:
		return alive ? module_table_anon(modules, entry->pid, entry->area << 32) : NULL;
	default:
		return NULL;
	}
}

/* The modules of the run under their numbers. Those that cannot be told apart now have no names. */
static struct module_table *all_modules(const struct tables *tables, bool alive)
{
	struct live_table table = tables_section(tables, TRACE_MODULES);
	struct module_table *modules = module_table_new();

	if (modules)
		module_table_read_aside(modules, FILE_PATIENCE_MS);
	for (size_t id = 1; modules && id < table.nr; id++) {
		add_module(modules, tables, &table, id, alive);
		if (module_table_count(modules) == id)
			module_table_anon(modules, -(pid_t)id, 0);
		if (module_table_count(modules) != id + 1)
			break;
	}
	return modules;
}

/*
 * A recorder that died of an error of its own may have damaged its tables, which the writer takes
 * as they are; of a trace that no reader takes nothing should stay but the image.
 */
bool image_trace_write(const char *output, struct tables *tables, bool alive, const char *what)
{
	struct module_table *modules = all_modules(tables, alive);
	struct symbolizer *symbolizer = modules ? symbolizer_new(modules) : NULL;
	int err = symbolizer ? 0 : -ENOMEM;
	char size[TEXT_SIZE];
	uint64_t bytes = 0;

	if (!err)
		err = symbolizer_read_aside(symbolizer, NULL, NULL);
	if (!err)
		err = trace_write_checked(output, tables, modules, symbolizer, &bytes);
	symbolizer_free(symbolizer);
	module_table_free(modules);
	if (err == -EBADMSG)
		say("cannot write '%s': what its recorder had in /dev/shm is damaged, and stays "
		    "there",
		    output);
	else if (err)
		say("cannot write '%s': %s; -o names another place", output, new_file_error(err));
	if (err)
		return false;
	text_bytes(size, bytes);
	say("%s %s → %s", what, size, output);
	return true;
}

/* --- names of a recording at work ------------------------------------------------------------- */

struct live_modules {
	const struct tables *tables;
	struct module_table *modules;
	struct symbolizer *symbolizer;
};

static int name_module(void *arg, uint16_t id, const uint32_t *offsets, size_t n, symbol_fn *fn,
                       void *fn_arg)
{
	const struct live_modules *live = arg;
	struct live_table table = tables_section(live->tables, TRACE_MODULES);
	const struct trace_module *entries = table.entries;
	struct module *module = module_table_get(live->modules, id);

	if (!module || id >= table.nr || entries[id].flags & TRACE_MODULE_UNSEEN)
		return 0;
	return symbolizer_module(live->symbolizer, module, offsets, n, fn, fn_arg);
}

int image_trace_name(struct live_trace *live, struct live_naming *naming)
{
	const struct tables *tables = live_trace_tables(live);
	struct live_modules modules = {.tables = tables, .modules = all_modules(tables, true)};
	const struct name_provider provider = {.module = name_module, .arg = &modules};
	int err = -ENOMEM;

	modules.symbolizer = modules.modules ? symbolizer_new(modules.modules) : NULL;
	if (modules.symbolizer) {
		symbolizer_leave_lines(modules.symbolizer);
		err = symbolizer_read_aside(modules.symbolizer, NULL, NULL);
	}
	if (!err)
		err = live_naming_look_up(naming, live, &provider);
	symbolizer_free(modules.symbolizer);
	module_table_free(modules.modules);
	return err;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct image_command *command = state->input;

	switch (key) {
	case 'o':
		output_name_take(&command->output, arg);
		return 0;
	case ARGP_KEY_ARG:
		open_trace_take(&command->path, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

bool image_command_parse(struct image_command *command, int argc, char **argv,
                         const char *output_help, const char *doc)
{
	const struct argp_option options[] = {
		{"output", 'o', "OUT", 0, output_help, 0},
		{0},
	};
	const struct argp argp = {options, parse_option, "[FILE]", doc};

	*command = (struct image_command){0};
	if (foreign_options_parse(&argp, argc, argv, 2, 0, command))
		return false;
	command->unnamed = !command->path;
	if (command->unnamed)
		command->path = DEFAULT_TRACE;
	return true;
}

static bool has_default(const char *path, enum shm_image_holder holder)
{
	char *found = shm_image_found(path);

	free(found);
	return found && (holder == SHM_IMAGE_NOBODY || shm_image_held(path, holder));
}

bool image_command_choose(struct image_command *command, enum shm_image_holder holder,
                          char **chosen)
{
	int err = 0;

	*chosen = NULL;
	if (!command->unnamed || has_default(command->path, holder))
		return true;
	*chosen = leftovers_choose(holder, &err);
	if (*chosen)
		command->path = *chosen;
	return err != -EEXIST;
}

void image_command_say_foreign(const char *path)
{
	char *name = shm_image_found(path);

	say("'%s', where the recorder of '%s' has its memory, is not yours alone; remove it",
	    name ? name : "/dev/shm", path);
	free(name);
}
