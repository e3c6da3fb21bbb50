/* The tables of info: the samples of each thread and each command. */
#ifndef OUTPUT_REPORT_SHARE_TABLES_H
#define OUTPUT_REPORT_SHARE_TABLES_H

#include "output/profile/thread_shares.h"
#include "output/report/table.h"

/* Threads or commands: those that are used have a row each. */
struct share_rows {
	const struct column *columns;
	bool (*unused)(const struct shares *shares, const struct trace *trace, uint32_t number);
	void (*put)(struct table *table, const struct trace *trace, const struct shares *shares,
	            uint32_t number);
};

extern const struct share_rows command_rows, thread_rows;

#endif
