/* Limits and constants of the buffer that readers of its bins need, too. */
#ifndef HMB_LIMITS_H
#define HMB_LIMITS_H

#define COUNTER_MAX   9  /* totals of a sample: the sampled event's own, eight others */
#define HMB_MAX_KINDS 32 /* events, calls, and windows */
#define NODE_NONE     0  /* no node: the arena starts with a bin header */

#define CODE_MAX_TIME_SHIFT 40 /* times are in units of at most 1 << 40 ns */

#endif
