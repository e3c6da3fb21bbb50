/*
 * A function of a trace by what a person calls it: its full name, else whole words of it
 * ("Pair::compute" of "LAMMPS::Pair::compute(int, int)", and rather than of a closure in it), else
 * any part that no other one has.
 * "…" in it stands for anything, so that shortened names are understood. A name that another tool
 * printed means the function that has it there (see function_name.h).
 *
 * Parts that a compiler made of a function are the function's: they are not chosen by its name, but
 * by one that says which part.
 */
#ifndef OUTPUT_VIEWS_FUNCTION_CHOICE_H
#define OUTPUT_VIEWS_FUNCTION_CHOICE_H

#include "trace/trace.h"

#include <stdbool.h>

struct function_choice {
	char **names; /* those that fit best, in alphabetical order */
	size_t nr;    /* 1: chosen; 0: no function has such a name */
	unsigned rank;
};

/*
 * inlined: choose among inlined functions, too. Returns 0, -ENOMEM or -EBADMSG; call
 * function_choice_fini() in any case.
 */
int function_choice_init(struct function_choice *choice, const struct trace *trace,
                         const char *typed, bool inlined);
void function_choice_fini(struct function_choice *choice);

#endif
