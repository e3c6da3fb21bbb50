/*
 * Demangling: C++, Rust and D names as people write them.
 *
 * A name from a hostile file may be made to expand without end; what grows beyond reason is left
 * as it is.
 */
#ifndef SYMBOLIZE_ELF_DEMANGLE_H
#define SYMBOLIZE_ELF_DEMANGLE_H

#define DEMANGLED_MAX 16384

/* The name in text, or NULL where it is not mangled, or too long by either count. */
const char *demangle(const char *name, char text[DEMANGLED_MAX]);

#endif
