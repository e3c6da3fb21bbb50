#include "perf/sampler/record.h"

#include <errno.h>
#include <string.h>

/* Where things stand that are always asked for, see RECORD_ALWAYS. */
enum {
	SAMPLE_TIME = 4, /* the header, ID, IP, TID */
	TRAILER_TIME = 1,
	TRAILER_ID,
	TRAILER_WORDS,
};

/* A walk over the 64-bit words of a record. Behind the end it reads 0 and remembers. */
struct words {
	const unsigned char *at, *end;
	bool overrun;
};

/*
 * Steps over bytes and returns their place. Data up to the first stack of an odd size is aligned,
 * and may be read in place.
 */
static const void *skip_bytes(struct words *words, uint64_t size)
{
	const unsigned char *at = words->at;

	if (size > (uint64_t)(words->end - words->at)) {
		words->overrun = true;
		return NULL;
	}
	words->at += size;
	return at;
}

static uint64_t word(struct words *words)
{
	const void *at = skip_bytes(words, sizeof(uint64_t));
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t words_left(const struct words *words)
{
	return (uint64_t)(words->end - words->at) / sizeof(uint64_t);
}

static uint32_t low_half(uint64_t value)
{
	return (uint32_t)value;
}

static uint32_t high_half(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

/* The process and its thread stand in one word. */
static void decode_whose(struct record *record, uint64_t pair)
{
	record->pid = low_half(pair);
	record->tid = high_half(pair);
}

/* `nr` entries of as many words each. */
static const void *skip(struct words *words, uint64_t nr, unsigned each)
{
	bool fits = nr <= words_left(words) / each;

	return skip_bytes(words, fits ? nr * each * sizeof(uint64_t) : UINT64_MAX);
}

static const char *text(struct words *words)
{
	const char *start = (const char *)words->at;
	size_t room = (size_t)(words->end - words->at);

	if (!memchr(start, '\0', room)) {
		words->overrun = true;
		return "";
	}
	return start;
}

static void decode_regs(struct record *record, struct words *words, unsigned nr_regs)
{
	uint64_t abi = word(words);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	record->sample.regs = skip(words, nr_regs, 1);
	record->sample.regs_32 = abi == PERF_SAMPLE_REGS_ABI_32;
}

static void decode_stack(struct record *record, struct words *words)
{
	uint64_t size = word(words), copied;

	if (!size)
		return;
	record->sample.stack = skip_bytes(words, size);
	copied = word(words);
	if (copied > size)
		words->overrun = true;
	record->sample.stack_size = copied;
	record->sample.stack_cut = copied == size;
}

static void decode_branches(struct record *record, struct words *words)
{
	const unsigned entry = sizeof(*record->sample.branches) / sizeof(uint64_t);

	record->sample.nr_branches = word(words);
	record->sample.branches = skip(words, record->sample.nr_branches, entry);
}

/* Each count is followed by what was asked for beside it. */
static void decode_counts(struct record *record, struct words *words, uint64_t format)
{
	unsigned stride = 1 + !!(format & RECORD_LOST_COUNTS);

	record->sample.nr_counts = word(words);
	skip(words, 2, 1); /* the times that it was enabled and ran */
	record->sample.counts = skip(words, record->sample.nr_counts, stride);
	record->sample.count_stride = stride;
}

static void decode_sample(struct record *record, struct words *words, uint16_t misc,
                          const struct record_format *format)
{
	uint64_t type = format->sample_type;

	record->type = RECORD_SAMPLE;
	record->sample.in_kernel =
		(misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	record->id = word(words);
	record->sample.ip = word(words);
	decode_whose(record, word(words));
	record->time = word(words) + format->clock_shift;
	if (type & PERF_SAMPLE_ADDR)
		record->sample.address = word(words);
	if (type & PERF_SAMPLE_READ)
		decode_counts(record, words, format->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		record->sample.chain_size = word(words);
		record->sample.chain = skip(words, record->sample.chain_size, 1);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		decode_branches(record, words);
	if (type & PERF_SAMPLE_REGS_USER)
		decode_regs(record, words, format->nr_regs);
	if (type & PERF_SAMPLE_STACK_USER)
		decode_stack(record, words);
	if (type & PERF_SAMPLE_WEIGHT)
		record->sample.latency = word(words);
	if (type & PERF_SAMPLE_DATA_SRC)
		record->sample.data_src = word(words);
}

static void decode_mmap(struct record *record, struct words *words, uint16_t misc)
{
	const unsigned char *identity;

	record->type = RECORD_MMAP;
	decode_whose(record, word(words));
	record->mmap.start = word(words);
	record->mmap.end = record->mmap.start + word(words);
	record->mmap.pgoff = word(words);
	identity = skip(words, 3, 1);
	if (identity && misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		record->mmap.build_id_size =
			identity[0] <= RECORD_BUILD_ID_MAX ? identity[0] : RECORD_BUILD_ID_MAX;
		memcpy(record->mmap.build_id, identity + 4, RECORD_BUILD_ID_MAX);
	} else if (identity) {
		memcpy(&record->mmap.dev_major, identity, 4);
		memcpy(&record->mmap.dev_minor, identity + 4, 4);
		memcpy(&record->mmap.ino, identity + 8, 8);
		memcpy(&record->mmap.ino_generation, identity + 16, 8);
	}
	word(words); /* protection and flags: only executable mappings are reported */
	record->mmap.path = text(words);
	if (record->mmap.end < record->mmap.start)
		words->overrun = true;
}

static void decode_task(struct record *record, struct words *words, enum record_type type)
{
	uint64_t pids = word(words), tids = word(words);

	record->type = type;
	record->pid = low_half(pids);
	record->tid = low_half(tids);
	record->fork.parent_pid = high_half(pids);
	record->fork.parent_tid = high_half(tids);
}

static void decode_comm(struct record *record, struct words *words, uint16_t misc)
{
	record->type = RECORD_COMM;
	decode_whose(record, word(words));
	record->comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	record->comm.comm = text(words);
}

static void decode_code(struct record *record, struct words *words)
{
	uint64_t size_type_flags;

	record->type = RECORD_CODE;
	record->code.start = word(words);
	size_type_flags = word(words);
	record->code.size = low_half(size_type_flags);
	record->code.gone = high_half(size_type_flags) >> 16 & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	record->code.name = text(words);
}

static void decode_read(struct record *record, struct words *words)
{
	record->type = RECORD_READ;
	decode_whose(record, word(words));
	record->read.value = word(words);
}

/*
 * Decodes the trailer that sample_id_all appends. The trailer names the task that wrote the record;
 * the body names the task that the record is about.
 */
static void decode_trailer(struct record *record, struct words *words,
                           const struct record_format *format)
{
	uint64_t trailer[TRAILER_WORDS];

	if (words_left(words) < TRAILER_WORDS) {
		words->overrun = true;
		return;
	}
	words->end -= sizeof(trailer);
	memcpy(trailer, words->end, sizeof(trailer));
	record->time = trailer[TRAILER_TIME] + format->clock_shift;
	record->id = trailer[TRAILER_ID];
}

/* It has nothing but a trailer. */
static void decode_switch(struct record *record, struct words *words, uint16_t misc)
{
	uint64_t pair;

	if (words->overrun)
		return;
	memcpy(&pair, words->end, sizeof(pair));
	record->type = misc & PERF_RECORD_MISC_SWITCH_OUT ? RECORD_STOP : RECORD_RUN;
	decode_whose(record, pair);
}

/* Decodes the part between the header and the trailer of a record that is not a sample. */
static void decode_body(struct record *record, struct words *words, uint32_t type, uint16_t misc)
{
	switch (type) {
	case PERF_RECORD_MMAP2:
		decode_mmap(record, words, misc);
		break;
	case PERF_RECORD_COMM:
		decode_comm(record, words, misc);
		break;
	case PERF_RECORD_FORK:
		decode_task(record, words, RECORD_FORK);
		break;
	case PERF_RECORD_EXIT:
		decode_task(record, words, RECORD_EXIT);
		break;
	case PERF_RECORD_KSYMBOL:
		decode_code(record, words);
		break;
	case PERF_RECORD_READ:
		decode_read(record, words);
		break;
	case PERF_RECORD_SWITCH:
		decode_switch(record, words, misc);
		break;
	case PERF_RECORD_LOST:
		record->type = RECORD_LOST;
		record->id = word(words);
		record->lost.count = word(words);
		break;
	case PERF_RECORD_THROTTLE:
		record->type = RECORD_THROTTLE;
		word(words);
		record->id = word(words);
		break;
	default:
		break;
	}
}

int record_decode(struct record *record, const void *raw, size_t size,
                  const struct record_format *format)
{
	const struct perf_event_header *header = raw;
	struct words words = {.at = (const unsigned char *)raw + sizeof(*header),
	                      .end = (const unsigned char *)raw + size};

	*record = (struct record){.type = RECORD_OTHER};
	if (size < sizeof(*header))
		return -EBADMSG;
	if (header->type == PERF_RECORD_SAMPLE) {
		decode_sample(record, &words, header->misc, format);
		return words.overrun ? -EBADMSG : 0;
	}
	if (size % sizeof(uint64_t))
		return -EBADMSG;
	decode_trailer(record, &words, format);
	decode_body(record, &words, header->type, header->misc);
	return words.overrun ? -EBADMSG : 0;
}

uint64_t record_time(const void *raw, size_t size, const struct record_format *format)
{
	const struct perf_event_header *header = raw;
	const uint64_t *words = raw;
	const bool sample = header->type == PERF_RECORD_SAMPLE;
	const size_t nr = size / sizeof(uint64_t);

	if (nr <= (sample ? SAMPLE_TIME : TRAILER_WORDS))
		return 0;
	return words[sample ? SAMPLE_TIME : nr - TRAILER_WORDS + TRAILER_TIME] +
	       format->clock_shift;
}
