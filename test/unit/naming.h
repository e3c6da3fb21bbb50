/* Names of files that a test makes in a folder of its own, or of the machine's. */
#ifndef TEST_NAMING_H
#define TEST_NAMING_H

#include "cases.h"
#include "symbolize/symbols.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	struct module_table *table;
	struct symbolizer *symbolizer;
	char dir[64];
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->dir, "/tmp/test_names.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->table = module_table_new();
	f->symbolizer = symbolizer_new(f->table);
	assert_non_null(f->symbolizer);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	symbolizer_free(f->symbolizer);
	module_table_free(f->table);
	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static inline bool run(struct fixture *f, const char *command)
{
	char line[PATH_MAX + 256];

	snprintf(line, sizeof(line), "cd %s && (%s) >/dev/null 2>&1", f->dir, command);
	return system(line) == 0;
}

static inline const char *in_dir(struct fixture *f, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return path;
}

static inline void write_file(struct fixture *f, const char *name, const char *text)
{
	FILE *file = fopen(in_dir(f, name), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline struct module *module_of(struct fixture *f, const char *path)
{
	const struct module_file file = {.path = path, .pid = getpid()};
	struct module *module = module_table_file(f->table, &file);

	assert_non_null(module);
	return module;
}

#endif
