#include "output/profile_build.h"

#include "output/processes.h"
#include "output/read_ahead.h"
#include "symbolize/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* --- classes ---------------------------------------------------------------------------------- */

static uint32_t thread_comm(const struct trace *trace, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(trace, thread);

	return entry ? entry->comm : 0;
}

/* Numbers that a file makes up stand for themselves. */
static uint32_t stands_for(const struct builder *builder, const uint32_t *table, uint32_t thread)
{
	return thread < builder->nr_threads - 1 ? table[thread] : thread;
}

/* What a sample's class would be. */
static struct profile_class class_wanted(const struct builder *builder,
                                         const struct trace_sample *sample)
{
	struct profile_class class = {PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 0, 0, 0};
	unsigned keys = builder->profile->config.keys;

	if (keys & PROFILE_BY_THREAD)
		class.thread = stands_for(builder, builder->thread_of, sample->thread);
	if (keys & PROFILE_BY_PROCESS)
		class.process = stands_for(builder, builder->process_of, sample->thread);
	if (keys & (PROFILE_BY_THREAD | PROFILE_BY_COMM))
		class.comm = thread_comm(builder->profile->trace, sample->thread);
	if (keys & PROFILE_BY_CPU)
		class.cpu = sample->cpu;
	class.memory = memory_part(sample->memory, profile_memory_fields(keys));
	return class;
}

/* A number for a pair, the same for the same pair; PROFILE_NONE: no memory. */
static uint32_t number_of(struct map64 *numbers, uint32_t a, uint32_t b)
{
	uint64_t pair = (uint64_t)a << 32 | b;
	uint32_t number = map64_get(numbers, pair);

	if (number == PROFILE_NONE) {
		number = numbers->nr;
		if (map64_add(numbers, pair, number))
			return PROFILE_NONE;
	}
	return number;
}

/* A number for a class but for its CPU; PROFILE_NONE: no memory. */
static uint32_t class_who(struct builder *builder, const struct profile_class *class)
{
	uint32_t who = class->thread; /* is of one process, and has one command */

	if (who == PROFILE_NONE)
		who = number_of(&builder->who_by_pair, class->process, class->comm);
	if (who != PROFILE_NONE && builder->profile->config.keys & PROFILE_MEMORY_KEYS)
		who = number_of(&builder->who_by_memory, who, class->memory);
	return who;
}

static uint32_t class_find(struct builder *builder, const struct profile_class *wanted)
{
	uint64_t key = (uint64_t)class_who(builder, wanted) << 32 | wanted->cpu;
	uint32_t class = map64_get(&builder->class_by_key, key);

	if (class != PROFILE_NONE)
		return class;
	class = builder_add_class(builder);
	if (class == PROFILE_NONE || key >> 32 == PROFILE_NONE ||
	    map64_add(&builder->class_by_key, key, class))
		return PROFILE_NONE;
	builder->profile->classes[class] = *wanted;
	return class;
}

static uint32_t class_of(struct builder *builder, const struct trace_sample *sample)
{
	struct profile_class wanted;

	if (builder->one_class && builder->profile->nr_classes)
		return 0;
	if (sample->thread == builder->last_thread && sample->cpu == builder->last_cpu &&
	    sample->memory == builder->last_memory && builder->profile->nr_classes)
		return builder->last_class;
	wanted = class_wanted(builder, sample);
	builder->last_thread = sample->thread;
	builder->last_cpu = sample->cpu;
	builder->last_memory = sample->memory;
	builder->last_class = class_find(builder, &wanted);
	return builder->last_class;
}

/* --- one sample ------------------------------------------------------------------------------- */

/* The last place of an array is for all that are behind it. */
static uint32_t clamped(uint32_t number, uint32_t nr)
{
	return number < nr ? number : nr - 1;
}

/* Where a sample belongs. */
struct target {
	uint32_t node; /* PROFILE_NONE: nowhere, it does not count */
	uint32_t class;
	uint32_t sum; /* PROFILE_NONE: all samples are of one class */
	uint32_t row;
};

