/* Records of tasks, entered as if the kernel had written them. */
#ifndef TEST_TASK_RECORDS_H
#define TEST_TASK_RECORDS_H

#include "record/tasks/tasks.h"

static inline void say_fork(struct tasks *tasks, uint32_t parent, uint32_t pid, uint32_t tid,
                            uint64_t time)
{
	const struct record record = {
		.type = RECORD_FORK,
		.pid = pid,
		.tid = tid,
		.time = time,
		.fork = {.parent_pid = parent, .parent_tid = parent},
	};

	tasks_record(tasks, &record);
}

static inline void say_exit(struct tasks *tasks, uint32_t pid, uint32_t tid, uint64_t time)
{
	const struct record record = {.type = RECORD_EXIT, .pid = pid, .tid = tid, .time = time};

	tasks_record(tasks, &record);
}

static inline void say_comm(struct tasks *tasks, uint32_t pid, uint32_t tid, const char *comm,
                            bool exec, uint64_t time)
{
	const struct record record = {
		.type = RECORD_COMM,
		.pid = pid,
		.tid = tid,
		.time = time,
		.comm = {.comm = comm, .exec = exec},
	};

	tasks_record(tasks, &record);
}

static inline void say_switch(struct tasks *tasks, enum record_type type, uint32_t tid,
                              uint64_t time)
{
	const struct record record = {.type = type, .pid = tid, .tid = tid, .time = time};

	tasks_record(tasks, &record);
}

static inline void say_read(struct tasks *tasks, uint32_t pid, uint32_t tid, uint64_t value,
                            uint64_t time)
{
	const struct record record = {
		.type = RECORD_READ,
		.pid = pid,
		.tid = tid,
		.time = time,
		.read.value = value,
	};

	tasks_record(tasks, &record);
}

#endif
