/*
 * adaptrace.h: what a program can tell `adaptrace record --mpi` about itself.
 *
 *     ADAPTRACE_BEGIN("solve");           a region begins and ends, in one thread; regions nest
 *     ADAPTRACE_END("solve");
 *     ADAPTRACE_MARK("checkpoint");       something happened
 *     ADAPTRACE_VALUE("residual", r);     a number, as a double
 *     ADAPTRACE_SCOPE("solve");           a region from here to the end of the block
 *
 * Names given to these are constant strings; the number is worked out only where it is recorded.
 * adaptrace_begin(name) and so on do the same for names that are made at run time, a little slower.
 * A process may have 2048 names; what has another one is lost, and counted. ADAPTRACE_END also ends
 * what was begun inside and not ended. In C++ there is adaptrace::region, whose life is the region.
 * A signal handler may use all of them, too; what it says as it comes upon one of them, or upon an
 * MPI call, is not recorded.
 *
 * There is nothing to link. Without a recorder each of these is a comparison. With
 * -DADAPTRACE_OFF there is nothing at all. For Fortran see adaptrace.f90 beside this file.
 */
#ifndef ADAPTRACE_H
#define ADAPTRACE_H

#ifdef __cplusplus
extern "C" {
#endif

enum adaptrace_kind { ADAPTRACE_REGION, ADAPTRACE_MARKER, ADAPTRACE_VALUE_ };

/* A name in a program. The number is the recorder's. */
struct adaptrace_site {
	const char *name;
	unsigned kind; /* enum adaptrace_kind */
	unsigned number;
};

/* What the recorder's library offers; the names of functions and their order are for ever. */
struct adaptrace_hooks {
	struct adaptrace_site *(*site)(const char *name, unsigned length, unsigned kind);
	void (*begin)(struct adaptrace_site *site);
	void (*end)(struct adaptrace_site *site);
	void (*mark)(struct adaptrace_site *site);
	void (*value)(struct adaptrace_site *site, double value);
};

#ifdef __cplusplus
}
#endif

#if defined(ADAPTRACE_OFF) || !defined(__GNUC__) || !defined(__linux__)

#define ADAPTRACE_NO_RECORDER 1
#define ADAPTRACE_SCOPE(name) ((void)(name))

/* Never called: variables that serve for these alone are in use all the same, without a warning. */
static __inline void adaptrace_off_(const char *const *name, ...)
{
	(void)name;
}

#define ADAPTRACE_CALL_(hook, kind, name, args)             \
	do {                                                \
		if (0) {                                    \
			const char *adaptrace_site_ = name; \
			adaptrace_off_ args;                \
		}                                           \
	} while (0)

#else

#include <dlfcn.h>

/* Where dlsym is not linked, as in static programs, there is no recorder either. */
#pragma weak dlsym
#pragma weak dlerror

#ifdef __cplusplus
extern "C" {
#endif

/* 0: there is no recorder. One for each executable and library. */
__attribute__((weak, visibility("hidden"))) const struct adaptrace_hooks *adaptrace_hooks_;
__attribute__((weak, visibility("hidden"))) int adaptrace_sought_;

#ifdef __cplusplus
}
#endif

/*
 * Looks for the recorder before what includes this begins: the loader must not be asked in a signal
 * handler, nor between an error of its own and dlerror().
 */
static __attribute__((constructor(101), cold)) void adaptrace_seek_(void)
{
	if (adaptrace_sought_ || !dlsym)
		return;
	adaptrace_sought_ = 1;
	adaptrace_hooks_ = (const struct adaptrace_hooks *)dlsym((void *)0, "adaptrace_hooks_1");
	if (!adaptrace_hooks_ && dlerror)
		dlerror();
}

/* Whether there is a recorder. */
static __inline int adaptrace_on(void)
{
	return !__builtin_expect(!adaptrace_hooks_, 1);
}

#define ADAPTRACE_CALL_(hook, kind, name, args)                                 \
	do {                                                                    \
		static struct adaptrace_site adaptrace_site_ = {name, kind, 0}; \
		if (adaptrace_on())                                             \
			adaptrace_hooks_->hook args;                            \
	} while (0)

