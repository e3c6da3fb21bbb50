/* The implementation of the regions, markers and values of adaptrace.h. */
#ifndef PRELOAD_REGIONS_H
#define PRELOAD_REGIONS_H

/* Must be called in the child of a fork, which has to define all names again. */
void regions_forked(void);

#endif