static int add_sample(struct builder *builder, const struct trace_sample *sample,
                      const struct target *target)
{
	struct profile *profile = builder->profile;
	uint32_t bucket = clamped(sample->level - builder->lowest, PROFILE_NR_BUCKETS);
	bool summed = target->sum != PROFILE_NONE;
	struct profile_row *row = &profile->rows[target->row];
	uint32_t thread = clamped(sample->thread, builder->nr_threads);
	uint64_t weight = profile_weight(profile, sample);

	if (summed)
		builder->sums.sums[target->sum].self += weight;
	else
		profile->nodes[target->node].self += weight;
	profile->classes[target->class].weight += weight;
	row->self += weight;
	row->samples++;
	row->buckets[bucket]++;
	profile->buckets[bucket]++;
	profile->samples++;
	profile->total += weight;
	profile->sampled += sample->weight;
	if (sample->weight > profile->max_weight)
		profile->max_weight = sample->weight;
	builder->by_thread[thread] += sample->weight;
	if (sample->nr_counters &&
	    profile_count(profile, sample, summed ? target->sum : target->node, target->row,
	                  error_bars_goes_on(&builder->bars, sample, target->row)))
		return -ENOMEM;
	return error_bars_step(&builder->bars, sample, target->row, weight);
}

#define BATCH_SIZE 32

struct batch {
	const struct trace_sample *samples;
	struct errand errands[BATCH_SIZE];
	struct target targets[BATCH_SIZE];
	unsigned nr;
};

static int find_node(struct builder *builder, const struct trace_sample *sample,
                     const struct errand *errand, struct target *target)
{
	target->node = PROFILE_NONE;
	if (!errand->wanted) {
		builder_pass(builder, sample);
		return 0;
	}
	target->class = class_of(builder, sample);
	if (target->class != PROFILE_NONE)
		target->node = builder_leaf(builder, sample, errand->node);
	if (target->node == PROFILE_NONE)
		return -ENOMEM;
	__builtin_prefetch(&builder->profile->nodes[target->node]);
	return 0;
}

/* The sum of what no sample was in before is a new one. */
static int find_sum(struct builder *builder, struct target *target)
{
	struct profile *profile = builder->profile;
	struct sum_table *sums = &builder->sums;
	uint32_t name = profile->nodes[target->node].name;

	target->sum =
		sum_table_find(sums, profile->nodes, profile->rows, target->node, target->class);
	if (target->sum != PROFILE_NONE) {
		target->row = sums->sums[target->sum].row;
		return 0;
	}
	target->row = builder_row(builder, target->class, name);
	if (target->row != PROFILE_NONE)
		target->sum = sum_table_add(sums, profile->nodes, profile->rows, target->node,
		                            target->row);
	return target->sum == PROFILE_NONE ? -ENOMEM : 0;
}

static int find_row(struct builder *builder, struct target *target)
{
	if (!builder->one_class)
		return find_sum(builder, target);
	target->sum = PROFILE_NONE;
	target->row =
		builder_row(builder, target->class, builder->profile->nodes[target->node].name);
	return target->row == PROFILE_NONE ? -ENOMEM : 0;
}

/* Three look-ups after each other for each sample: those of all samples at once. */
static void look_ahead_rows(const struct builder *builder, const struct batch *batch)
{
	const struct target *targets = batch->targets;

	for (unsigned i = 0; i < batch->nr; i++)
		if (targets[i].node != PROFILE_NONE)
			sum_table_prefetch(&builder->sums, builder->profile->nodes, targets[i].node,
			                   targets[i].class);
	for (unsigned i = 0; i < batch->nr; i++)
		if (targets[i].node != PROFILE_NONE)
			sum_table_prefetch_row(&builder->sums, builder->profile->nodes,
			                       builder->profile->rows, targets[i].node);
}

