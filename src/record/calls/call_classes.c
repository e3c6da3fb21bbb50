#include "record/calls/call_classes.h"

#include "hmb/call.h"
#include "preload/call_ring.h"

#include <errno.h>
#include <string.h>

#define ALL (UINT32_MAX >> (32 - NR_CALL_CLASSES))

int call_classes_parse(const char *text, uint32_t *classes)
{
	static const struct {
		const char *name;
		uint32_t classes;
	} names[] = {
		{"on", ALL},
		{"off", 0},
		{"mpi", ALL & ~(1U << CLASS_USER | 1U << CLASS_OPENMP)},
		{"openmp", 1U << CLASS_OPENMP},
		{"regions", 1U << CLASS_USER},
		{"point-to-point", 1U << CLASS_POINT_TO_POINT},
		{"one-sided", 1U << CLASS_ONE_SIDED},
		{"io", 1U << CLASS_IO},
		{"collective", 1U << CLASS_COLLECTIVE},
		{"management", 1U << CLASS_OTHER},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i].name)) {
			*classes = names[i].classes;
			return 0;
		}
	return -EINVAL;
}

const char *call_openmp_parse(const char *text)
{
	if (!text || !strcmp(text, RING_OPENMP_REGIONS))
		return RING_OPENMP_REGIONS;
	return strcmp(text, RING_OPENMP_THREADS) ? NULL : RING_OPENMP_THREADS;
}
