/* names N: N names, each for a region with a marker inside; then numbers of which JSON has none. */
#include <adaptrace.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 0;
	char name[32];

	ADAPTRACE_VALUE("value", NAN);
	ADAPTRACE_VALUE("value", INFINITY);
	ADAPTRACE_VALUE("value", -INFINITY);
	ADAPTRACE_VALUE("value", 1.5);
	ADAPTRACE_MARK("mark");
	for (int i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		adaptrace_begin(name);
		ADAPTRACE_MARK("mark");
		adaptrace_end(name);
	}
	ADAPTRACE_BEGIN("too late");
	ADAPTRACE_END("too late");
	return 0;
}
