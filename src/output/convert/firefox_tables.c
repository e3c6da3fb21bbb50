#include "output/convert/firefox.h"
#include "output/text/text.h"

#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>

static const struct trace_module *module_of(const struct firefox *firefox, uint32_t function)
{
	uint64_t frame = paths_name(firefox->paths, function)->frame;

	return frame_module(frame) ? trace_module(firefox->trace, frame_module(frame)) : NULL;
}

/* --- columns ---------------------------------------------------------------------------------- */

typedef void put_cell(struct firefox *firefox, uint32_t row);

static void put_column(struct firefox *firefox, const char *name, uint32_t nr, put_cell *put)
{
	json_begin_list(&firefox->json, name);
	for (uint32_t i = 0; i < nr; i++)
		put(firefox, i);
	json_end_list(&firefox->json);
	json_break(&firefox->json);
}

/* A column that says the same in every row. */
static void put_same(struct firefox *firefox, const char *name, uint32_t nr, const char *value)
{
	json_begin_list(&firefox->json, name);
	for (uint32_t i = 0; i < nr; i++)
		json_raw(&firefox->json, NULL, "%s", value);
	json_end_list(&firefox->json);
	json_break(&firefox->json);
}

static void end_table(struct firefox *firefox, uint32_t nr)
{
	json_number(&firefox->json, "length", nr);
	json_end(&firefox->json);
	json_break(&firefox->json);
}

static void put_number(struct firefox *firefox, uint32_t row)
{
	json_number(&firefox->json, NULL, row);
}

static void put_stack_frame(struct firefox *firefox, uint32_t row)
{
	json_number(&firefox->json, NULL, paths_leaf_name(firefox->paths, row));
}

static void put_stack_prefix(struct firefox *firefox, uint32_t row)
{
	uint32_t caller = paths_caller(firefox->paths, row);

	json_known(&firefox->json, NULL, caller != PATH_NONE, caller);
}

static void put_frame_function(struct firefox *firefox, uint32_t row)
{
	json_number(&firefox->json, NULL, firefox->function_of[row]);
}

static void put_frame_category(struct firefox *firefox, uint32_t row)
{
	const struct trace_module *module =
		module_of(firefox, firefox->paths->names.names[row].function);

	json_number(&firefox->json, NULL,
	            !module                         ? CATEGORY_OTHER
	            : module->type == MODULE_KERNEL ? CATEGORY_KERNEL
	                                            : CATEGORY_USER);
}

/* A name in the function. */
static const struct frame_name *name_of(const struct firefox *firefox, uint32_t row)
{
	return &firefox->paths->names.names[firefox->name_of[row]];
}

static void put_function_name(struct firefox *firefox, uint32_t row)
{
	json_number(&firefox->json, NULL, name_of(firefox, row)->function);
}

static void put_function_resource(struct firefox *firefox, uint32_t row)
{
	uint32_t module = name_of(firefox, row)->module;

	json_int(&firefox->json, NULL, module ? (int64_t)map64_get(&firefox->libs, module) : -1);
}

static void put_resource_name(struct firefox *firefox, uint32_t row)
{
	json_number(&firefox->json, NULL, firefox->paths->names.nr_functions + row);
}

static void put_frame_line(struct firefox *firefox, uint32_t row)
{
	uint32_t line = firefox->paths->names.names[row].line;

	json_known(&firefox->json, NULL, line, line);
}

static void put_function_source(struct firefox *firefox, uint32_t row)
{
	uint32_t file = name_of(firefox, row)->file;

	json_known(&firefox->json, NULL, file, map64_get(&firefox->files, file));
}

static void put_file_name(struct firefox *firefox, uint32_t row)
{
	json_number(&firefox->json, NULL,
	            firefox->paths->names.nr_functions + firefox->nr_libs + row);
}

/* --- the shared tables ------------------------------------------------------------------------ */

static int find_libs(struct firefox *firefox)
{
	uint32_t nr = firefox->paths->names.nr_functions;

	firefox->lib_name = calloc((size_t)nr + 1, sizeof(*firefox->lib_name));
	if (!firefox->lib_name)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t module = paths_name(firefox->paths, i)->module, number;

		if (!module)
			continue;
		number = map64_number(&firefox->libs, module);
		if (number == UINT32_MAX)
			return -ENOMEM;
		if (number == firefox->nr_libs)
			firefox->lib_name[firefox->nr_libs++] = i;
	}
	return 0;
}

