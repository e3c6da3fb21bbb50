/*
 * What the options of record come to on this machine: which events, which sides of them are
 * permitted, where the trace goes.
 */
#ifndef CLI_RECORD_SETTLE_H
#define CLI_RECORD_SETTLE_H

#include "record/config.h"

/* 0, or not after saying what is wrong. */
int settle_options(struct options *options);

#endif
