/* The contents of struct trace. Only the files that implement trace.h include this header. */
#ifndef TRACE_TRACE_FILE_H
#define TRACE_TRACE_FILE_H

#include "hmb/arena.h"
#include "trace/trace.h"

#define TRACE_MAX_CPUS      (1 << 16) /* CPUs above use the event's period */
#define TRACE_MAX_WEIGHT    ((uint64_t)1 << 56)
#define TRACE_MAX_KINDS     256 /* a bin's kind is a byte */
#define NO_KIND_NUMBER      UINT16_MAX
#define NR_TRACE_RENUMBERED 5 /* sections with numbers of kinds */
#define NR_TRACE_RENAMED    5 /* sections that trace_rename() makes anew */

struct section {
	const unsigned char *at;
	uint32_t nr, entry_size;
	bool found;
};

/* The periods of one event, prepared for a look-up per sample. */
struct weights {
	uint64_t any;
	uint64_t *by_cpu; /* 0: as any */
};

/*
 * A whole bin of the arena that nodes may lie in. Kept apart from the bins themselves: their
 * headers are all multiples of a bin apart, and thus in the same few lines of every cache.
 */
struct node_home {
	uint32_t number; /* in BINS; UINT32_MAX: it is not in the file */
	uint32_t first;  /* where its nodes begin, up to its end; NODES_APART: in its sub-bins */
};

#define NODES_APART 0

/* The first process that has this PID. */
struct process_pid {
	int32_t pid;
	uint32_t process;
};

struct trace {
	const unsigned char *memory;
	size_t size;
	struct section sections[NR_TRACE_SECTIONS];
	struct trace_run run; /* what a shorter entry does not say is 0 */
	uint32_t nr_events;   /* that were sampled */
	/* Numbers of kinds for readers, and the kinds by number: see kind_numbers.h. */
	uint8_t numbers[TRACE_MAX_KINDS], kinds[TRACE_MAX_KINDS];
	/* Entries instead of the file's; NULL: the file's. And the file's. */
	void *renumbered[NR_TRACE_RENUMBERED];
	const unsigned char *as_stored[NR_TRACE_RENUMBERED];
	const uint32_t *since; /* of a buffer: the ledger's; NULL: all bins are live */
	unsigned bin_shift, sub_shift;
	uint32_t nr_cpus;        /* of streams */
	struct weights *weights; /* by event */
	struct node_home *homes; /* by place in the arena */
	uint32_t nr_homes;
	struct process_pid *pids; /* ascending, each once */
	uint32_t nr_pids;
	uint32_t owner_of_all; /* the process that whoever has none belongs to; UINT32_MAX: none */
	uint16_t *folders;     /* by module: what its name has of its path before its file's name */
	uint32_t nr_folders;
	void *renamed[NR_TRACE_RENAMED]; /* instead of the file's; all NULL: no new names */
	/* A window or the history, if its samples are to be those of its event. */
	struct trace_choice {
		uint32_t number; /* of the window that is wanted; 0: none */
		bool history;    /* that is wanted instead */
		/* The sections have it; else the samples are those of the run. */
		bool found, has_calls;
		uint16_t numbers[TRACE_MAX_KINDS];    /* of kinds of bins then; NO_KIND_NUMBER */
		struct trace_window window;           /* all parts of the history as one */
		uint32_t calls;                       /* number of the kind of its calls */
		struct trace_event event, call_event; /* what the kinds are then */
	} choice;
	/* Walks leave out bins that only have older records; 0: none. */
	uint64_t from;
	struct walk_memory *walks; /* where they go on; NULL: they begin anew */
};

static inline const void *section_entry(const struct section *section, uint32_t index)
{
	return index < section->nr ? section->at + (size_t)index * section->entry_size : NULL;
}

static inline uint64_t trace_scaled(uint64_t period, uint32_t shift)
{
	if (shift >= 56 || period > TRACE_MAX_WEIGHT >> shift)
		return TRACE_MAX_WEIGHT;
	return period << shift;
}

/*
 * Returns the event or the kind of calls that a bin's records belong to; NO_KIND_NUMBER: none.
 * Records of a window or of the history do if it was chosen, instead of those of its event.
 */
static inline uint32_t trace_bin_event(const struct trace *trace, const struct bin *bin)
{
	return trace->choice.found ? trace->choice.numbers[bin->kind] : trace->numbers[bin->kind];
}

/* Whether a bin holds records that count: samples of an event, or calls of a kind of these. */
static inline bool trace_bin_live(const struct trace *trace, const struct bin *bin)
{
	const uint32_t event = trace_bin_event(trace, bin);
	const struct trace_event *kind = trace_kind(trace, event);

	return kind && bin->level >= kind->floor &&
	       (!trace->since || bin->sequence > trace->since[bin->kind]) &&
	       bin->use == (event < trace->nr_events ? BIN_SAMPLES : BIN_CALLS);
}

/*
 * Returns the offset of a bin's nodes, which reach to its end, or its size if it has no live ones.
 */
static inline uint32_t trace_first_node(const struct trace *trace, const struct bin *bin)
{
	uint32_t size = (uint32_t)bin_size(bin);

	return trace_bin_live(trace, bin) && bin->node_bytes <= size - sizeof(*bin)
	               ? size - bin->node_bytes
	               : size;
}

/*
 * Checks that the sections of a file whose checksums are right fit together, so far as reading in
 * place relies on it. NULL, or what is wrong.
 */
const char *trace_check(const struct trace *trace);

/*
 * Reads the run, checks the sections, and builds what readers need beside them. 0, -ENOMEM, or
 * -EBADMSG with what is wrong. trace_drop_index() frees it, also after a failure; it may then be
 * built anew for other sections.
 */
int trace_index(struct trace *trace, const char **wrong);
void trace_drop_index(struct trace *trace);
/* Lets it have none, without freeing what may be another's. */
void trace_forget_index(struct trace *trace);
/* Computes the weights of samples again, after floors have changed. */
void trace_weigh(struct trace *trace);

/* Lets events be as in the window that is wanted, if it is there. */
void trace_find_chosen_window(struct trace *trace);

/* Builds the index that trace_owner() uses. Returns 0 or -ENOMEM. */
int trace_index_processes(struct trace *trace);

/* Returns how many units a sample of this event on this CPU stands for. */
static inline uint64_t trace_weight(const struct trace *trace, uint32_t event, uint32_t cpu)
{
	const struct weights *weights = &trace->weights[event];

	return cpu < trace->nr_cpus && weights->by_cpu[cpu] ? weights->by_cpu[cpu] : weights->any;
}

#endif
