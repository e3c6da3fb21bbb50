/*
 * unload PLUGIN...: opens each, calls it, and closes it again, with what it is linked with; the
 * next one is opened somewhere else.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>

static int use(const char *path, int how)
{
	void *library = dlopen(path, RTLD_NOW | how);
	int (*plugin)(void);

	if (!library)
		return 2;
	*(void **)&plugin = dlsym(library, "plugin");
	return plugin() | dlclose(library);
}

int main(int argc, char **argv)
{
	int error = 0;

	for (int i = 1; i < argc && !error; i++) {
		error = use(argv[i], i % 2 ? RTLD_LOCAL : RTLD_GLOBAL);
		for (size_t size = 16384; size <= 1 << 20; size *= 2)
			mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	return error;
}
