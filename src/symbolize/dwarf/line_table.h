/*
 * Line tables: map the addresses of one unit to lines of its source files.
 *
 * A table is a program that writes rows (address, file, line). It is run once, and each row is
 * passed to a callback as it comes; only the names of files are kept.
 */
#ifndef SYMBOLIZE_DWARF_LINE_TABLE_H
#define SYMBOLIZE_DWARF_LINE_TABLE_H

#include "symbolize/dwarf/dwarf_unit.h"

#include <limits.h>

/* Names point into the sections. */
struct line_file {
	const char *name;
	uint64_t folder;
	const char *path;   /* for the caller to note what line_table_path() said */
	const uint8_t *md5; /* of its text; NULL: not known */
};

struct line_table {
	uint8_t version;
	const char *directory; /* where the compiler ran; NULL: not known */
	const char **folders;
	size_t nr_folders;
	struct line_file *files;
	size_t nr_files;
};

/* Called with addresses [lo, hi), lo < hi, and their line; 0 means no particular line. */
typedef void line_fn(void *arg, uint64_t lo, uint64_t hi, uint32_t file, uint32_t line);

/* Runs the table of a unit. 0, -ENODATA: it has none, -ENOMEM. Damage ends it early. */
int line_table_read(struct line_table *table, const struct dwarf_unit *unit, line_fn *fn,
                    void *arg);
void line_table_fini(struct line_table *table);

/* NULL: there is no such file. */
struct line_file *line_table_file(const struct line_table *table, uint64_t number);

/* The file's path as far as it is known. False: too long. */
bool line_table_path(const struct line_table *table, const struct line_file *file,
                     char path[PATH_MAX]);

#endif
