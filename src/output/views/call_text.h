/* Texts about calls: their classes, parts and effects. */
#ifndef OUTPUT_VIEWS_CALL_TEXT_H
#define OUTPUT_VIEWS_CALL_TEXT_H

#include "trace/call_stream.h"

#include <stdio.h>

/* A short word for a part's kind, "send"; never NULL. */
const char *part_kind_name(unsigned kind);
/* "all" and so on. */
const char *policy_name(uint32_t policy);

/*
 * The peer of a part by its rank in MPI_COMM_WORLD, and in another communicator with its rank
 * there: " with rank 2 (0 in communicator 3)". False: it has none, and nothing was written. Nothing
 * in it needs to be escaped.
 */
bool call_peer_text(FILE *to, const struct trace *trace, const struct call_part *part);
/*
 * Prints the effect of a part of a call: "8 bytes with rank 1, tag 10". Nothing in it needs to be
 * escaped.
 */
void call_part_text(FILE *to, const struct trace *trace, const struct call_part *part);
/* The value that a program gave, of a CALL_VALUE. */
double call_part_value(const struct call_part *part);
/* The same at this point, if it is one. */
bool call_point_value(const struct call_moment *moment, double *value);

#endif
