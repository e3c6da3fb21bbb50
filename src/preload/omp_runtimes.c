#include "preload/omp_runtimes.h"

#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#define MAX_RUNTIMES 16
#define NR_PAGES     1024 /* of an index of callers; a power of two */
#define PAGE_SHIFT   12   /* no two modules share a page */

static const char *const names[NR_GOMP_CALLS] = {
#define PARALLEL(name, nr)   "GOMP_" #name,
#define WAIT(name, nr, wait) "GOMP_" #name,
#define TASK(name, nr)       "GOMP_" #name,
#include "preload/gomp_calls.def"
#undef PARALLEL
#undef WAIT
#undef TASK
};

/* The last one stands for none. Places are only ever added. */
static struct omp_runtime runtimes[MAX_RUNTIMES + 1];

static struct page {
	uintptr_t number; /* 0: free */
	const struct omp_runtime *runtime;
} pages[NR_PAGES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- libraries -------------------------------------------------------------------------------- */

static void *handle_of(const char *file)
{
	return dlopen(*file ? file : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

static int find_library(struct dl_phdr_info *info, size_t size, void *name)
{
	const char *file = strrchr(info->dlpi_name, '/');

	(void)size;
	file = file ? file + 1 : info->dlpi_name;
	if (strncmp(file, "libgomp", 7) != 0 && strncmp(file, "libomp", 6) != 0 &&
	    strncmp(file, "libiomp", 7) != 0)
		return 0;
	*(const char **)name = info->dlpi_name;
	return 1;
}

static void *symbol_in(const char *file, const char *name)
{
	void *handle = handle_of(file), *symbol;

	if (!handle)
		return NULL;
	symbol = dlsym(handle, name);
	dlclose(handle);
	return symbol;
}

/*
 * Finds what the caller would have called without us: in the global scope, then among the libraries
 * that the caller's module needs. A module that names none relies on one that is loaded.
 */
static void *find_symbol(uintptr_t caller, const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);
	const char *library = NULL;
	Dl_info module;

	if (!symbol && dladdr((const void *)caller, &module))
		symbol = symbol_in(module.dli_fname, name);
	if (!symbol && dl_iterate_phdr(find_library, &library))
		symbol = symbol_in(library, name);
	return symbol;
}

/* The library is never unloaded: threads of its teams may be in our functions. */
static void open_runtime(struct omp_runtime *runtime, const Dl_info *library)
{
	runtime->handle = handle_of(library->dli_fname);
	for (unsigned i = 0; i < NR_GOMP_CALLS; i++)
		runtime->calls[i] = dlsym(runtime->handle ? runtime->handle : RTLD_NEXT, names[i]);
	runtime->tool = runtime->handle && dlsym(runtime->handle, "__kmpc_fork_call");
	runtime->base = library->dli_fbase;
}

static struct omp_runtime *runtime_at(void *symbol)
{
	struct omp_runtime *runtime = runtimes;
	Dl_info library;

	if (!symbol || !dladdr(symbol, &library))
		return &runtimes[MAX_RUNTIMES];
	while (runtime < &runtimes[MAX_RUNTIMES] && runtime->base &&
	       runtime->base != library.dli_fbase)
		runtime++;
	if (runtime < &runtimes[MAX_RUNTIMES] && !runtime->base)
		open_runtime(runtime, &library);
	return runtime;
}

/* --- callers ---------------------------------------------------------------------------------- */

/* Returns the page's place, or a free one. NULL: there is none nearby. */
static struct page *find_page(uintptr_t number)
{
	size_t first = (number * 0x9e3779b97f4a7c15) >> (64 - __builtin_ctz(NR_PAGES));

	for (size_t i = first; i < first + 8; i++) {
		struct page *page = &pages[i % NR_PAGES];
		/* Pairs with the release of who takes the place: its library is there. */
		uintptr_t there = __atomic_load_n(&page->number, __ATOMIC_ACQUIRE);

		if (!there || there == number)
			return page;
	}
	return NULL;
}

RARE static const struct omp_runtime *find_runtime(uintptr_t caller, enum gomp_call call)
{
	uintptr_t number = caller >> PAGE_SHIFT;
	const struct omp_runtime *runtime;
	int errnum = errno;
	struct page *page;

	pthread_mutex_lock(&lock);
	runtime = runtime_at(find_symbol(caller, names[call]));
	page = find_page(number);
	if (page && !page->number && runtime != &runtimes[MAX_RUNTIMES]) {
		page->runtime = runtime;
		__atomic_store_n(&page->number, number, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	errno = errnum;
	return runtime;
}

const struct omp_runtime *omp_runtime_of(uintptr_t caller, enum gomp_call call)
{
	uintptr_t number = caller >> PAGE_SHIFT;
	const struct page *page = find_page(number);

	if (likely(page && page->number == number))
		return page->runtime;
	return find_runtime(caller, call);
}
