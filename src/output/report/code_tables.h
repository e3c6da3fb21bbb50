/* The tables of annotated code: lines of the source, and instructions. */
#ifndef OUTPUT_REPORT_CODE_TABLES_H
#define OUTPUT_REPORT_CODE_TABLES_H

#include "output/report/table.h"
#include "output/views/annotation.h"

/*
 * Begins the row of a line, sampled or beside one that is. Text shows its source behind the cells,
 * JSON its source and its file's problem, of which each may be NULL.
 */
extern const struct column line_columns[];
void put_line_cells(struct table *table, const struct annotation *annotation,
                    const struct hot_line *line, const char *source, const char *problem);

/* Columns of a code's instructions, with room for its addresses. */
enum { CODE_COLUMNS = 8 };
void make_code_columns(struct column columns[CODE_COLUMNS], const struct hot_code *code,
                       bool has_text);
/* Begins the row of an instruction; in text its place in the source is behind the cells. */
void put_code_cells(struct table *table, const struct annotation *annotation,
                    const struct hot_code *code, const struct hot_address *row,
                    struct disassembler *disassembler);

#endif
