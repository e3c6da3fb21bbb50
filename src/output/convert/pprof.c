/*
 * pprof's profile.proto, compressed: one sample for every call path and thread, with a value for
 * each event and each counter. It is written message by message: what follows another in a file is
 * merged with it.
 *
 * Locations are addresses, as addr2line takes them, each with its line and those of the calls that
 * were inlined there. A function is a name in a file.
 */
#include "output/convert/convert.h"
#include "output/text/escape.h"
#include "output/text/gzip.h"
#include "output/convert/tally.h"
#include "output/text/text.h"

#include "base/array.h"
#include "base/frame.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pprof.pb-c.h"

#define MANY_SAMPLES (1 << 20) /* to be added up before they are written */

struct mapping {
	uint64_t end; /* of the highest address seen */
	uint64_t id;  /* in the file */
	bool used, lines;
};

struct pprof {
	struct conversion *conversion;
	const struct trace *trace;
	struct paths paths;       /* by address */
	struct frame_names names; /* of functions, inlined ones included */
	struct mapping *mappings; /* by module */
	uint32_t nr_mappings;
	Pprof__Label labels[4];
	uint64_t *locations; /* of the sample at hand */
	size_t most_locations;
	FILE *file;
	struct map64 strings;              /* by the trace's */
	struct map64 functions;            /* by name and file */
	struct map64 processes;            /* strings, by rank and the trace's string */
	uint64_t nr_functions, nr_written; /* mappings */
	int64_t nr_strings;
	int err; /* the first one */
};

/* --- writing ---------------------------------------------------------------------------------- */

static void put(struct pprof *pprof, const Pprof__Profile *part)
{
	size_t size = pprof__profile__get_packed_size(part);
	uint8_t *bytes = malloc(size + 1);

	if (!bytes) {
		pprof->err = -ENOMEM;
		return;
	}
	pprof__profile__pack(part, bytes);
	fwrite(bytes, 1, size, pprof->file);
	free(bytes);
}

static int64_t add_string(struct pprof *pprof, const char *text)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char *copy;

	if (!*text && pprof->nr_strings)
		return 0;
	copy = escape_copy(text);
	if (!copy) {
		pprof->err = -ENOMEM;
		return 0;
	}
	part.n_string_table = 1;
	part.string_table = &copy;
	put(pprof, &part);
	free(copy);
	return pprof->nr_strings++;
}

/* A string of the trace. */
static int64_t find_string(struct pprof *pprof, uint32_t offset)
{
	uint32_t string = map64_get(&pprof->strings, offset);

	if (string != UINT32_MAX)
		return string;
	string = (uint32_t)add_string(pprof, trace_string(pprof->trace, offset));
	if (map64_add(&pprof->strings, offset, string))
		pprof->err = -ENOMEM;
	return string;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Servers of profiles have names of sample types in their queries: words. */
static int64_t add_word(struct pprof *pprof, const char *name)
{
	char *word = strdup(name);
	int64_t string;

	if (!word) {
		pprof->err = -ENOMEM;
		return 0;
	}
	for (char *c = word; *c; c++)
		if ((unsigned char)*c >= 0x80 || !isalnum((unsigned char)*c))
			*c = '_';
	string = add_string(pprof, word);
	free(word);
	return string;
}

/* default_event: what viewers show first; NULL: this is another one. */
static void put_value_type(struct pprof *pprof, uint32_t name, uint32_t unit,
                           const struct trace_event *default_event)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT, *types = &type;

	type.type = add_word(pprof, trace_string(pprof->trace, name));
	type.unit = add_string(pprof, unit == TRACE_NS ? "nanoseconds" : "count");
	part.n_sample_type = 1;
	part.sample_type = &types;
	if (default_event) {
		part.period_type = &type;
		part.period = (int64_t)trace_period(default_event, trace_shift(default_event));
		part.default_sample_type = type.type;
	}
	put(pprof, &part);
}

/*
 * Sets start and duration of the profile: those of the run, or of the part of it that is written.
 */
