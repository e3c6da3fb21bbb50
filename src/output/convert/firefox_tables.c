#include "output/text/escape.h"
#include "output/convert/firefox.h"
#include "output/text/text.h"

#include "base/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static const struct trace_module *module_of(const struct firefox *firefox, uint32_t function)
{
	uint64_t frame = paths_name(firefox->paths, function)->frame;

	return frame_module(frame) ? trace_module(firefox->trace, frame_module(frame)) : NULL;
}

/* --- columns ---------------------------------------------------------------------------------- */

typedef void print_cell(const struct firefox *firefox, uint32_t row);

static void print_column(const struct firefox *firefox, const char *name, uint32_t nr,
                         print_cell *cell)
{
	fprintf(firefox->file, "\"%s\":[", name);
	for (uint32_t i = 0; i < nr; i++) {
		if (i)
			putc_unlocked(',', firefox->file);
		cell(firefox, i);
	}
	fputs("],\n", firefox->file);
}

/* A column that says the same in every row. */
static void print_same(const struct firefox *firefox, const char *name, uint32_t nr,
                       const char *value)
{
	fprintf(firefox->file, "\"%s\":[", name);
	for (uint32_t i = 0; i < nr; i++)
		fprintf(firefox->file, "%s%s", i ? "," : "", value);
	fputs("],\n", firefox->file);
}

static void print_length(const struct firefox *firefox, uint32_t nr)
{
	fprintf(firefox->file, "\"length\":%" PRIu32 "},\n", nr);
}

static void print_number(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, row);
}

static void print_stack_frame(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, paths_place(firefox->paths, row));
}

static void print_stack_prefix(const struct firefox *firefox, uint32_t row)
{
	uint32_t caller = paths_caller(firefox->paths, row);

	if (caller == PATH_NONE)
		fputs("null", firefox->file);
	else
		fprintf(firefox->file, "%" PRIu32, caller);
}

static void print_frame_function(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, firefox->function_of[row]);
}

static void print_frame_category(const struct firefox *firefox, uint32_t row)
{
	const struct trace_module *module =
		module_of(firefox, firefox->paths->names.names[row].function);

	fprintf(firefox->file, "%d",
	        !module                         ? CATEGORY_OTHER
	        : module->kind == MODULE_KERNEL ? CATEGORY_KERNEL
	                                        : CATEGORY_USER);
}

/* A place in the function. */
static const struct frame_name *place_of(const struct firefox *firefox, uint32_t row)
{
	return &firefox->paths->names.names[firefox->place_of[row]];
}

static void print_function_name(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, place_of(firefox, row)->function);
}

static void print_function_resource(const struct firefox *firefox, uint32_t row)
{
	uint32_t module = place_of(firefox, row)->module;

	if (module)
		fprintf(firefox->file, "%" PRIu32, map64_get(&firefox->libs, module));
	else
		fputs("-1", firefox->file);
}

static void print_resource_name(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32, firefox->paths->names.nr_functions + row);
}

static void print_frame_line(const struct firefox *firefox, uint32_t row)
{
	uint32_t line = firefox->paths->names.names[row].line;

	if (line)
		fprintf(firefox->file, "%" PRIu32, line);
	else
		fputs("null", firefox->file);
}

static void print_function_source(const struct firefox *firefox, uint32_t row)
{
	uint32_t file = place_of(firefox, row)->file;

	if (file)
		fprintf(firefox->file, "%" PRIu32, map64_get(&firefox->files, file));
	else
		fputs("null", firefox->file);
}

static void print_file_name(const struct firefox *firefox, uint32_t row)
{
	fprintf(firefox->file, "%" PRIu32,
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

static int find_function(struct firefox *firefox, uint32_t place, uint32_t file)
{
	uint32_t function = firefox->paths->names.names[place].function;
	uint32_t nr = firefox->functions.nr;
	uint32_t number = map64_number(&firefox->functions, (uint64_t)function << 32 | file);

	if (number == UINT32_MAX)
		return -ENOMEM;
	if (number == nr)
		firefox->place_of[number] = place;
	firefox->function_of[place] = number;
	return 0;
}

static int find_functions(struct firefox *firefox)
{
	const struct frame_names *names = &firefox->paths->names;
	uint32_t *files = calloc((size_t)names->nr_functions + 1, sizeof(*files));
	int err = 0;

	firefox->function_of = calloc((size_t)names->nr + 1, sizeof(*firefox->function_of));
	firefox->place_of = calloc((size_t)names->nr + 1, sizeof(*firefox->place_of));
	if (!files || !firefox->function_of || !firefox->place_of)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < names->nr; i++) {
		const struct frame_name *place = &names->names[i];

		if (!place->file)
			continue;
		files[place->function] = place->file;
		err = find_function(firefox, i, place->file);
	}
	/* A place without a line joins the function's entry of a place with a line. */
	for (uint32_t i = 0; !err && i < names->nr; i++)
		if (!names->names[i].file)
			err = find_function(firefox, i, files[names->names[i].function]);
	free(files);
	return err;
}

/* The first 16 bytes as a GUID, whose first fields are little-endian, and age 0. */
static void print_breakpad_id(FILE *file, const struct trace_module *module)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

	fputs(",\"breakpadId\":\"", file);
	for (unsigned i = 0; i < 16; i++)
		fprintf(file, "%02X", module ? module->build_id[order[i]] : 0);
	fputs("0\",\"codeId\":", file);
	if (!module || !module->build_id_size) {
		fputs("null", file);
		return;
	}
	putc('"', file);
	for (unsigned i = 0; i < module->build_id_size && i < sizeof(module->build_id); i++)
		fprintf(file, "%02x", module->build_id[i]);
	putc('"', file);
}

