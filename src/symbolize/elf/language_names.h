/*
 * Names of languages that have no prefix of their own for the linker: a name of C may look the
 * same. They are read only in files that hold code of the language.
 *
 *     work__deep__hotX            work.deep.hot      Ada
 *     camlStdlib__List__map_123   Stdlib.List.map    OCaml
 *     camlStdlib__List.map_123    Stdlib.List.map    OCaml since version 5
 *     base_GHCziBase_map_info     GHC.Base.map       Haskell by GHC, without the package
 */
#ifndef SYMBOLIZE_ELF_LANGUAGE_NAMES_H
#define SYMBOLIZE_ELF_LANGUAGE_NAMES_H

#include "symbolize/elf/demangle.h"

#include <stdbool.h>

enum {
	LANGUAGE_ADA = 1,
	LANGUAGE_OCAML = 2,
	LANGUAGE_HASKELL = 4,
	LANGUAGE_GO = 8, /* pkg.cold is no part of pkg */
};

/* The language whose runtime or compiler alone makes this name; 0: any. */
unsigned language_of(const char *name);

/* The name in text, by the first of the languages (a set) that it is one of; false: none. */
bool language_demangle(const char *name, unsigned languages, char text[DEMANGLED_MAX]);

#endif