static void put_time(const struct pprof *pprof, Pprof__Profile *profile)
{
	const struct trace_run *run = trace_run(pprof->trace);
	const struct selection *selection = pprof->conversion->selection;
	uint64_t from = selection_start(run, selection), to = selection_end(run, selection);

	profile->time_nanos = (int64_t)(run->real_start + (from - run->start));
	profile->duration_nanos = to > from ? (int64_t)(to - from) : 0;
}

static void put_run(struct pprof *pprof)
{
	const struct trace_event *event;
	const struct trace_counter *counter;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char *title = convert_title(pprof->conversion);
	int64_t comment;

	if (!title)
		pprof->err = -ENOMEM;
	add_string(pprof, "");
	for (uint32_t i = 0; (event = trace_event(pprof->trace, i)); i++)
		put_value_type(pprof, event->name, event->unit, i ? NULL : event);
	for (uint32_t i = 0; (counter = trace_counter(pprof->trace, i)); i++)
		put_value_type(pprof, counter->name, counter->unit, NULL);
	comment = add_string(pprof, title ? title : "");
	free(title);
	put_time(pprof, &part);
	part.n_comment = 1;
	part.comment = &comment;
	put(pprof, &part);
}

/* --- functions, mappings, locations ----------------------------------------------------------- */

/*
 * There is no other name that the system knows a function by: given the same one twice pprof takes
 * it to be mangled, cuts what is in brackets, and makes one of all functions that are then alike.
 */
static uint64_t add_function(struct pprof *pprof, int64_t name, uint32_t file)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions = &function;

	function.id = ++pprof->nr_functions;
	function.name = name;
	function.filename = find_string(pprof, file);
	part.n_function = 1;
	part.function = &functions;
	put(pprof, &part);
	return function.id;
}

static int64_t name_of(struct pprof *pprof, uint32_t function)
{
	uint32_t symbol = pprof->names.names[function].symbol;
	char text[FRAME_TEXT_SIZE];

	return symbol ? find_string(pprof, symbol)
	              : add_string(pprof, frame_name_symbol(&pprof->names, function, text));
}

static uint64_t find_function(struct pprof *pprof, uint32_t function, uint32_t file)
{
	uint64_t key = (uint64_t)function << 32 | file, id;
	uint32_t known = map64_get(&pprof->functions, key);

	if (known != UINT32_MAX)
		return known;
	id = add_function(pprof, name_of(pprof, function), file);
	if (map64_add(&pprof->functions, key, (uint32_t)id))
		pprof->err = -ENOMEM;
	return id;
}

static void note_mappings(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->paths.names.nr; i++) {
		uint64_t frame = pprof->paths.names.names[i].frame;
		struct mapping *mapping = &pprof->mappings[frame_module(frame)];
		uint64_t address = frame_address(pprof->trace, frame);

		if (!frame_module(frame) || frame_module(frame) >= pprof->nr_mappings)
			continue;
		mapping->used = true;
		mapping->lines |= pprof->paths.names.names[i].file != 0;
		if (address >= mapping->end)
			mapping->end = address + 1;
	}
}

