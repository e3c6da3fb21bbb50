#include "output/views/report_keys.h"

#include <string.h>

static const struct {
	const char *name;
	enum profile_keys key;
} keys[] = {
	{"symbol", PROFILE_BY_SYMBOL},
	{"module", PROFILE_BY_MODULE},
	{"thread", PROFILE_BY_THREAD},
	{"comm", PROFILE_BY_COMM},
	{"cpu", PROFILE_BY_CPU},
	{"file", PROFILE_BY_FILE},
	{"line", PROFILE_BY_LINE},
	{"process", PROFILE_BY_PROCESS},
	{"mem", PROFILE_BY_MEM},
	{"tlb", PROFILE_BY_TLB},
	{"snoop", PROFILE_BY_SNOOP},
	{"latency", PROFILE_BY_LATENCY},
	{"op", PROFILE_BY_OPERATION},
	/* as perf calls them */
	{"sym", PROFILE_BY_SYMBOL},
	{"dso", PROFILE_BY_MODULE},
	{"tid", PROFILE_BY_THREAD},
	{"pid", PROFILE_BY_PROCESS},
	{"srcfile", PROFILE_BY_FILE},
	{"srcline", PROFILE_BY_LINE},
};

#define NR_KEYS (sizeof(keys) / sizeof(*keys))

const char *report_key_name(enum profile_keys key)
{
	unsigned i = 0;

	while (i + 1 < NR_KEYS && keys[i].key != key)
		i++;
	return keys[i].name;
}

enum profile_keys report_key_named(const char *name)
{
	for (unsigned i = 0; i < NR_KEYS; i++)
		if (!strcmp(name, keys[i].name))
			return keys[i].key;
	return 0;
}
