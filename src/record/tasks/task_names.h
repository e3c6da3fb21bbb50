/*
 * The names that a thread has had. Each has its own slot in the table of threads, so that a sample
 * keeps the name of its time. A thread that returns to an earlier name gets that name's slot back.
 * A thread has at most TASK_MAX_NAMES slots; its further names use the slots that are shared by
 * command.
 */
#ifndef RECORD_TASKS_TASK_NAMES_H
#define RECORD_TASKS_TASK_NAMES_H

#include "record/tasks/tasks.h"

#define TASK_MAX_NAMES 64

/* Changes the name of a task to comm. */
void task_rename(struct tasks *tasks, struct task *task, uint32_t comm, uint64_t time);
/* Tells whether the task has no own slot left for its present name. */
bool task_has_many_names(const struct task *task);
/* Ends all slots of a task that ends or executes another program. */
void task_end_names(struct tasks *tasks, struct task *task, uint64_t time);

#endif
