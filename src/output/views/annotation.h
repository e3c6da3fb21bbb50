/*
 * The code of one function, with the weight of each address and each line: of the samples whose
 * leaf lies in the function, or in a function that was inlined into it.
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

/* A symbol of the function. There may be several of one name, and parts of one function. */
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
	struct hot_line *lines;        /* files with most weight first, in each by line */
	struct hot_code *codes;        /* most weight first */
	uint32_t nr_addresses, nr_lines, nr_codes;
	uint32_t nr_more; /* functions that are not among codes */
	uint64_t more_self;
};

/*
 * Annotates the function that the query names, with the event and the weights of the profile. Its
 * code is read if it is available. Returns 0, -ENOMEM or -EBADMSG; call annotation_fini() in any
 * case.
 */
int annotation_init(struct annotation *annotation, const struct profile *profile,
                    const struct view_query *query);
void annotation_fini(struct annotation *annotation);

/* Returns the index behind the last line of the file that the line at `first` belongs to. */
uint32_t annotation_file_end(const struct annotation *annotation, uint32_t first);

/*
 * Returns the rows of a code in ascending order: all its instructions, or the sampled addresses if
 * its text is not available. *disassembler is set to one that makes the texts of the rows, or to
 * NULL. The caller frees both. NULL: no memory.
 */
struct hot_address *annotation_rows(const struct annotation *annotation,
                                    const struct hot_code *code, uint32_t *nr,
                                    struct disassembler **disassembler);

/* Writes the instruction of a row, or "" if only the address is known. */
void annotation_row_text(const struct hot_code *code, const struct trace_symbol *symbol,
                         const struct hot_address *row, struct disassembler *disassembler,
                         char text[INSTRUCTION_SIZE]);

/* Returns why a code has no text, in a few words; NULL: it has. */
const char *annotation_problem(const struct hot_code *code,
                               const struct disassembler *disassembler);

/*
 * Reads the source file of a line. Call source_text_fini() in any case. Returns NULL, or why the
 * text is not available, in a few words: for example, the file is not the one that the trace names,
 * or it was changed after the start of the run, or after the program was compiled.
 */
const char *annotation_source(const struct annotation *annotation, const struct hot_line *line,
                              struct source_text *source);

#endif
