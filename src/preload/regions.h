/* What stands behind adaptrace.h. */
#ifndef PRELOAD_REGIONS_H
#define PRELOAD_REGIONS_H

void regions_forked(void);

#endif