static int find_files(struct firefox *firefox)
{
	const struct frame_names *names = &firefox->paths->names;

	firefox->file_name = calloc((size_t)names->nr + 1, sizeof(*firefox->file_name));
	if (!firefox->file_name)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->nr; i++) {
		uint32_t file = names->names[i].file, number;

		if (!file)
			continue;
		number = map64_number(&firefox->files, file);
		if (number == UINT32_MAX)
			return -ENOMEM;
		if (number == firefox->nr_files)
			firefox->file_name[firefox->nr_files++] = file;
	}
	return 0;
}

static int find_function(struct firefox *firefox, uint32_t name, uint32_t file)
{
	uint32_t function = firefox->paths->names.names[name].function;
	uint32_t nr = firefox->functions.nr;
	uint32_t number = map64_number(&firefox->functions, (uint64_t)function << 32 | file);

	if (number == UINT32_MAX)
		return -ENOMEM;
	if (number == nr)
		firefox->name_of[number] = name;
	firefox->function_of[name] = number;
	return 0;
}

static int find_functions(struct firefox *firefox)
{
	const struct frame_names *names = &firefox->paths->names;
	uint32_t *files = calloc((size_t)names->nr_functions + 1, sizeof(*files));
	int err = 0;

	firefox->function_of = calloc((size_t)names->nr + 1, sizeof(*firefox->function_of));
	firefox->name_of = calloc((size_t)names->nr + 1, sizeof(*firefox->name_of));
	if (!files || !firefox->function_of || !firefox->name_of)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < names->nr; i++) {
		const struct frame_name *name = &names->names[i];

		if (!name->file)
			continue;
		files[name->function] = name->file;
		err = find_function(firefox, i, name->file);
	}
	/* A name without a line joins the function's entry of a name with a line. */
	for (uint32_t i = 0; !err && i < names->nr; i++)
		if (!names->names[i].file)
			err = find_function(firefox, i, files[names->names[i].function]);
	free(files);
	return err;
}

/* The first 16 bytes as a GUID, whose first fields are little-endian, and age 0. */
static void put_build_id(struct json_writer *json, const struct trace_module *module)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	FILE *to = json_begin_text(json, "breakpadId");

	for (unsigned i = 0; i < 16; i++)
		fprintf(to, "%02X", module ? module->build_id[order[i]] : 0);
	fputc('0', to);
	json_end_text(json);
	if (!module || !module->build_id_size) {
		json_null(json, "codeId");
		return;
	}
	json_begin_text(json, "codeId");
	for (unsigned i = 0; i < module->build_id_size && i < sizeof(module->build_id); i++)
		fprintf(to, "%02x", module->build_id[i]);
	json_end_text(json);
}

static void put_libs(struct firefox *firefox)
{
	struct json_writer *json = &firefox->json;

	json_begin_list(json, "libs");
	for (uint32_t i = 0; i < firefox->nr_libs; i++) {
		uint32_t function = firefox->lib_name[i];
		const char *path = paths_module(firefox->paths, function);

		json_break(json);
		json_begin(json, NULL);
		json_text(json, "arch", "");
		json_text(json, "name", text_file_name(path));
		json_text(json, "debugName", text_file_name(path));
		json_text(json, "path", path);
		json_text(json, "debugPath", path);
		put_build_id(json, module_of(firefox, function));
		json_end(json);
	}
	json_end_list(json);
	json_break(json);
}

static void put_text(struct json_writer *json, const char *text)
{
	json_break_between(json);
	json_text(json, NULL, text);
}