static int batch_add(struct builder *builder, struct batch *batch)
{
	const struct profile *profile = builder->profile;
	struct target *targets = batch->targets;
	int err = 0;

	for (unsigned i = 0; i < batch->nr; i++)
		batch->errands[i].wanted = part_has(profile->config.part, &batch->samples[i]);
	builder_look_ahead(builder, batch->samples, batch->nr, batch->errands);
	for (unsigned i = 0; i < batch->nr && !err; i++)
		err = find_node(builder, &batch->samples[i], &batch->errands[i], &targets[i]);
	if (!err && !builder->one_class)
		look_ahead_rows(builder, batch);
	for (unsigned i = 0; i < batch->nr && !err; i++) {
		if (targets[i].node == PROFILE_NONE)
			continue;
		err = find_row(builder, &targets[i]);
		__builtin_prefetch(&profile->rows[targets[i].row]);
		error_bars_prefetch(&builder->bars, targets[i].row);
	}
	for (unsigned i = 0; i < batch->nr && !err; i++) {
		if (targets[i].node != PROFILE_NONE)
			err = add_sample(builder, &batch->samples[i], &targets[i]);
		else
			err = error_bars_step(&builder->bars, &batch->samples[i], ERROR_BARS_NONE,
			                      0);
	}
	return err;
}

static int add_all(struct builder *builder, struct read_ahead *ahead)
{
	struct batch batch;
	int got = 1, err = 0;

	builder->nr_places = read_ahead_places(ahead);
	builder->places = calloc(builder->nr_places + 1UL, sizeof(*builder->places));
	if (!builder->places)
		return -ENOMEM;
	while (got == 1 && !err) {
		got = read_ahead_some(ahead, BATCH_SIZE, &batch.samples, &batch.nr);
		err = batch_add(builder, &batch);
	}
	return err ? err : got;
}

