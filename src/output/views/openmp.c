#include "output/views/openmp.h"

#include "base/array.h"
#include "base/frame.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A process with regions. Two may have one pid where traces of several hosts were merged. */
struct life {
	uint32_t owner;
	int32_t pid;
	uint64_t from, to, covered;
};

/* --- rows ------------------------------------------------------------------------------------- */

static int compare_regions(const void *a, const void *b)
{
	const struct openmp_row *x = a, *y = b;

	return ORDER(x->region, y->region);
}

static int compare_times(const void *a, const void *b)
{
	const struct openmp_row *x = a, *y = b;

	return ORDER(y->sum.time, x->sum.time) ?: ORDER(x->region, y->region);
}

static void add(struct trace_openmp *to, const struct trace_openmp *sum)
{
	to->count += sum->count;
	to->time += sum->time;
	to->covered += sum->covered;
	to->threads += sum->threads;
	if (sum->most_threads > to->most_threads)
		to->most_threads = sum->most_threads;
	to->idle += sum->idle;
	to->barrier_wait += sum->barrier_wait;
	to->critical_wait += sum->critical_wait;
	to->work += sum->work;
	to->longest_work += sum->longest_work;
	to->mean_work += sum->mean_work;
}

static void join_rows(struct openmp *openmp)
{
	uint32_t kept = 0;

	ARRAY_SORT(openmp->rows, openmp->nr, compare_regions);
	for (uint32_t i = 1; i < openmp->nr; i++)
		if (openmp->rows[i].region == openmp->rows[kept].region)
			add(&openmp->rows[kept].sum, &openmp->rows[i].sum);
		else
			openmp->rows[++kept] = openmp->rows[i];
	openmp->nr = openmp->nr ? kept + 1 : 0;
	ARRAY_SORT(openmp->rows, openmp->nr, compare_times);
}

/* --- processes -------------------------------------------------------------------------------- */

static int compare_lives(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	return ORDER(x->owner, y->owner) ?: ORDER(x->pid, y->pid);
}

static struct life life_of(const struct trace *trace, const struct trace_openmp *sum)
{
	const struct trace_thread *thread = trace_thread(trace, sum->thread);

	return (struct life){
		.owner = trace_owner(trace, sum->thread),
		.pid = thread ? thread->pid : 0,
		.from = sum->from,
		.to = thread && thread->end && thread->end < sum->to ? thread->end : sum->to,
		.covered = sum->covered,
	};
}

static void join_life(struct life *to, const struct life *life)
{
	to->covered += life->covered;
	if (life->from < to->from)
		to->from = life->from;
	if (life->to > to->to)
		to->to = life->to;
}

static uint32_t join_lives(struct life *lives, uint32_t nr)
{
	uint32_t kept = 0;

	ARRAY_SORT(lives, nr, compare_lives);
	for (uint32_t i = 1; i < nr; i++)
		if (!compare_lives(&lives[i], &lives[kept]))
			join_life(&lives[kept], &lives[i]);
		else
			lives[++kept] = lives[i];
	return nr ? kept + 1 : 0;
}

static int add_lives(struct openmp *openmp, const struct trace *trace)
{
	const struct trace_openmp *sum;
	struct life *lives = calloc(openmp->nr + 1UL, sizeof(*lives));
	uint32_t nr = 0;

	if (!lives)
		return -ENOMEM;
	for (; nr < openmp->nr && (sum = trace_openmp(trace, nr)); nr++)
		lives[nr] = life_of(trace, sum);
	openmp->nr_processes = nr = join_lives(lives, nr);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t life = lives[i].to > lives[i].from ? lives[i].to - lives[i].from : 0;

		openmp->life += life;
		openmp->covered += lives[i].covered < life ? lives[i].covered : life;
	}
	free(lives);
	return 0;
}

int openmp_init(struct openmp *openmp, const struct trace *trace)
{
	uint32_t nr = trace_nr(trace, TRACE_OPENMP);
	const struct trace_openmp *sum;
	int err;

	*openmp = (struct openmp){0};
	if (!nr)
		return -ENODATA;
	openmp->rows = calloc(nr, sizeof(*openmp->rows));
	if (!openmp->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && (sum = trace_openmp(trace, i)); i++) {
		openmp->rows[openmp->nr++] =
			(struct openmp_row){sum->region, sum->module, sum->offset, *sum};
		openmp->idle += sum->idle;
		openmp->barrier += sum->barrier_wait;
		openmp->critical += sum->critical_wait;
		openmp->work += sum->work;
	}
	err = add_lives(openmp, trace);
	join_rows(openmp);
	return err;
}

void openmp_fini(struct openmp *openmp)
{
	free(openmp->rows);
}

uint64_t openmp_serial(const struct openmp *openmp)
{
	return openmp->life - openmp->covered;
}

double openmp_imbalance(const struct trace_openmp *sum)
{
	if (!sum->longest_work || sum->mean_work >= sum->longest_work)
		return 0;
	return (double)(sum->longest_work - sum->mean_work) / (double)sum->longest_work;
}

/* The recorder names a region "parallel FUNCTION FILE:LINE". */
void openmp_function(const struct trace *trace, const struct openmp_row *row, char *text,
                     size_t size)
{
	const struct trace_region *region = trace_region(trace, row->region);
	const char *name = region ? trace_string(trace, region->name) : "", *end;

	if (!strncmp(name, "parallel ", 9))
		name += 9;
	end = region && region->line ? strrchr(name, ' ') : NULL;
	snprintf(text, size, "%.*s", (int)(end ? end - name : (ptrdiff_t)strnlen(name, size)),
	         name);
}
