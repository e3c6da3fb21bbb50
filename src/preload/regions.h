/* What stands behind adaptrace.h. */
#ifndef PRELOAD_REGIONS_H
#define PRELOAD_REGIONS_H

/* In the child of a fork, which has to define all names again. */
void regions_forked(void);

#endif
