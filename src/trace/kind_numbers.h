/*
 * Numbers of kinds. The recorder numbers kinds in the order in which they began: an event that was
 * added while it recorded is behind the calls. Readers number all events that were sampled first.
 */
#ifndef TRACE_KIND_NUMBERS_H
#define TRACE_KIND_NUMBERS_H

struct trace;

/* Lets each kind have the number that the file gives it. */
void kind_numbers_init(struct trace *trace);
/* Numbers the kinds, in all sections that name them. 0 or -ENOMEM. */
int kind_numbers_make(struct trace *trace);
/* Gives the sections back what the file has, without freeing what may be another's, or with it. */
void kind_numbers_forget(struct trace *trace);
void kind_numbers_free(struct trace *trace);

#endif
