/*
 * The names that a thread had, each with a slot of its own in the table of threads, so that samples
 * keep the name of their time. Who takes an earlier name gets its slot back. A thread that goes on
 * to invent names has TASK_MAX_NAMES slots; further names are in those that commands share.
 */
#ifndef RECORD_TASKS_TASK_NAMES_H
#define RECORD_TASKS_TASK_NAMES_H

#include "record/tasks/tasks.h"

#define TASK_MAX_NAMES 64

/* Its name is comm from now on. */
void task_rename(struct tasks *tasks, struct task *task, uint32_t comm, uint64_t time);
/* Whether slots of its own are used up, for the name that it has now. */
bool task_has_many_names(const struct task *task);
/* It ends, or executes another program: all its slots end. */
void task_end_names(struct tasks *tasks, struct task *task, uint64_t time);

#endif
