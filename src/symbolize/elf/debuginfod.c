#include "symbolize/elf/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#define LIBRARY "libdebuginfod.so.1"

typedef void *begin_fn(void);
typedef void end_fn(void *client);
typedef int find_fn(void *client, const unsigned char *id, int size, char **path);

bool debuginfod_present(void)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY);

	if (library)
		dlclose(library);
	return library != NULL;
}

int debuginfod_fetch(const struct build_id *id)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY), *client;
	begin_fn *begin;
	end_fn *end;
	find_fn *find;
	int fd = -ENOENT;

	if (!library || !id->size)
		goto out;
	begin = (begin_fn *)dlsym(library, "debuginfod_begin");
	end = (end_fn *)dlsym(library, "debuginfod_end");
	find = (find_fn *)dlsym(library, "debuginfod_find_debuginfo");
	client = begin && end && find ? begin() : NULL;
	if (!client)
		goto out;
	fd = find(client, id->bytes, id->size, NULL);
	end(client);
out:
	if (library)
		dlclose(library);
	return fd;
}
