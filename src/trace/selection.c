#include "trace/selection.h"

#include "trace/rank_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the key of a word, with the value behind the = in *value, or -EINVAL. */
static int split(const char *word, const char **value)
{
	static const struct {
		const char *name;
		enum filter_key key;
	} keys[] = {
		{"comm", FILTER_COMM},  {"process", FILTER_PROCESS}, {"thread", FILTER_THREAD},
		{"cpu", FILTER_CPU},    {"rank", FILTER_RANK},       {"pid", FILTER_PROCESS},
		{"tid", FILTER_THREAD},
	};

	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		size_t size = strlen(keys[i].name);

		if (strncmp(word, keys[i].name, size) != 0 || word[size] != '=')
			continue;
		*value = word + size + 1;
		return **value ? (int)keys[i].key : -EINVAL;
	}
	return -EINVAL;
}

static int parse_number(const char *text, int32_t *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value > INT32_MAX)
		return -EINVAL;
	*number = (int32_t)value;
	return 0;
}

struct wanted {
	const struct trace *trace;
	const struct rank_rows *ranks;
	enum filter_key key;
	const char *name;
	int32_t number; /* of all keys but FILTER_COMM */
};

static bool is_wanted(const struct wanted *wanted, uint32_t index)
{
	const struct trace_thread *thread = trace_thread(wanted->trace, index);
	uint32_t row = rank_row(wanted->ranks, index);

	switch (wanted->key) {
	case FILTER_COMM:
		return !strcmp(trace_command_name(wanted->trace, thread->comm), wanted->name);
	case FILTER_RANK:
		return row != RANK_NONE && wanted->ranks->rows[row].rank == wanted->number;
	default:
		/* One of many, and none at all, have no number. */
		return thread->tid &&
		       (wanted->key == FILTER_THREAD ? thread->tid : thread->pid) == wanted->number;
	}
}

/* Sets the bit of the key for each thread that is wanted. Returns whether there is one. */
static bool add_threads(uint8_t *keys, uint32_t nr, const struct wanted *wanted)
{
	bool any = false;

	for (uint32_t i = 0; i < nr; i++) {
		if (!is_wanted(wanted, i))
			continue;
		keys[i] |= (uint8_t)(1U << wanted->key);
		any = true;
	}
	return any;
}

static int add_cpu(struct thread_filter *filter, int32_t cpu)
{
	if ((uint32_t)cpu >= filter->nr_cpus)
		return -ENOENT;
	if (!filter->cpus)
		filter->cpus = calloc(filter->nr_cpus, sizeof(*filter->cpus));
	if (!filter->cpus)
		return -ENOMEM;
	filter->cpus[cpu] = true;
	return 0;
}

static int add_word(struct thread_filter *filter, uint8_t *keys, unsigned *asked,
                    struct wanted *wanted, const char *word)
{
	int key = split(word, &wanted->name);

	if (key < 0 || (key != FILTER_COMM && parse_number(wanted->name, &wanted->number)))
		return -EINVAL;
	if (key == FILTER_CPU)
		return add_cpu(filter, wanted->number);
	wanted->key = (enum filter_key)key;
	*asked |= 1U << key;
	return add_threads(keys, filter->nr_threads, wanted) ? 0 : -ENOENT;
}

static int choose_threads(struct thread_filter *filter, const uint8_t *keys, unsigned asked,
                          const char **wrong)
{
	bool any = false;

	if (!asked)
		return 0;
	filter->threads = calloc(filter->nr_threads + 1UL, sizeof(*filter->threads));
	if (!filter->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < filter->nr_threads; i++)
		any |= filter->threads[i] = keys[i] == asked;
	if (any)
		return 0;
	*wrong = "all that --only asks for";
	return -ENOENT;
}

int thread_filter_init(struct thread_filter *filter, const struct trace *trace,
                       const char *const *words, unsigned nr, const char **wrong)
{
	struct rank_rows ranks;
	struct wanted wanted = {.trace = trace, .ranks = &ranks};
	int err = rank_rows_init(&ranks, trace);
	unsigned asked = 0;
	uint8_t *keys;

	*filter = (struct thread_filter){
		.nr_threads = trace_nr(trace, TRACE_THREADS),
		.nr_cpus = trace_nr_cpus(trace),
		.words = words,
		.nr_words = nr,
	};
	keys = calloc(filter->nr_threads + 1UL, sizeof(*keys));
	if (!keys)
		err = -ENOMEM;
	for (unsigned i = 0; i < nr && !err; i++) {
		err = add_word(filter, keys, &asked, &wanted, words[i]);
		*wrong = words[i];
	}
	if (!err)
		err = choose_threads(filter, keys, asked, wrong);
	free(keys);
	rank_rows_fini(&ranks);
	return err;
}

void thread_filter_fini(struct thread_filter *filter)
{
	free(filter->threads);
	free(filter->cpus);
	*filter = (struct thread_filter){0};
}
