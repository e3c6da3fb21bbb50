/* The tables of info: the samples of each thread and each command. */
#ifndef OUTPUT_REPORT_SHARE_TABLES_H
#define OUTPUT_REPORT_SHARE_TABLES_H

#include "output/profile/thread_shares.h"
#include "output/report/table.h"

extern const struct column command_columns[], thread_columns[];
void put_command_row(struct table *table, const struct trace *trace, const struct shares *shares,
                     uint32_t number);
void put_thread_row(struct table *table, const struct trace *trace, const struct shares *shares,
                    uint32_t number);

#endif