static void print_libs(const struct firefox *firefox)
{
	static const char *const keys[] = {"name", "debugName", "path", "debugPath"};
	FILE *file = firefox->file;

	fputs("\"libs\":[", file);
	for (uint32_t i = 0; i < firefox->nr_libs; i++) {
		uint32_t function = firefox->lib_name[i];
		const char *path = paths_module(firefox->paths, function);

		fprintf(file, "%s\n{\"arch\":\"\"", i ? "," : "");
		for (unsigned k = 0; k < 4; k++) {
			fprintf(file, ",\"%s\":", keys[k]);
			escape_json(file, k < 2 ? text_file_name(path) : path);
		}
		print_breakpad_id(file, module_of(firefox, function));
		putc('}', file);
	}
	fputs("],\n", file);
}

static void print_strings(const struct firefox *firefox)
{
	char text[FRAME_TEXT_SIZE];

	fputs("\"stringArray\":[", firefox->file);
	for (uint32_t i = 0; i < firefox->paths->names.nr_functions; i++) {
		escape_json(firefox->file, paths_function(firefox->paths, i, text));
		fputs(",\n", firefox->file);
	}
	for (uint32_t i = 0; i < firefox->nr_libs; i++) {
		uint32_t function = firefox->lib_name[i];

		escape_json(firefox->file,
		            frame_module_text(firefox->trace,
		                              paths_name(firefox->paths, function)->frame));
		fputs(",\n", firefox->file);
	}
	for (uint32_t i = 0; i < firefox->nr_files; i++) {
		escape_json(firefox->file, trace_string(firefox->trace, firefox->file_name[i]));
		fputs(",\n", firefox->file);
	}
	fputs("\"Reduction\"", firefox->file);
	for (uint32_t i = 0; trace_region(firefox->trace, i); i++) {
		fputs(",\n", firefox->file);
		escape_json(firefox->file, trace_region_name(firefox->trace, i));
	}
	putc(']', firefox->file);
}

static void print_frames(const struct firefox *firefox)
{
	uint32_t nr = firefox->paths->names.nr;

	fputs("\"frameTable\":{", firefox->file);
	print_same(firefox, "address", nr, "-1");
	print_same(firefox, "inlineDepth", nr, "0");
	print_column(firefox, "category", nr, print_frame_category);
	print_same(firefox, "subcategory", nr, "0");
	print_column(firefox, "func", nr, print_frame_function);
	print_same(firefox, "nativeSymbol", nr, "null");
	print_same(firefox, "innerWindowID", nr, "0");
	print_column(firefox, "line", nr, print_frame_line);
	print_same(firefox, "column", nr, "null");
	print_length(firefox, nr);
}

static void print_functions(const struct firefox *firefox)
{
	uint32_t nr = firefox->functions.nr;

	fputs("\"funcTable\":{", firefox->file);
	print_column(firefox, "name", nr, print_function_name);
	print_same(firefox, "isJS", nr, "false");
	print_same(firefox, "relevantForJS", nr, "false");
	print_column(firefox, "resource", nr, print_function_resource);
	print_column(firefox, "source", nr, print_function_source);
	print_same(firefox, "lineNumber", nr, "null");
	print_same(firefox, "columnNumber", nr, "null");
	print_length(firefox, nr);
	nr = firefox->nr_libs;
	fputs("\"resourceTable\":{", firefox->file);
	print_column(firefox, "lib", nr, print_number);
	print_column(firefox, "name", nr, print_resource_name);
	print_same(firefox, "host", nr, "null");
	print_same(firefox, "type", nr, "1");
	print_length(firefox, nr);
}

static void print_shared(const struct firefox *firefox)
{
	uint32_t nr = paths_nr(firefox->paths);

	fputs("\"shared\":{\"stackTable\":{", firefox->file);
	print_column(firefox, "frame", nr, print_stack_frame);
	print_column(firefox, "prefix", nr, print_stack_prefix);
	print_length(firefox, nr);
	print_frames(firefox);
	print_functions(firefox);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0},\n\"sources\":{",
	      firefox->file);
	print_same(firefox, "uuid", firefox->nr_files, "null");
	print_column(firefox, "filename", firefox->nr_files, print_file_name);
	print_length(firefox, firefox->nr_files);
	print_strings(firefox);
	fputs("},\n", firefox->file);
}

/* --- the whole -------------------------------------------------------------------------------- */

uint32_t firefox_reduction_string(const struct firefox *firefox)
{
	return firefox->paths->names.nr_functions + firefox->nr_libs + firefox->nr_files;
}

void firefox_print_tables(const struct firefox *firefox)
{
	print_libs(firefox);
	print_shared(firefox);
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
	free(firefox->place_of);
}
