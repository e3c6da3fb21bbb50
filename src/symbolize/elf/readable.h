/*
 * Readable names: what a person would call a function that the linker knows by another name.
 *
 *     _ZN2ns1fEi                  ns::f(int)               C++, Rust and D, by demangle.h
 *     f.part.0, f.cold, f.isra.3  f                        pieces and copies that a compiler made
 *     f._omp_fn.3                 f (omp region 3)         what it made of a parallel region
 *     .omp_outlined..3            (omp region 3)           the same by older versions of clang
 *     __m_MOD_f                   m::f                     Fortran: f of module m, by gfortran
 *     _QMmPf, m_mp_f_             m::f                     the same by flang and by Intel
 *
 * Names of Ada, OCaml and Haskell are read in files of these languages alone, by language_names.h.
 */
#ifndef SYMBOLIZE_ELF_READABLE_H
#define SYMBOLIZE_ELF_READABLE_H

#include "symbolize/elf/demangle.h"

#include <stdbool.h>

/* Writes the readable name. One that is too long is cut. */
void name_readable(const char *name, char text[DEMANGLED_MAX]);

/* The same in a file that holds code of these languages, a set as language_names.h has them. */
void name_readable_in(const char *name, unsigned languages, char text[DEMANGLED_MAX]);

/* Whether a Fortran compiler gives a function of this name that one for the linker. */
bool name_is_of(const char *linkage, const char *name);

#endif
