/*
 * The OpenMP libraries of a process, and which one a call is for. A process may have several:
 * extension modules of interpreters bring their own by dlopen(), where RTLD_NEXT finds none.
 */
#ifndef PRELOAD_OMP_RUNTIMES_H
#define PRELOAD_OMP_RUNTIMES_H

#include <stdbool.h>
#include <stdint.h>

enum gomp_call {
#define PARALLEL(name, nr)   GOMP_CALL_##name,
#define WAIT(name, nr, wait) GOMP_CALL_##name,
#define TASK(name, nr)       GOMP_CALL_##name,
#include "preload/gomp_calls.def"
#undef PARALLEL
#undef WAIT
#undef TASK
	NR_GOMP_CALLS
};

struct omp_runtime {
	void *base; /* where it is mapped; NULL: the place is free */
	void *handle;
	bool tool; /* it tells a tool of its regions: calls are passed through */
	void *calls[NR_GOMP_CALLS];
};

/* Returns the library that the code at this address calls. It is never NULL. */
const struct omp_runtime *omp_runtime_of(uintptr_t caller, enum gomp_call call);

#endif
