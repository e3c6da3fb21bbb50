/*
 * The cost of a recording for the program.
 *
 * A program whose CPUs do not depend on each other loses what each CPU loses. If its CPUs wait for
 * each other, as at barriers, all of them lose whenever one is interrupted. Interruptions at
 * different times then add up over all CPUs; those in step cost once, for as long as the first and
 * the last of them are apart.
 */
#ifndef RECORD_PROGRAM_COST_H
#define RECORD_PROGRAM_COST_H

#include <stdbool.h>
#include <stdint.h>

/* Facts of a whole recording; times in ns. */
struct cost_facts {
	uint64_t samples;
	uint64_t price;    /* of a sample */
	uint64_t busy;     /* CPU time of the program */
	uint64_t wall;     /* time of the recording */
	uint64_t recorder; /* the recorder's CPU time on CPUs of the program */
	uint64_t calls;    /* CPU time of recorded calls */
	bool in_step;
	uint64_t off;          /* distance from the grid that most samples do not exceed */
	unsigned nr_unsteered; /* CPUs that are not in step */
	/*
	 * Recordings of ranks on this node that are taken to be like this one, itself included; 0:
	 * it is the only one. Recorders of a node keep to the same grid without knowing each other.
	 */
	unsigned nr_recordings;
};

/* Shares of the program's time. */
struct program_cost {
	double one_cpu; /* that each CPU loses, on average */
	double coupled; /* that the program loses if its CPUs wait for each other */
};

struct program_cost program_cost(const struct cost_facts *facts);

#endif
