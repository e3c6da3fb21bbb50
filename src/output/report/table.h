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

enum column_type {
	COLUMN_END, /* behind the last column */
	COLUMN_COUNT,
	COLUMN_AMOUNT, /* in the table's unit, or in the column's */
	COLUMN_CHANGE, /* an amount that always has its sign */
	COLUMN_TIME,   /* ns */
	COLUMN_BYTES,
	COLUMN_SOME_BYTES, /* "-" if there are none */
	COLUMN_REAL,
	COLUMN_SHARE,   /* per cent of a whole; in JSON the part alone */
	COLUMN_ERROR,   /* "±"; per cent of a whole, in JSON the error itself, rounded up */
	COLUMN_ADDRESS, /* hexadecimal in text */
	COLUMN_RANK,    /* the rank that has the amount before it, at the left */
	COLUMN_NAME,    /* a text, at the left; a longer one pushes the rest of its line aside */
};

/* A unit that all values of a column have, so that they compare at a glance. */
struct column_unit {
	double size;
	const char *name; /* with the blank before it, if it has one */
	int digits;       /* behind the point */
};

struct column {
	const char *title; /* NULL: not in text; "": "time" or "count", by the unit */
	const char *key;   /* NULL: not in JSON */
	enum column_type type;
	unsigned width;                 /* in text; numbers are at its right */
	const struct column_unit *unit; /* NULL: each value has the one that suits it */
};

struct table {
	const struct column *columns;
	enum trace_unit unit;
	FILE *to;                 /* text */
	struct json_writer *json; /* JSON, if not NULL */
	const char *hidden;       /* key of a column that this text lacks, or NULL */
	uint64_t left_out;        /* bits of columns that text has no room for */
	const struct column *at;  /* of the next cell */
	bool fractions;           /* JSON keeps them in what table_amount() gets */
	bool blank;               /* text shows "-" for the rest of the row */
	bool any;                 /* the line has cells */
	unsigned due;             /* blanks that pad the last name, if something follows it */
};

/* Leaves columns out of text, by their titles and the first one first, until it has this width.
 * NULL ends them. */
void table_fit(struct table *table, const char *const *titles, unsigned width);
/* Prints the titles of text, without the end of the line. */
void table_titles(struct table *table);
/* Returns the columns of the terminal before a name of any length, or of all if there is none. */
unsigned table_width(const struct table *table);

void table_begin(struct table *table);
void table_end(struct table *table);

/* "-" and null where a value is not known, or is no number. */
void table_number(struct table *table, uint64_t value);
void table_known(struct table *table, bool known, uint64_t value);
void table_int(struct table *table, int64_t value);
void table_real(struct table *table, double value);
/* JSON gets a whole number, unless the table keeps fractions. */
void table_amount(struct table *table, double value);
void table_share(struct table *table, uint64_t part, uint64_t whole);
void table_error(struct table *table, double error, uint64_t whole);
/* text NULL: null in JSON, and in text no cell. */
void table_text(struct table *table, const char *text);
/* A cell of a row that has no such value: blanks, and no member. */
void table_none(struct table *table);
/* Steps over a column that the caller prints itself. Returns whether it is in the output. */
bool table_skip(struct table *table);

/* Cells between these two are members of an object in JSON. Text does not show it. */
void table_group(struct table *table, const char *key);
void table_group_end(struct table *table);

#endif