static int64_t add_build_id(struct pprof *pprof, const struct trace_module *module)
{
	char text[2 * sizeof(module->build_id) + 1] = "";

	for (unsigned i = 0; i < module->build_id_size && i < sizeof(module->build_id); i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", module->build_id[i]);
	return add_string(pprof, text);
}

static void put_mapping(struct pprof *pprof, uint32_t number)
{
	const struct trace_module *module = trace_module(pprof->trace, number);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;

	mapping.id = pprof->mappings[number].id = ++pprof->nr_written;
	mapping.memory_start = frame_address(pprof->trace, frame_make((uint16_t)number, 0));
	mapping.memory_limit = pprof->mappings[number].end;
	mapping.filename = find_string(pprof, module->path);
	mapping.build_id = add_build_id(pprof, module);
	mapping.has_functions = true;
	mapping.has_filenames = mapping.has_line_numbers = mapping.has_inline_frames =
		pprof->mappings[number].lines;
	part.n_mapping = 1;
	part.mapping = &mappings;
	put(pprof, &part);
}

/* Whether a file is called as the command, or "python3.11" where that is "python3". */
static bool is_command(const struct pprof *pprof, const struct trace_module *module)
{
	const char *command = trace_string(pprof->trace, trace_run(pprof->trace)->command);
	const char *file = text_file_name(trace_string(pprof->trace, module->path));
	const char *end = command + strcspn(command, "\x1f"), *name = end;

	while (name > command && name[-1] != '/')
		name--;
	return name < end && !strncmp(file, name, (size_t)(end - name));
}

/* The number of what pprof calls the profile by; 0: there is none. */
static uint32_t find_program(const struct pprof *pprof)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < pprof->nr_mappings; i++) {
		const struct trace_module *module = trace_module(pprof->trace, i);

		if (!pprof->mappings[i].used || module->type != MODULE_FILE)
			continue;
		if (is_command(pprof, module))
			return i;
		if (!first)
			first = i;
	}
	return first;
}

/* The program's comes first, by which it is known; some readers want ids in this order. */
static void put_mappings(struct pprof *pprof)
{
	uint32_t program;

	note_mappings(pprof);
	program = find_program(pprof);
	if (program)
		put_mapping(pprof, program);
	for (uint32_t i = 1; i < pprof->nr_mappings && !pprof->err; i++)
		if (pprof->mappings[i].used && i != program)
			put_mapping(pprof, i);
}

/* The lines of a name, innermost first; the last one is of its own function. */
static size_t find_lines(struct pprof *pprof, const struct frame_name *name,
                         Pprof__Line lines[TRACE_MAX_CHAIN])
{
	struct trace_source chain[TRACE_MAX_CHAIN];
	size_t nr_sources = trace_inline_chain(pprof->trace, name->frame, chain);
	const uint32_t *functions;
	size_t nr = frame_names_chain(&pprof->names, name->frame, &functions);

	for (size_t i = 0; i < nr; i++) {
		uint32_t file = nr_sources == nr ? chain[i].file : 0;

		pprof__line__init(&lines[i]);
		lines[i].function_id = find_function(pprof, functions[nr - 1 - i], file);
		lines[i].line = file ? chain[i].line : 0;
	}
	if (!nr)
		pprof->err = -ENOMEM;
	return nr;
}

static void put_location(struct pprof *pprof, uint32_t number)
{
	const struct frame_name *name = &pprof->paths.names.names[number];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *locations = &location;
	Pprof__Line lines[TRACE_MAX_CHAIN], *list[TRACE_MAX_CHAIN];

	location.id = number + 1;
	if (frame_module(name->frame) < pprof->nr_mappings)
		location.mapping_id = pprof->mappings[frame_module(name->frame)].id;
	location.address = frame_address(pprof->trace, name->frame);
	location.n_line = find_lines(pprof, name, lines);
	location.line = list;
	for (size_t i = 0; i < location.n_line; i++)
		list[i] = &lines[i];
	part.n_location = 1;
	part.location = &locations;
	put(pprof, &part);
}

static void put_locations(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->paths.names.nr && !pprof->err; i++)
		put_location(pprof, i);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Prepares the keys of the labels, which are the same in all samples. */
static void find_labels(struct pprof *pprof)
{
	static const char *const keys[] = {"thread", "pid", "tid", "process"};

	for (unsigned i = 0; i < 4; i++) {
		pprof__label__init(&pprof->labels[i]);
		pprof->labels[i].key = add_string(pprof, keys[i]);
	}
}

/* The numbers of a path's names, leaf first. */
static size_t find_locations(struct pprof *pprof, uint32_t path)
{
	size_t nr = 0;

	for (; path != PATH_NONE; path = paths_caller(&pprof->paths, path)) {
		uint64_t *grown =
			array_reach(pprof->locations, nr, &pprof->most_locations, sizeof(*grown));

		if (!grown) {
			pprof->err = -ENOMEM;
			return 0;
		}
		pprof->locations = grown;
		pprof->locations[nr++] = paths_leaf_name(&pprof->paths, path) + 1;
	}
	return nr;
}

