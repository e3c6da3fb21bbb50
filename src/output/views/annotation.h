/*
 * The code of one function with what was spent in each place of it: the samples whose leaf lies in
 * the function, or in what was inlined into it, by address and by line.
 */
#ifndef OUTPUT_VIEWS_ANNOTATION_H
#define OUTPUT_VIEWS_ANNOTATION_H

#include "output/views/query.h"
#include "output/views/source_text.h"

#include "symbolize/elf/disassembler.h"
#include "symbolize/modules/module_code.h"

/* An inlined function has code in many functions. Only the hottest ones are shown. */
#define ANNOTATION_MAX_CODES 16

struct hot_address {
	uint64_t frame;
	uint64_t self, samples;
	uint32_t file, line; /* file: string; 0: not known */
	uint32_t size;       /* of an instruction; 0: an address alone */
	bool hottest;        /* one of as many as query limit */
};

struct hot_line {
	uint32_t file, line; /* as above */
	uint64_t self, samples;
	bool hottest;
};

/* A function, as its module has it: there may be several of one name, and parts of one. */
struct hot_code {
	uint32_t symbol;    /* of the trace */
	uint32_t first, nr; /* addresses */
	uint64_t self;
	uint64_t address; /* where it begins */
	int err;          /* why there is no text: see files_aside_code(); -ENOTSUP: no file */
	struct module_code code;
};

struct annotation {
	const struct trace *trace;
	struct files_aside *aside; /* reads files that may be anywhere */
	uint64_t self, samples;
	struct hot_address *addresses; /* ascending by frame */
	struct hot_line *lines; /* files by what was spent in them, most first, and then by line */
	struct hot_code *codes; /* by what was spent in them, most first */
	uint32_t nr_addresses, nr_lines, nr_codes;
	uint32_t nr_more; /* functions that are not among codes */
	uint64_t more_self;
};

/*
 * Annotates the function that the query name, with the profile's event and weights. Its code is
 * read where it is available. Returns 0, -ENOMEM, -EBADMSG; call annotation_fini() in any case.
 */
int annotation_init(struct annotation *annotation, const struct profile *profile,
                    const struct view_query *query);
void annotation_fini(struct annotation *annotation);

/* The end of the lines of the same file as the one at `first`. */
uint32_t annotation_file_end(const struct annotation *annotation, uint32_t first);

/*
 * The rows of a code in their order: all its instructions, or where it has no text the addresses in
 * it. disassembler: where to leave one for the texts of rows, or NULL. NULL: no memory; to be
 * freed.
 */
struct hot_address *annotation_rows(const struct annotation *annotation,
                                    const struct hot_code *code, uint32_t *nr,
                                    struct disassembler **disassembler);

/* The text of a row; "" of addresses. */
void annotation_row_text(const struct hot_code *code, const struct trace_symbol *symbol,
                         const struct hot_address *row, struct disassembler *disassembler,
                         char text[INSTRUCTION_SIZE]);

/* Why a code has no text, in a few words; NULL: it has. */
const char *annotation_problem(const struct hot_code *code,
                               const struct disassembler *disassembler);

/*
 * The text of the source file of these lines, to be given to source_text_fini(). NULL, or why there
 * is none, in a few words: such as that the file is not the one that the trace tells of, or was
 * changed after the run began, or after the program was made of it.
 */
const char *annotation_source(const struct annotation *annotation, const struct hot_line *line,
                              struct source_text *source);

#endif
