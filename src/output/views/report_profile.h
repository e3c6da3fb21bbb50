/* The profile that a report is about. */
#ifndef OUTPUT_VIEWS_REPORT_PROFILE_H
#define OUTPUT_VIEWS_REPORT_PROFILE_H

#include "output/profile/profile_view.h"
#include "output/views/query.h"

/*
 * Returns the profile of an event as the query want it. Where they ask for callers or callees,
 * its tree is replaced by that of profile_view_make(), and *view is filled. NULL with errno, see
 * profile_new() and profile_view_make().
 */
struct profile *report_profile(const struct trace *trace, uint32_t event,
                               const struct view_query *query, struct profile_view *view);

#endif
