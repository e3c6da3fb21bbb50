/*
 * The kernel's own totals of event 0 by command and thread, beside what was sampled. With inherited
 * events alone: short tasks get fewer samples than their share, and these totals tell by how much.
 */
#ifndef RECORD_EXACT_TOTALS_H
#define RECORD_EXACT_TOTALS_H

#include "record/session.h"

/* At the end, before the tasks are forgotten: into the tables. */
void exact_total(struct session *session);

#endif
