/*
 * A table of a report. Its columns are described once; every row is given once, cell by cell, and
 * becomes a line of text or a JSON object.
 *
 *     table_begin(&table);                  the row
 *     table_number(&table, sum->calls);     its cells, in the order of the columns
 *     table_text(&table, name);
 *     table_end(&table);
 */
#ifndef OUTPUT_REPORT_TABLE_H
#define OUTPUT_REPORT_TABLE_H

#include "output/report/report.h"
#include "output/text/text.h"

enum column_kind {
	COLUMN_END, /* behind the last column */
	COLUMN_COUNT,
	COLUMN_AMOUNT, /* in the table's unit */
	COLUMN_TIME,   /* ns */
	COLUMN_BYTES,
	COLUMN_SOME_BYTES, /* "-" if there are none */
	COLUMN_REAL,
	COLUMN_SHARE, /* per cent of a whole; in JSON the part alone */
	COLUMN_ERROR, /* per cent of a whole; in JSON the error itself, rounded up */
	COLUMN_NAME,  /* a text; the last one of a line has any length */
};

struct column {
	const char *title; /* NULL: not in text; "": "time" or "count", by the unit */
	const char *key;   /* NULL: not in JSON */
	enum column_kind kind;
	unsigned width; /* in text; numbers are at its right */
};

struct table {
	const struct column *columns;
	enum trace_unit unit;
	FILE *to;                 /* text */
	struct json_writer *json; /* JSON, if not NULL */
	const char *hidden;       /* key of a column that this text lacks, or NULL */
	const struct column *at;  /* of the next cell */
	bool blank;               /* text shows "-" for the rest of the row */
	bool any;                 /* the line has cells */
};

/* Prints the titles of text, without the end of the line. */
void table_titles(struct table *table);

void table_begin(struct table *table);
void table_end(struct table *table);

/* "-" and null where a value is not known, or is no number. */
void table_number(struct table *table, uint64_t value);
void table_known(struct table *table, bool known, uint64_t value);
void table_int(struct table *table, int64_t value);
void table_real(struct table *table, double value);
void table_share(struct table *table, uint64_t part, uint64_t whole);
void table_error(struct table *table, double error, uint64_t whole);
void table_text(struct table *table, const char *text);
/* Steps over a column that the caller prints itself. Returns whether it is in the output. */
bool table_skip(struct table *table);

#endif
