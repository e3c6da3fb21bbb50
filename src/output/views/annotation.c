#include "output/views/annotation.h"
#include "trace/write/source_files.h"

#include "output/profile/frame_names.h"
#include "output/text/function_name.h"
#include "base/array.h"
#include "symbolize/modules/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_PATIENCE_MS 10000

#define ELSEWHERE (UINT32_MAX - 1)

/* --- addresses -----------------------------------------------------------------------------------
 */

struct collector {
	struct annotation *annotation;
	const struct profile *profile;
	const struct view_query *query;
	struct map64 by_frame; /* index of its address, or ELSEWHERE */
	char *text;
};

/* Whether a frame is in the function or a part of it; source: its innermost line. */
static bool is_inside(const struct collector *collector, uint64_t frame,
                      struct trace_source *source)
{
	const struct trace *trace = collector->annotation->trace;
	const char *function = collector->query->function;
	struct trace_source chain[TRACE_MAX_CHAIN];
	size_t nr = trace_inline_chain(trace, frame, chain);

	*source = (struct trace_source){0};
	if (nr)
		*source = chain[collector->query->no_inline ? nr - 1 : 0];
	if (function_name_is_in(frame_symbol(trace, frame, collector->text), function))
		return true;
	for (size_t i = 0; i + 1 < nr && !collector->query->no_inline; i++)
		if (function_name_is_in(trace_string(trace, chain[i].function), function))
			return true;
	return false;
}

static struct hot_address *add_address(struct annotation *annotation)
{
	struct hot_address *grown =
		array_grow(annotation->addresses, annotation->nr_addresses, sizeof(*grown));

	if (!grown)
		return NULL;
	annotation->addresses = grown;
	return &annotation->addresses[annotation->nr_addresses++];
}

static int add_sample(void *arg, const struct trace_sample *sample)
{
	struct collector *collector = arg;
	struct annotation *annotation = collector->annotation;
	uint64_t weight = profile_weight(collector->profile, sample);
	uint32_t index = map64_get(&collector->by_frame, sample->leaf);
	struct trace_source source;
	struct hot_address *address;

	if (!selection_has(collector->profile->config.selection, sample))
		return 0;
	if (index == UINT32_MAX) {
		index = annotation->nr_addresses;
		if (!is_inside(collector, sample->leaf, &source))
			return map64_add(&collector->by_frame, sample->leaf, ELSEWHERE);
		address = add_address(annotation);
		if (!address || map64_add(&collector->by_frame, sample->leaf, index))
			return -ENOMEM;
		*address = (struct hot_address){
			.frame = sample->leaf, .file = source.file, .line = source.line};
	}
	if (index == ELSEWHERE)
		return 0;
	annotation->addresses[index].self += weight;
	annotation->addresses[index].samples++;
	annotation->self += weight;
	annotation->samples++;
	return 0;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct hot_address *x = a, *y = b;

	return ORDER(x->frame, y->frame);
}

