/*
 * loader PLUGIN: a program that knows nothing of MPI, and opens what does out of everybody's sight.
 * loader -LIBRARY: asks the MPI library itself for its functions.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int direct = argv[1][0] == '-';
	void *library = dlopen(argv[1] + direct, RTLD_NOW | RTLD_LOCAL);
	int (*entry)(void), (*init)(int *, char ***), (*finalize)(void);

	(void)argc;
	if (!library) {
		puts(dlerror());
		return 2;
	}
	if (!direct) {
		*(void **)&entry = dlsym(library, "plugin_main");
		return entry();
	}
	*(void **)&init = dlsym(library, "MPI_Init");
	*(void **)&finalize = dlsym(library, "MPI_Finalize");
	return init(0, 0) || finalize();
}