static void put_strings(struct firefox *firefox)
{
	const struct paths *paths = firefox->paths;
	struct json_writer *json = &firefox->json;
	char text[FRAME_TEXT_SIZE];

	json_begin_list(json, "stringArray");
	for (uint32_t i = 0; i < paths->names.nr_functions; i++)
		put_text(json, paths_function(paths, i, text));
	for (uint32_t i = 0; i < firefox->nr_libs; i++)
		put_text(json, frame_module_text(firefox->trace,
		                                 paths_name(paths, firefox->lib_name[i])->frame));
	for (uint32_t i = 0; i < firefox->nr_files; i++)
		put_text(json, trace_string(firefox->trace, firefox->file_name[i]));
	put_text(json, "Reduction");
	for (uint32_t i = 0; trace_region(firefox->trace, i); i++)
		put_text(json, trace_region_name(firefox->trace, i));
	put_text(json, "Action");
	put_text(json, "iteration");
	put_text(json, "iterations, calls not stored");
	json_end_list(json);
}

static void put_frames(struct firefox *firefox)
{
	uint32_t nr = firefox->paths->names.nr;

	json_begin(&firefox->json, "frameTable");
	put_same(firefox, "address", nr, "-1");
	put_same(firefox, "inlineDepth", nr, "0");
	put_column(firefox, "category", nr, put_frame_category);
	put_same(firefox, "subcategory", nr, "0");
	put_column(firefox, "func", nr, put_frame_function);
	put_same(firefox, "nativeSymbol", nr, "null");
	put_same(firefox, "innerWindowID", nr, "0");
	put_column(firefox, "line", nr, put_frame_line);
	put_same(firefox, "column", nr, "null");
	end_table(firefox, nr);
}

static void put_functions(struct firefox *firefox)
{
	uint32_t nr = firefox->functions.nr;

	json_begin(&firefox->json, "funcTable");
	put_column(firefox, "name", nr, put_function_name);
	put_same(firefox, "isJS", nr, "false");
	put_same(firefox, "relevantForJS", nr, "false");
	put_column(firefox, "resource", nr, put_function_resource);
	put_column(firefox, "source", nr, put_function_source);
	put_same(firefox, "lineNumber", nr, "null");
	put_same(firefox, "columnNumber", nr, "null");
	end_table(firefox, nr);
	nr = firefox->nr_libs;
	json_begin(&firefox->json, "resourceTable");
	put_column(firefox, "lib", nr, put_number);
	put_column(firefox, "name", nr, put_resource_name);
	put_same(firefox, "host", nr, "null");
	put_same(firefox, "type", nr, "1");
	end_table(firefox, nr);
}

static void put_shared(struct firefox *firefox)
{
	uint32_t nr = paths_nr(firefox->paths);
	struct json_writer *json = &firefox->json;

	json_begin(json, "shared");
	json_begin(json, "stackTable");
	put_column(firefox, "frame", nr, put_stack_frame);
	put_column(firefox, "prefix", nr, put_stack_prefix);
	end_table(firefox, nr);
	put_frames(firefox);
	put_functions(firefox);
	json_raw(json, "nativeSymbols", "%s",
	         "{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0}");
	json_break(json);
	json_begin(json, "sources");
	put_same(firefox, "uuid", firefox->nr_files, "null");
	put_column(firefox, "filename", firefox->nr_files, put_file_name);
	end_table(firefox, firefox->nr_files);
	put_strings(firefox);
	json_end(json);
	json_break(json);
}

/* --- the whole -------------------------------------------------------------------------------- */

uint32_t firefox_reduction_string(const struct firefox *firefox)
{
	return firefox->paths->names.nr_functions + firefox->nr_libs + firefox->nr_files;
}

uint32_t firefox_action_string(const struct firefox *firefox)
{
	return firefox_reduction_string(firefox) + 1 + trace_nr(firefox->trace, TRACE_REGIONS);
}

uint32_t firefox_iteration_string(const struct firefox *firefox, bool stored)
{
	return firefox_action_string(firefox) + (stored ? 1 : 2);
}

void firefox_put_tables(struct firefox *firefox)
{
	json_break(&firefox->json);
	put_libs(firefox);
	put_shared(firefox);
}

int firefox_find_names(struct firefox *firefox)
{
	return find_libs(firefox) || find_files(firefox) || find_functions(firefox) ? -ENOMEM : 0;
}

void firefox_free_names(struct firefox *firefox)
{
	map64_fini(&firefox->libs);
	map64_fini(&firefox->files);
	map64_fini(&firefox->functions);
	free(firefox->lib_name);
	free(firefox->file_name);
	free(firefox->function_of);
	free(firefox->name_of);
}
