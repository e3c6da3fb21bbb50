/*
 * How compilers and tools write the name of a function, and how to compare what they write.
 *
 *     force(std::vector<double, std::allocator<double> >&)    a symbol, demangled
 *     force                                                   the same, inlined: from DWARF
 *     double ns::sum<double>(double)                          with what it returns
 *     main::{lambda(int)#1}::operator()(int) const            gcc
 *     main::$_0::operator()(int) const                        clang
 *     name[abi:cxx11](int)                                    with a tag
 *     matmul (omp region 0), f(int) [clone .avx2]             a part or a copy, with a mark
 *
 * The common form of a name leaves out what only some of them write: spaces, tags, what the
 * function returns, what a lambda takes, inline namespaces of the library.
 */
#ifndef OUTPUT_TEXT_FUNCTION_NAME_H
#define OUTPUT_TEXT_FUNCTION_NAME_H

#include "symbolize/elf/demangle.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Size of the text of a common form. Names that have half as many bytes or more are compared
 * unchanged.
 */
#define FUNCTION_NAME_SIZE DEMANGLED_MAX

/* Parts that a common form may leave out in addition. */
enum function_name_less {
	FUNCTION_NO_ARGUMENTS = 1, /* f, not f(int) const */
	FUNCTION_NO_NUMBERS = 2,   /* {lambda}, not {lambda#1}; (omp region); no clones */
};

/*
 * Returns the common form of a name: `text`, or `name` itself if it is too long. less: enum
 * function_name_less.
 */
const char *function_name_common(const char *name, unsigned less, char text[FUNCTION_NAME_SIZE]);

/* Whether the name includes the function's argument types. */
bool function_name_has_arguments(const char *name);

/*
 * The size of the name of the whole function in the name of a part or copy that a compiler made of
 * it: 6 in "matmul (omp region 0)". 0: it is no part, or the name does not say of which function.
 */
size_t function_name_whole(const char *name);

/* Whether the name is the function's, or that of a part of it. */
bool function_name_is_in(const char *name, const char *function);

/*
 * A name that another tool printed, as traces have it: _ZN2ns1fEi, memcpy@@GLIBC_2.14,
 * f._omp_fn.0, "f(int) [clone .cold]", "f(int) (.cold)", f+0x12, <f>, 'f', __m_MOD_f.
 */
void function_name_read(const char *name, char text[FUNCTION_NAME_SIZE]);

#endif