static __inline void adaptrace_end_scope_(struct adaptrace_site *const *site)
{
	if (*site)
		adaptrace_hooks_->end(*site);
}

static __inline struct adaptrace_site *adaptrace_begin_scope_(struct adaptrace_site *site)
{
	if (!adaptrace_on())
		return 0;
	adaptrace_hooks_->begin(site);
	return site;
}

/* Its arguments are expanded before they are joined only on the way through another macro. */
#define ADAPTRACE_SCOPE(name)     ADAPTRACE_SCOPE_(name, __COUNTER__)
#define ADAPTRACE_SCOPE_(name, n) ADAPTRACE_SCOPE_N_(name, n)
#define ADAPTRACE_SCOPE_N_(name, n)                                                    \
	static struct adaptrace_site adaptrace_site_##n = {name, ADAPTRACE_REGION, 0}; \
	__attribute__((cleanup(adaptrace_end_scope_),                                  \
	               unused)) struct adaptrace_site *const adaptrace_scope_##n =     \
		adaptrace_begin_scope_(&adaptrace_site_##n)

#endif

#define ADAPTRACE_BEGIN(name) ADAPTRACE_CALL_(begin, ADAPTRACE_REGION, name, (&adaptrace_site_))
#define ADAPTRACE_END(name)   ADAPTRACE_CALL_(end, ADAPTRACE_REGION, name, (&adaptrace_site_))
#define ADAPTRACE_MARK(name)  ADAPTRACE_CALL_(mark, ADAPTRACE_MARKER, name, (&adaptrace_site_))
#define ADAPTRACE_VALUE(name, number) \
	ADAPTRACE_CALL_(value, ADAPTRACE_VALUE_, name, (&adaptrace_site_, number))

/* --- names that are made at run time ---------------------------------------------------------- */

#ifdef ADAPTRACE_NO_RECORDER
static __inline struct adaptrace_site *adaptrace_name_(const char *name, unsigned kind)
{
	(void)name;
	(void)kind;
	return 0;
}
#define ADAPTRACE_NAMED_(hook, args) ((void)0)
#else
static __inline struct adaptrace_site *adaptrace_name_(const char *name, unsigned kind)
{
	return adaptrace_on() && name
	               ? adaptrace_hooks_->site(name, (unsigned)__builtin_strlen(name), kind)
	               : 0;
}
#define ADAPTRACE_NAMED_(hook, args) (adaptrace_hooks_->hook args)
#endif

static __inline void adaptrace_begin(const char *name)
{
	struct adaptrace_site *site = adaptrace_name_(name, ADAPTRACE_REGION);

	if (site)
		ADAPTRACE_NAMED_(begin, (site));
}

static __inline void adaptrace_end(const char *name)
{
	struct adaptrace_site *site = adaptrace_name_(name, ADAPTRACE_REGION);

	if (site)
		ADAPTRACE_NAMED_(end, (site));
}

static __inline void adaptrace_mark(const char *name)
{
	struct adaptrace_site *site = adaptrace_name_(name, ADAPTRACE_MARKER);

	if (site)
		ADAPTRACE_NAMED_(mark, (site));
}

static __inline void adaptrace_value(const char *name, double value)
{
	struct adaptrace_site *site = adaptrace_name_(name, ADAPTRACE_VALUE_);

	(void)value;
	if (site)
		ADAPTRACE_NAMED_(value, (site, value));
}

#ifdef __cplusplus
namespace adaptrace
{
class region
{
      public:
	explicit region(const char *name) : site_(adaptrace_name_(name, ADAPTRACE_REGION))
	{
		if (site_)
			ADAPTRACE_NAMED_(begin, (site_));
	}
	~region()
	{
		if (site_)
			ADAPTRACE_NAMED_(end, (site_));
	}

      private:
	region(const region &);
	region &operator=(const region &);

	adaptrace_site *site_;
};
} /* namespace adaptrace */
#endif

#endif
