/* The wrappers themselves: MPI_X and PMPI_X for every call of mpi_calls.def. */
#include "preload/handlers.h"

#define EXPORT __attribute__((visibility("default")))

const struct call_info call_infos[NR_MPI_CALLS] = {
#define CALL(name, nr, class, signature, large) \
	{#name, &handler_##signature, CALL_##name, CLASS_##class, large},
#include "preload/mpi_calls.def"
#undef CALL
};

/* Arguments are machine words: pointers, handles, counts and ints are passed on as they came. */
#define PARAMS_0  void
#define PARAMS_1  uintptr_t a0
#define PARAMS_2  PARAMS_1, uintptr_t a1
#define PARAMS_3  PARAMS_2, uintptr_t a2
#define PARAMS_4  PARAMS_3, uintptr_t a3
#define PARAMS_5  PARAMS_4, uintptr_t a4
#define PARAMS_6  PARAMS_5, uintptr_t a5
#define PARAMS_7  PARAMS_6, uintptr_t a6
#define PARAMS_8  PARAMS_7, uintptr_t a7
#define PARAMS_9  PARAMS_8, uintptr_t a8
#define PARAMS_10 PARAMS_9, uintptr_t a9
#define PARAMS_11 PARAMS_10, uintptr_t a10
#define PARAMS_12 PARAMS_11, uintptr_t a11
#define PARAMS_13 PARAMS_12, uintptr_t a12
#define NAMES_0
#define NAMES_1  a0
#define NAMES_2  NAMES_1, a1
#define NAMES_3  NAMES_2, a2
#define NAMES_4  NAMES_3, a3
#define NAMES_5  NAMES_4, a4
#define NAMES_6  NAMES_5, a5
#define NAMES_7  NAMES_6, a6
#define NAMES_8  NAMES_7, a7
#define NAMES_9  NAMES_8, a8
#define NAMES_10 NAMES_9, a9
#define NAMES_11 NAMES_10, a10
#define NAMES_12 NAMES_11, a11
#define NAMES_13 NAMES_12, a12
#define ARGS_0
#define ARGS_1  a[0]
#define ARGS_2  ARGS_1, a[1]
#define ARGS_3  ARGS_2, a[2]
#define ARGS_4  ARGS_3, a[3]
#define ARGS_5  ARGS_4, a[4]
#define ARGS_6  ARGS_5, a[5]
#define ARGS_7  ARGS_6, a[6]
#define ARGS_8  ARGS_7, a[7]
#define ARGS_9  ARGS_8, a[8]
#define ARGS_10 ARGS_9, a[9]
#define ARGS_11 ARGS_10, a[10]
#define ARGS_12 ARGS_11, a[11]
#define ARGS_13 ARGS_12, a[12]

/*
 * The result of a call that the program's MPI library does not have. It is MPI_ERR_OTHER in some
 * libraries and another error in others.
 */
#define NO_SUCH_FUNCTION 16

/*
 * A call that is passed through needs no stack frame: it is a single jump behind the check. The
 * rest of the wrapper is declared as a part of the same function, and its symbol is named like such
 * a part.
 */
#define WRAPPER(function, profiling, name, nr)                                                     \
	static int (*real_##function##_##name)(PARAMS_##nr);                                       \
                                                                                                   \
	static int record_##function##_##name(PARAMS_##nr) __asm__(#function "_" #name ".part.0"); \
	__attribute__((noinline)) static int record_##function##_##name(PARAMS_##nr)               \
	{                                                                                          \
		int (*real)(PARAMS_##nr) = real_##function##_##name;                               \
		uintptr_t a[] = {NAMES_##nr + 0};                                                  \
		struct visit visit;                                                                \
                                                                                                   \
		if (unlikely(!real)) {                                                             \
			real = (int (*)(PARAMS_##nr))abi_real(#name, profiling);                   \
			if (!real)                                                                 \
				return NO_SUCH_FUNCTION;                                           \
			__atomic_store_n(&real_##function##_##name, real, __ATOMIC_RELAXED);       \
			if (visit_passes(CALL_##name))                                             \
				return real(ARGS_##nr);                                            \
		}                                                                                  \
		if (!visit_enter(&visit, &call_infos[CALL_##name], a, OWN_FRAME, OWN_CALLER))      \
			return real(ARGS_##nr);                                                    \
		return visit_leave(&visit, a, real(ARGS_##nr));                                    \
	}                                                                                          \
                                                                                                   \
	EXPORT int function##_##name(PARAMS_##nr);                                                 \
	EXPORT int function##_##name(PARAMS_##nr)                                                  \
	{                                                                                          \
		int (*real)(PARAMS_##nr) = real_##function##_##name;                               \
                                                                                                   \
		if (likely(real) && visit_passes(CALL_##name))                                     \
			return real(NAMES_##nr);                                                   \
		return record_##function##_##name(NAMES_##nr);                                     \
	}

#define CALL(name, nr, class, signature, large) CALL_(name, nr)
#define CALL_(name, nr)                         WRAPPER(MPI, false, name, nr) WRAPPER(PMPI, true, name, nr)
#include "preload/mpi_calls.def"
