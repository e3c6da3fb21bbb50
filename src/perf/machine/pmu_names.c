#include "perf/machine/pmu_names.h"

#include "base/text_file.h"

#include <stdio.h>
#include <string.h>

bool pmu_path(char path[PATH_MAX], const char *root, const char *pmu, const char *folder,
              const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s/%s%s%s", root, pmu, folder ? folder : "",
	                folder ? "/" : "", name) < PATH_MAX;
}

bool pmu_is_name(const char *text)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                           "0123456789_-.");

	return size && !text[size] && text[0] != '.';
}

int pmu_entry_is_name(const struct dirent *entry)
{
	return pmu_is_name(entry->d_name);
}

int pmu_walk_names(int (*fn)(void *arg, const char *name), void *arg)
{
	return text_folder_walk(PMU_ROOT, pmu_entry_is_name, fn, arg);
}

struct type_search {
	const char *root;
	uint32_t type;
	char *name;
	size_t size;
};

static int has_type(void *arg, const char *pmu)
{
	const struct type_search *search = arg;
	char path[PATH_MAX];
	int64_t type;

	if (!pmu_path(path, search->root, pmu, NULL, "type") || text_file_number(path, &type) ||
	    type != search->type)
		return 0;
	snprintf(search->name, search->size, "%s", pmu);
	return 1;
}

bool pmu_name(const char *root, uint32_t type, char *name, size_t size)
{
	struct type_search search = {root, type, name, size};

	return text_folder_walk(root, pmu_entry_is_name, has_type, &search);
}
