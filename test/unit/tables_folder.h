/* Where tests keep tables: a folder of their own, to be removed by rmdir() behind tables_free(). */
#ifndef TEST_TABLES_FOLDER_H
#define TEST_TABLES_FOLDER_H

#include "cases.h"
#include "trace/live/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tables of a trace x.atr there. */
static inline struct tables *tables_in_folder(char folder[64], size_t budget)
{
	struct tables *tables;
	char path[96];

	strcpy(folder, "/tmp/adaptrace-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.atr", folder);
	tables = tables_new(budget, path);
	assert_non_null(tables);
	return tables;
}

#endif
