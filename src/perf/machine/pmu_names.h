/* The PMUs that the kernel lists in /sys/bus/event_source/devices, and the paths of their files. */
#ifndef PERF_MACHINE_PMU_NAMES_H
#define PERF_MACHINE_PMU_NAMES_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMU_ROOT "/sys/bus/event_source/devices"

/* Calls fn for the name of each PMU of this machine. Stops with fn's result where that is not 0. */
int pmu_walk_names(int (*fn)(void *arg, const char *name), void *arg);

/* Finds the name of the PMU of this type. Returns false if there is none. */
bool pmu_name(const char *root, uint32_t type, char *name, size_t size);

/*
 * Makes the path of a file of a PMU; folder is "format", "events" or NULL. Returns false if the
 * path would be too long.
 */
bool pmu_path(char path[PATH_MAX], const char *root, const char *pmu, const char *folder,
              const char *name);

/* Tells whether a name from the user or from sysfs is one that cannot lead out of its folder. */
bool pmu_is_name(const char *text);
int pmu_entry_is_name(const struct dirent *entry);

#endif
