/* The lines that one reader gets about a recording: what is new since the last one. */
#ifndef CLI_WATCH_LINES_H
#define CLI_WATCH_LINES_H

#include <stdint.h>
#include <stdio.h>

enum lines_form { LINES_TABLES, LINES_CALLS, LINES_SAMPLES };

struct watched;
struct watch_json;

struct lines {
	enum lines_form form;
	uint64_t interval; /* ns */
	struct watch_json *json;
	uint64_t from;     /* up to here all was told */
	uint64_t left_out; /* lines since the last one */
};

/* 0 or -ENOMEM. */
int lines_init(struct lines *lines, enum lines_form form, uint64_t interval);
void lines_fini(struct lines *lines);

/* Writes the next line, the first time with one of the recording before it. 0 or -errno. */
int lines_put(struct lines *lines, struct watched *watched, FILE *to);
/* Leaves it out instead; the next one counts it. */
void lines_leave_out(struct lines *lines, const struct watched *watched);

#endif
