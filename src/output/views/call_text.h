/* Texts about calls: their classes, parts and effects. */
#ifndef OUTPUT_VIEWS_CALL_TEXT_H
#define OUTPUT_VIEWS_CALL_TEXT_H

#include "trace/call_stream.h"

#include <stdio.h>

/* Returns a short word for the type of a part, such as "send"; never NULL. */
const char *part_type_name(unsigned type);
/* "all" and so on. */
const char *policy_name(uint32_t policy);

/*
 * Writes the peer of a part: its rank in MPI_COMM_WORLD, and in another communicator its rank
 * there, " with rank 2 (0 in communicator 3)". Returns false if the part has no peer, and then
 * writes nothing. The text needs no escapes.
 */
bool call_peer_text(FILE *to, const struct trace *trace, const struct call_part *part);
/*
 * Prints the effect of a part of a call: "8 bytes with rank 1, tag 10". The text needs no escapes.
 */
void call_part_text(FILE *to, const struct trace *trace, const struct call_part *part);

#endif