static int64_t find_process(struct pprof *pprof, uint32_t thread, uint32_t comm)
{
	uint64_t key = (uint64_t)(uint32_t)trace_rank(pprof->trace, thread) << 32 | comm;
	uint32_t string = map64_get(&pprof->processes, key);
	char text[CONVERT_TEXT_SIZE];

	if (string != UINT32_MAX)
		return string;
	convert_process_text(pprof->trace, thread, comm, text);
	string = (uint32_t)add_string(pprof, text);
	if (map64_add(&pprof->processes, key, string))
		pprof->err = -ENOMEM;
	return string;
}

static void put_sample(struct pprof *pprof, const struct tally *tally, uint32_t number)
{
	const struct tally_entry *entry = &tally->entries[number];
	const struct trace_thread *thread = trace_thread(pprof->trace, entry->thread);
	Pprof__Label *labels[4] = {&pprof->labels[0], &pprof->labels[1], &pprof->labels[2],
	                           &pprof->labels[3]};
	bool job = trace_rank(pprof->trace, entry->thread) >= 0;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;

	labels[0]->str = thread ? find_string(pprof, thread->comm) : 0;
	labels[1]->num = thread ? thread->pid : 0;
	labels[2]->num = thread ? thread->tid : 0;
	labels[3]->str = thread && job ? find_process(pprof, entry->thread, thread->comm) : 0;
	sample.n_label = !thread ? 0 : job ? 4 : 3;
	sample.label = labels;
	sample.n_location_id = find_locations(pprof, entry->path);
	sample.location_id = pprof->locations;
	sample.n_value = tally->nr_weights;
	sample.value = (int64_t *)(uintptr_t)tally_weights(tally, number);
	part.n_sample = 1;
	part.sample = &samples;
	put(pprof, &part);
}

/* pprof adds up samples with the same locations and labels. */
static int put_samples(void *arg, const struct tally *tally)
{
	struct pprof *pprof = arg;

	for (uint32_t i = 0; i < tally->nr && !pprof->err; i++)
		put_sample(pprof, tally, i);
	return pprof->err;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Samples come first: what they refer to is known when all have been seen. */
static int write_profile(struct pprof *pprof)
{
	const struct tally_config config = {
		.by_thread = true, .many = MANY_SAMPLES, .full = put_samples, .arg = pprof};
	struct tally tally;
	int err;

	frame_names_init(&pprof->names, pprof->trace, PATHS_BY_FUNCTION);
	if (paths_init(&pprof->paths, pprof->trace, PATHS_BY_ADDRESS))
		return -ENOMEM;
	pprof->nr_mappings = trace_nr(pprof->trace, TRACE_MODULES);
	pprof->mappings = calloc(FRAME_MAX_MODULES, sizeof(*pprof->mappings));
	if (!pprof->mappings)
		return -ENOMEM;
	put_run(pprof);
	find_labels(pprof);
	err = tally_init(&tally, pprof->conversion, &pprof->paths, &config);
	tally_fini(&tally);
	if (!err && !pprof->err) {
		put_mappings(pprof);
		put_locations(pprof);
	}
	return err ? err : pprof->err;
}

int pprof_write(struct conversion *conversion, FILE *file)
{
	struct pprof pprof = {.conversion = conversion, .trace = conversion->trace};

	pprof.file = gzip_open(file);
	if (!pprof.file)
		return -errno;
	convert_plan(conversion, TALLY_WALKS, TRACE_ALL_EVENTS);
	pprof.err = write_profile(&pprof);
	pprof.err = gzip_close(pprof.file, pprof.err);
	paths_fini(&pprof.paths);
	frame_names_fini(&pprof.names);
	map64_fini(&pprof.strings);
	map64_fini(&pprof.functions);
	map64_fini(&pprof.processes);
	free(pprof.mappings);
	free(pprof.locations);
	return pprof.err;
}
