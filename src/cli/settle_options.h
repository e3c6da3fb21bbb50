/*
 * What the options of record come to on this machine: which events, which sides of them are
 * permitted, where the trace goes.
 */
#ifndef CLI_SETTLE_OPTIONS_H
#define CLI_SETTLE_OPTIONS_H

#include "cli/session_options.h"

/* 0, or not after saying what is wrong. */
int settle_options(struct options *options);

#endif