static int collect(struct annotation *annotation, const struct profile *profile,
                   const struct view_query *query)
{
	struct collector collector = {annotation, profile, query, .text = malloc(FRAME_TEXT_SIZE)};
	int err = -ENOMEM;

	if (collector.text)
		err = trace_each_sample(
			trace_walk_unordered(annotation->trace, profile->config.event), add_sample,
			&collector);
	ARRAY_SORT(annotation->addresses, annotation->nr_addresses, compare_addresses);
	map64_fini(&collector.by_frame);
	free(collector.text);
	return err;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int compare_lines(const void *a, const void *b)
{
	const struct hot_line *x = a, *y = b;

	return ORDER(x->file, y->file) ?: ORDER(x->line, y->line);
}

struct hot {
	uint64_t self;
	uint32_t index;
};

static int compare_hot(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	return ORDER(y->self, x->self) ?: ORDER(x->index, y->index);
}

/* Marks as many lines and addresses as the limit allows. */
static int mark_hottest(struct annotation *annotation, uint32_t limit)
{
	struct hot *order = calloc(annotation->nr_addresses + 1UL, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < annotation->nr_lines; i++)
		order[i] = (struct hot){annotation->lines[i].self, i};
	ARRAY_SORT(order, annotation->nr_lines, compare_hot);
	for (uint32_t i = 0; i < annotation->nr_lines && i < limit; i++)
		annotation->lines[order[i].index].hottest = true;
	for (uint32_t i = 0; i < annotation->nr_addresses; i++)
		order[i] = (struct hot){annotation->addresses[i].self, i};
	ARRAY_SORT(order, annotation->nr_addresses, compare_hot);
	for (uint32_t i = 0; i < annotation->nr_addresses && i < limit; i++)
		annotation->addresses[order[i].index].hottest = true;
	free(order);
	return 0;
}

uint32_t annotation_file_end(const struct annotation *annotation, uint32_t first)
{
	uint32_t end = first;

	while (end < annotation->nr_lines &&
	       annotation->lines[end].file == annotation->lines[first].file)
		end++;
	return end;
}

struct file_rank {
	uint64_t self;
	uint32_t first, end;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct file_rank *x = a, *y = b;

	return ORDER(y->self, x->self) ?: ORDER(x->first, y->first);
}

static int order_files(struct annotation *annotation)
{
	uint32_t nr = annotation->nr_lines, nr_files = 0, to = 0;
	struct file_rank *ranks = calloc(nr + 1UL, sizeof(*ranks));
	struct hot_line *ordered = calloc(nr + 1UL, sizeof(*ordered));

	if (!ranks || !ordered) {
		free(ranks);
		free(ordered);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nr; i = ranks[nr_files++].end) {
		ranks[nr_files] = (struct file_rank){0, i, annotation_file_end(annotation, i)};
		for (uint32_t k = i; k < ranks[nr_files].end; k++)
			ranks[nr_files].self += annotation->lines[k].self;
	}
	ARRAY_SORT(ranks, nr_files, compare_ranks);
	for (uint32_t i = 0; i < nr_files; i++)
		for (uint32_t k = ranks[i].first; k < ranks[i].end; k++)
			ordered[to++] = annotation->lines[k];
	free(annotation->lines);
	annotation->lines = ordered;
	free(ranks);
	return 0;
}

static int make_lines(struct annotation *annotation, uint32_t limit)
{
	struct hot_line *lines = calloc(annotation->nr_addresses + 1UL, sizeof(*lines));
	uint32_t nr = 0;
	int err;

	annotation->lines = lines;
	if (!lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < annotation->nr_addresses; i++) {
		const struct hot_address *address = &annotation->addresses[i];

		lines[i] = (struct hot_line){address->file, address->line, address->self,
		                             address->samples, false};
	}
	ARRAY_SORT(lines, annotation->nr_addresses, compare_lines);
	for (uint32_t i = 0; i < annotation->nr_addresses; i++) {
		if (nr && !compare_lines(&lines[nr - 1], &lines[i])) {
			lines[nr - 1].self += lines[i].self;
			lines[nr - 1].samples += lines[i].samples;
		} else {
			lines[nr++] = lines[i];
		}
	}
	annotation->nr_lines = nr;
	err = order_files(annotation);
	return err ? err : mark_hottest(annotation, limit);
}

/* --- code ------------------------------------------------------------------------------------- */

/* Seconds since 1970 when the run began, rounded up. */
static int64_t began(const struct annotation *annotation)
{
	return (int64_t)(trace_run(annotation->trace)->real_start / 1000000000) + 1;
}

static void read_code(const struct annotation *annotation, struct hot_code *code)
{
	const struct trace *trace = annotation->trace;
	const struct trace_symbol *symbol = trace_symbol(trace, code->symbol);
	const struct trace_module *module = trace_module(trace, symbol->module);
	struct build_id id = {0};

	code->address = frame_address(trace, frame_make((uint16_t)symbol->module, symbol->lo));
	code->err = -ENOTSUP;
	if (!module || module->type != MODULE_FILE)
		return;
	id.size = module->build_id_size <= BUILD_ID_MAX ? module->build_id_size : 0;
	memcpy(id.bytes, module->build_id, id.size);
	code->err = files_aside_code(annotation->aside, &code->code,
	                             trace_string(trace, module->path), &id, began(annotation),
	                             code->address, code->address + (symbol->hi - symbol->lo));
}

static int compare_codes(const void *a, const void *b)
{
	const struct hot_code *x = a, *y = b;

	return ORDER(y->self, x->self) ?: ORDER(x->symbol, y->symbol);
}

static void find_codes(struct annotation *annotation)
{
	struct hot_code *code = NULL;

	for (uint32_t i = 0; i < annotation->nr_addresses; i++) {
		const struct hot_address *address = &annotation->addresses[i];
		uint32_t symbol = trace_find_symbol(annotation->trace, address->frame);

		if (symbol == UINT32_MAX)
			continue; /* and so it has no name */
		if (!code || code->symbol != symbol) {
			code = &annotation->codes[annotation->nr_codes++];
			*code = (struct hot_code){.symbol = symbol, .first = i};
		}
		code->nr++;
		code->self += address->self;
	}
}

static int make_codes(struct annotation *annotation)
{
	annotation->codes = calloc(annotation->nr_addresses + 1UL, sizeof(*annotation->codes));
	if (!annotation->codes)
		return -ENOMEM;
	find_codes(annotation);
	ARRAY_SORT(annotation->codes, annotation->nr_codes, compare_codes);
	for (uint32_t i = ANNOTATION_MAX_CODES; i < annotation->nr_codes; i++) {
		annotation->more_self += annotation->codes[i].self;
		annotation->nr_more++;
	}
	annotation->nr_codes -= annotation->nr_more;
	for (uint32_t i = 0; i < annotation->nr_codes; i++) {
		read_code(annotation, &annotation->codes[i]);
		if (annotation->codes[i].err == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

/* --- sources ---------------------------------------------------------------------------------- */

/* Stores that know no times give all files this one, or one second more. */
#define NO_TIME_NS ((uint64_t)86400 * 1000000000)

/* When a module that has code of the file was made, in ns since 1970; 0: not known. */
static uint64_t made_at(const struct annotation *annotation, uint32_t file)
{
	for (uint32_t i = 0; i < annotation->nr_codes; i++) {
		const struct hot_code *code = &annotation->codes[i];

		for (uint32_t k = 0; k < code->nr && !code->err; k++)
			if (annotation->addresses[code->first + k].file == file)
				return code->code.changed > NO_TIME_NS ? code->code.changed : 0;
	}
	return 0;
}

/* The program may have been made while it was recorded. */
static const char *changed_when(const struct annotation *annotation, uint32_t file,
                                uint64_t changed)
{
	const struct trace_run *run = trace_run(annotation->trace);
	uint64_t start = run->real_start, made = made_at(annotation, file);
	bool made_in_run = made > start && made - start <= run->end - run->start;

	if (changed > (made_in_run ? made : start))
		return "the file was changed since";
	return made && changed > made ? "the file is newer than the program" : NULL;
}

/* Joins the trace's entries of the file: there are several where names were looked up again. */
static void recorded_file(const struct trace *trace, const char *path,
                          struct source_identity *recorded)
{
	const struct trace_source_file *file;
	struct source_identity identity;

	*recorded = (struct source_identity){0};
	for (uint32_t i = 0; (file = trace_source_file(trace, i)); i++) {
		if (strcmp(trace_string(trace, file->path), path) != 0)
			continue;
		source_file_identity(file, &identity);
		source_identity_join(recorded, &identity);
	}
}

/* The text that was compiled is right whenever its file was written. */
static const char *find_change(const struct annotation *annotation, uint32_t file,
                               const struct source_identity *now)
{
	struct source_identity recorded;

	recorded_file(annotation->trace, trace_string(annotation->trace, file), &recorded);
	if (recorded.known & SOURCE_DIFFERS)
		return "parts of the run had files that differ";
	if (!source_identity_matches(&recorded, now))
		return recorded.known & SOURCE_HAS_MD5 ? "the file is not the one that was compiled"
		                                       : "the file was changed since";
	if (recorded.known & SOURCE_HAS_MD5)
		return NULL;
	return changed_when(annotation, file,
	                    recorded.known & SOURCE_HAS_TIME ? recorded.changed : now->changed);
}

const char *annotation_source(const struct annotation *annotation, const struct hot_line *line,
                              struct source_text *source)
{
	int err = source_text_read(source, annotation->aside,
	                           trace_string(annotation->trace, line->file));
	const char *problem;

	if (!line->file)
		return NULL;
	if (err == -ETIMEDOUT)
		return "its file system does not answer";
	if (err)
		return err == -ENOENT ? "the file is not here" : "the file cannot be read";
	problem = find_change(annotation, line->file, &source->identity);
	if (problem)
		source_text_fini(source);
	return problem;
}

int annotation_init(struct annotation *annotation, const struct profile *profile,
                    const struct view_query *query)
{
	int err;

	*annotation = (struct annotation){
		.trace = profile->trace,
		.aside = files_aside_new(FILE_PATIENCE_MS),
	};
	if (!annotation->aside)
		return -ENOMEM;
	err = collect(annotation, profile, query);
	if (!err)
		err = make_lines(annotation, query->limit);
	return err ? err : make_codes(annotation);
}

void annotation_fini(struct annotation *annotation)
{
	for (uint32_t i = 0; i < annotation->nr_codes; i++)
		free(annotation->codes[i].code.bytes);
	files_aside_free(annotation->aside);
	free(annotation->addresses);
	free(annotation->lines);
	free(annotation->codes);
	*annotation = (struct annotation){0};
}