static int add_samples(struct builder *builder)
{
	struct profile *profile = builder->profile;
	struct read_ahead *ahead = read_ahead_new(profile->trace, profile->config.event);
	int err = ahead ? 0 : -ENOMEM;

	builder->lowest = trace_shift(trace_event(profile->trace, profile->config.event));
	if (!err)
		err = add_all(builder, ahead);
	read_ahead_free(ahead);
	return err;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* What nodes and sums are found by, before more memory is needed. */
static void builder_forget(struct builder *builder)
{
	node_table_fini(&builder->children);
	free(builder->context_nodes);
	builder->context_nodes = NULL;
	node_table_fini(&builder->rows);
	free(builder->places);
	builder->places = NULL;
}

static void tell_errors(struct builder *builder)
{
	struct profile *profile = builder->profile;

	error_bars_end(&builder->bars);
	profile->has_all = builder->bars.has_all;
	for (uint32_t i = 0; i < profile->nr_rows; i++)
		if (profile->rows[i].samples)
			profile->rows[i].variance = error_bars_variance(&builder->bars, i);
}

static int complete(struct builder *builder)
{
	struct profile *profile = builder->profile;
	int err;

	builder_forget(builder);
	tell_errors(builder);
	sum_table_give(&builder->sums, profile);
	err = profile_settle_sums(profile);
	if (!err && !profile->sums) {
		profile_sum_nodes(profile->nodes, profile->nr_nodes);
		err = profile_sum_counts(&profile->counts, profile->nodes, profile->nr_nodes);
	}
	return err ? err : builder_add_unsampled(builder);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* The first entry that reads the same: a thread that executes another program has a new one. */
static int find_threads(struct builder *builder)
{
	const struct trace *trace = builder->profile->trace;
	const struct trace_thread *entry;
	struct map64 names = {0}, processes = {0}, threads = {0};
	uint32_t *first = calloc(builder->nr_threads, sizeof(*first));
	int err = -ENOMEM;

	builder->thread_of = calloc(builder->nr_threads, sizeof(*builder->thread_of));
	if (first && builder->thread_of)
		err = 0;
	for (uint32_t i = 0; !err && (entry = trace_thread(trace, i)); i++) {
		uint32_t process =
			number_of(&processes, trace_owner(trace, i), (uint32_t)entry->pid);
		uint32_t name = number_of(&names, (uint32_t)entry->tid, entry->comm);
		uint32_t number = number_of(&threads, process, name);

		if (process == PROFILE_NONE || name == PROFILE_NONE || number == PROFILE_NONE)
			err = -ENOMEM;
		else if (!first[number] || !entry->tid)
			first[number] = i + 1;
		builder->thread_of[i] = err ? 0 : first[number] - 1;
	}
	map64_fini(&names);
	map64_fini(&processes);
	map64_fini(&threads);
	free(first);
	return err;
}

/* One more of each: for numbers that a file makes up. */
static int builder_init(struct builder *builder, struct profile *profile)
{
	const struct trace *trace = profile->trace;
	uint32_t threads = trace_nr_threads(trace);

	builder->profile = profile;
	builder->nr_threads = threads + 1;
	builder->by_caller =
		!profile->config.self_alone && profile->config.keys & PROFILE_NAME_KEYS;
	builder->one_class = !(profile->config.keys & PROFILE_CLASS_KEYS);
	builder->by_thread = calloc(builder->nr_threads, sizeof(*builder->by_thread));
	builder->chain = calloc(CHAIN_SIZE, sizeof(*builder->chain));
	builder->context_nodes =
		memory_new(trace_node_limit(trace) + 1UL, sizeof(*builder->context_nodes));
	builder_reserve_nodes(builder, trace_node_limit(trace) + 1);
	if (error_bars_init(&builder->bars, trace, profile->config.event))
		return -ENOMEM;
	if (!builder->by_thread || !builder->chain || !builder->context_nodes ||
	    builder_add_root(builder) == PROFILE_NONE)
		return -ENOMEM;
	if (profile->config.keys & PROFILE_BY_PROCESS &&
	    !(builder->process_of = processes_find(trace)))
		return -ENOMEM;
	return profile->config.keys & PROFILE_BY_THREAD ? find_threads(builder) : 0;
}

static void builder_fini(struct builder *builder)
{
	map64_fini(&builder->class_by_key);
	map64_fini(&builder->who_by_pair);
	map64_fini(&builder->who_by_memory);
	builder_forget(builder);
	sum_table_fini(&builder->sums);
	free(builder->by_thread);
	free(builder->process_of);
	free(builder->thread_of);
	error_bars_fini(&builder->bars);
	free(builder->chain);
}

struct profile *profile_new(const struct trace *trace, const struct profile_config *config)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	struct builder builder = {0};
	int err = -ENOMEM;

	if (!profile)
		goto out;
	profile->trace = trace;
	profile->config = *config;
	frame_names_init(&profile->names, trace,
	                 config->keys & (PROFILE_NAME_KEYS | PROFILE_INLINED));
	err = builder_init(&builder, profile);
	if (!err && config->scale)
		err = builder_scale(&builder);
	if (!err && trace_event(trace, config->event))
		err = add_samples(&builder);
	if (!err)
		err = complete(&builder);
out:
	builder_fini(&builder);
	if (!err)
		return profile;
	profile_free(profile);
	errno = -err;
	return NULL;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	frame_names_fini(&profile->names);
	free(profile->classes);
	free(profile->rows);
	free(profile->nodes);
	free(profile->sums);
	free(profile->unsampled);
	free(profile->row_counts.at);
	free(profile->counts.at);
	free(profile->scaled);
	free(profile->factors);
	free(profile);
}

double profile_error(const struct profile_row *row)
{
	return 1.96 * sqrt(row->variance);
}

double profile_unmet_variance(const struct profile *profile)
{
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	double weight = (double)profile->max_weight;

	if (profile->has_all)
		return 0;
	if (!profile->samples)
		weight = (double)trace_period(event, trace_shift(event));
	return weight * weight;
}
