/*
 * A function of a trace by what a person calls it: its full name, else whole words of it
 * ("Pair::compute" of "LAMMPS::Pair::compute(int, int)", and rather than of a closure in it), else
 * any part that no other one has.
 * "…" in it stands for anything, so that shortened names are understood.
 */
#ifndef OUTPUT_FUNCTION_CHOICE_H
#define OUTPUT_FUNCTION_CHOICE_H

#include "output/trace.h"

#include <stdbool.h>

struct function_choice {
	char **names; /* those that fit best, in alphabetical order */
	size_t nr;    /* 1: chosen; 0: no function has such a name */
	unsigned rank;
};

/* inlined: of inlined functions as well. 0, -ENOMEM, -EBADMSG; to be given to
 * function_choice_fini(). */
int function_choice_init(struct function_choice *choice, const struct trace *trace,
                         const char *wanted, bool inlined);
void function_choice_fini(struct function_choice *choice);

#endif
