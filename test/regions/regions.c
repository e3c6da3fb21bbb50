/* regions N: a program without MPI that says what it does. Compiled as C and as C++. */
#include <adaptrace.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PHASES(outer, inner)    \
	ADAPTRACE_SCOPE(outer); \
	ADAPTRACE_SCOPE(inner)

static void scoped(void)
{
	static const char name[] = "inside";

	PHASES("scoped", "within");
	ADAPTRACE_MARK(name);
}

/* Two names, one line apart, and one that is made up here. */
static void nested(int n)
{
	const double half = n + 0.5; /* for nothing else */
	char name[32];

	ADAPTRACE_BEGIN("outer");
	snprintf(name, sizeof(name), "inner %d", n % 2);
	adaptrace_begin(name);
	ADAPTRACE_VALUE("number", half);
	adaptrace_end(name);
	ADAPTRACE_BEGIN("left open");
	ADAPTRACE_END("outer");
}

static void recurse(int depth)
{
	ADAPTRACE_BEGIN("recursion");
	if (depth)
		recurse(depth - 1);
	ADAPTRACE_END("recursion");
}

static pthread_key_t key;

/* Its turn is behind that of keys which were there before. */
static void destroy(void *arg)
{
	(void)arg;
	ADAPTRACE_MARK("destroyed");
}

static void *thread(void *arg)
{
	int n = *(int *)arg;

	pthread_setspecific(key, arg);
	for (int i = 0; i < n; i++)
		nested(i);
	ADAPTRACE_BEGIN("never ended");
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	pthread_t other;

	ADAPTRACE_END("never begun");
	for (int i = 0; i < n; i++)
		nested(i);
	scoped();
	recurse(80); /* deeper than what is followed */
	pthread_key_create(&key, destroy);
	pthread_create(&other, NULL, thread, &n);
	pthread_join(other, NULL);
	if (!fork()) {
		ADAPTRACE_MARK("child");
		nested(0);
		_exit(0);
	}
	wait(NULL);
#ifdef __cplusplus
	try {
		adaptrace::region region("unwound");
		throw 1;
	} catch (int) {
		adaptrace_mark("caught");
	}
#endif
	ADAPTRACE_BEGIN("to the end");
	return 0;
}
