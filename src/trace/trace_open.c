#include "trace/kind_numbers.h"
#include "trace/trace_file.h"
#include "base/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define MAX_SECTIONS 256

static_assert(NR_TRACE_SECTIONS <= MAX_SECTIONS, "a trace of this version can be read");

/* The path of the file and the buffer for the error message. */
struct complaint {
	const char *path;
	char *why;
};

__attribute__((format(printf, 2, 3))) static int complain(const struct complaint *complaint,
                                                          const char *format, ...)
{
	int size = snprintf(complaint->why, TRACE_WHY_SIZE, "cannot read '%s': ", complaint->path);
	va_list args;

	if (size < 0 || size >= TRACE_WHY_SIZE)
		return -EBADMSG;
	va_start(args, format);
	vsnprintf(complaint->why + size, (size_t)(TRACE_WHY_SIZE - size), format, args);
	va_end(args);
	return -EBADMSG;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Each rank that an MPI launcher starts writes a trace of its own: adaptrace.0.atr and so on. */
static bool is_of_ranks(const char *path)
{
	int stem = (int)strlen(path) - (int)strlen(".atr");
	char first[PATH_MAX];

	if (stem <= 0 || strcmp(path + stem, ".atr") != 0)
		return false;
	snprintf(first, sizeof(first), "%.*s.0.atr", stem, path);
	return !access(first, F_OK);
}

static int complain_errno(const struct complaint *complaint, int errnum)
{
	if (errnum == ENOENT && is_of_ranks(complaint->path))
		return complain(complaint,
		                "%s, but one for each rank (.0.atr and so on); adaptrace merge "
		                "joins them",
		                strerror(errnum));
	if (errnum == ENOENT)
		return complain(complaint, "%s; record a trace first: adaptrace record COMMAND",
		                strerror(errnum));
	if (errnum == EACCES || errnum == EPERM)
		return complain(complaint, "%s; it belongs to another user", strerror(errnum));
	return complain(complaint, "%s", strerror(errnum));
}

static void *copy_file(int fd, size_t size)
{
	unsigned char *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t got = memory == MAP_FAILED ? 0 : 1;

	for (size_t at = 0; got > 0 && at < size; at += (size_t)got)
		got = read(fd, memory + at, size - at);
	if (got >= 0)
		return memory;
	munmap(memory, size);
	return MAP_FAILED;
}

/*
 * Checked contents must not change any more. A file that others may write to is therefore copied.
 */
static void *file_memory(int fd, const struct stat *stat)
{
	size_t size = (size_t)stat->st_size;
	bool own = stat->st_uid == geteuid() || !stat->st_uid;

	if (own && !(stat->st_mode & (S_IWGRP | S_IWOTH)))
		return mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	return copy_file(fd, size);
}

static int map_descriptor(struct trace *trace, int fd, const struct complaint *complaint)
{
	struct stat stat;
	void *memory = MAP_FAILED;

	if (fstat(fd, &stat))
		complain_errno(complaint, errno);
	else if (S_ISDIR(stat.st_mode))
		complain(complaint, "it is a folder; adaptrace merge joins the traces of ranks in "
		                    "it, diff compares those of runs");
	else if (!S_ISREG(stat.st_mode))
		complain(complaint, "not a regular file; name a trace of adaptrace record");
	else if (!stat.st_size)
		complain(complaint, "it is empty; record again");
	else if ((memory = file_memory(fd, &stat)) == MAP_FAILED)
		complain_errno(complaint, errno);
	if (memory == MAP_FAILED)
		return -EBADMSG;
	trace->memory = memory;
	trace->size = (size_t)stat.st_size;
	return 0;
}

static int map_file(struct trace *trace, const struct complaint *complaint)
{
	int fd = open(complaint->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	if (fd < 0) {
		complain_errno(complaint, errno);
		return -EBADMSG;
	}
	err = map_descriptor(trace, fd, complaint);
	close(fd);
	return err;
}

static int check_header(const struct trace *trace, const struct complaint *complaint)
{
	const struct trace_header *header = (const void *)trace->memory;

	if (trace->size < sizeof(header->magic) ||
	    memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)))
		return complain(complaint, "not a trace of adaptrace");
	if (trace->size < sizeof(*header))
		return complain(complaint, "it ends within its header; record again");
	if (header->version > TRACE_VERSION)
		return complain(
			complaint,
			"written by a newer adaptrace (format %u, this one knows up to %u); "
			"install the newer adaptrace",
			header->version, TRACE_VERSION);
	if (!header->version)
		return complain(complaint, "damaged: there is no format 0");
	if (header->version < TRACE_VERSION)
		return complain(complaint,
		                "written by an older adaptrace (format %u, this one reads %u); "
		                "record again",
		                header->version, TRACE_VERSION);
	if (trace->size < header->size)
		return complain(complaint,
		                "incomplete: %zu of %llu bytes; copy it again or record again",
		                trace->size, (unsigned long long)header->size);
	if (trace->size > header->size)
		return complain(complaint, "damaged: %llu bytes too many; copy it again",
		                (unsigned long long)(trace->size - header->size));
	if (!header->nr_sections || header->nr_sections > MAX_SECTIONS ||
	    trace->size - sizeof(*header) < header->nr_sections * sizeof(struct trace_entry))
		return complain(complaint, "damaged: its directory makes no sense; copy it again");
	return 0;
}

static int check_header_checksum(const struct trace *trace, const struct complaint *complaint)
{
	struct trace_header header = *(const struct trace_header *)(const void *)trace->memory;
	XXH3_state_t *hash = XXH3_createState();
	uint64_t stated = header.checksum, found;

	if (!hash)
		return complain_errno(complaint, ENOMEM);
	header.checksum = 0;
	XXH3_64bits_reset(hash);
	XXH3_64bits_update(hash, &header, sizeof(header));
	XXH3_64bits_update(hash, trace->memory + sizeof(header),
	                   header.nr_sections * sizeof(struct trace_entry));
	found = XXH3_64bits_digest(hash);
	XXH3_freeState(hash);
	return found == stated
	               ? 0
	               : complain(complaint, "damaged: the checksum of its header is wrong; "
	                                     "copy it again or record again");
}

static bool entry_fits(const struct trace *trace, const struct trace_entry *entry)
{
	return entry->offset % 8 == 0 && entry->offset <= trace->size &&
	       entry->size <= trace->size - entry->offset && entry->entry_size &&
	       entry->size % entry->entry_size == 0 && entry->size / entry->entry_size < UINT32_MAX;
}

static int add_section(struct trace *trace, const struct trace_entry *entry,
                       const struct complaint *complaint)
{
	struct section *section;
	const unsigned char *at;

	if (!entry_fits(trace, entry))
		return complain(complaint, "damaged: section %u is out of place; copy it again",
		                entry->section);
	at = trace->memory + entry->offset;
	if (XXH3_64bits(at, entry->size) != entry->checksum)
		return complain(complaint,
		                "damaged: the checksum of section %u is wrong; "
		                "copy it again or record again",
		                entry->section);
	if (!entry->section || entry->section >= NR_TRACE_SECTIONS)
		return 0;
	section = &trace->sections[entry->section];
	if (section->found)
		return complain(complaint, "damaged: section %u is there twice", entry->section);
	*section = (struct section){
		.at = at,
		.nr = (uint32_t)(entry->size / entry->entry_size),
		.entry_size = entry->entry_size,
		.found = true,
	};
	return 0;
}

/* Sections that share bytes would be large tables in a small file. */
static int check_overlap(const struct trace *trace, const struct complaint *complaint)
{
	const struct trace_header *header = (const void *)trace->memory;
	const struct trace_entry *entries = (const void *)(header + 1);
	uint64_t size = 0;

	for (uint32_t i = 0; i < header->nr_sections; i++)
		size += entries[i].size;
	return size <= trace->size ? 0
	                           : complain(complaint, "damaged: its sections overlap; copy it "
	                                                 "again or record again");
}

static int read_directory(struct trace *trace, const struct complaint *complaint)
{
	const struct trace_header *header = (const void *)trace->memory;
	const struct trace_entry *entries = (const void *)(header + 1);
	int err = check_header_checksum(trace, complaint);

	for (uint32_t i = 0; i < header->nr_sections && !err; i++)
		err = add_section(trace, &entries[i], complaint);
	return err ? err : check_overlap(trace, complaint);
}

static void read_run(struct trace *trace)
{
	const struct section *run = &trace->sections[TRACE_RUN];

	if (run->nr)
		memcpy(&trace->run, run->at,
		       run->entry_size < sizeof(trace->run) ? run->entry_size : sizeof(trace->run));
}

/* Frames cannot refer to modules above FRAME_MAX_MODULES, and no table has room for them. */
static void bound_modules(struct section *modules)
{
	if (modules->nr > FRAME_MAX_MODULES)
		modules->nr = FRAME_MAX_MODULES;
}

/* --- weights ---------------------------------------------------------------------------------- */

static void weights_add(struct trace *trace, const struct trace_stream *stream)
{
	const struct trace_event *event = trace_event(trace, stream->event);
	struct weights *weights;

	if (!event || !stream->base_period)
		return;
	weights = &trace->weights[stream->event];
	if (stream->cpu == TRACE_ANY_CPU)
		weights->any = trace_scaled(stream->base_period, trace_shift(event));
	else if (stream->cpu < trace->nr_cpus)
		weights->by_cpu[stream->cpu] =
			trace_scaled(stream->base_period, trace_shift(event));
}

static int weights_init(struct trace *trace)
{
	trace->nr_cpus = trace_nr_cpus(trace);
	trace->weights = calloc(trace->nr_events + 1, sizeof(*trace->weights));
	if (!trace->weights)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->nr_events; i++) {
		struct weights *weights = &trace->weights[i];

		weights->by_cpu = calloc(trace->nr_cpus + 1UL, sizeof(*weights->by_cpu));
		if (!weights->by_cpu)
			return -ENOMEM;
	}
	trace_weigh(trace);
	return 0;
}

void trace_weigh(struct trace *trace)
{
	const struct trace_stream *stream;
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++)
		trace->weights[i].any = trace_period(event, trace_shift(event));
	for (uint32_t i = 0; (stream = trace_stream(trace, i)); i++)
		weights_add(trace, stream);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static struct node_home home_of(const struct trace *trace, uint32_t granule)
{
	const struct bin *bin;

	if (!granule)
		return (struct node_home){.number = UINT32_MAX};
	bin = section_entry(&trace->sections[TRACE_BINS], granule - 1);
	return (struct node_home){granule - 1, bin->size_shift == trace->bin_shift
	                                               ? trace_first_node(trace, bin)
	                                               : NODES_APART};
}

static int homes_init(struct trace *trace)
{
	const struct section *granules = &trace->sections[TRACE_GRANULES];
	const uint32_t *granule;

	trace->homes = malloc((granules->nr + 1UL) * sizeof(*trace->homes));
	if (!trace->homes)
		return -ENOMEM;
	for (uint32_t i = 0; (granule = section_entry(granules, i)); i++)
		trace->homes[i] = home_of(trace, *granule);
	trace->nr_homes = granules->nr;
	return 0;
}

int trace_index(struct trace *trace, const char **wrong)
{
	read_run(trace);
	kind_numbers_init(trace);
	trace->choice.found = false;
	*wrong = trace_check(trace);
	if (*wrong)
		return -EBADMSG;
	bound_modules(&trace->sections[TRACE_MODULES]);
	trace->bin_shift = trace_run(trace)->bin_shift;
	trace->sub_shift = trace_run(trace)->sub_shift;
	if (kind_numbers_make(trace))
		return -ENOMEM;
	trace_find_chosen_window(trace);
	if (weights_init(trace) || homes_init(trace) || trace_index_processes(trace) ||
	    trace_tell_modules_apart(&trace, 1))
		return -ENOMEM;
	return 0;
}

void trace_forget_index(struct trace *trace)
{
	kind_numbers_forget(trace);
	trace->weights = NULL;
	trace->homes = NULL;
	trace->pids = NULL;
	trace->folders = NULL;
	trace->nr_events = trace->nr_homes = trace->nr_pids = trace->nr_folders = 0;
}

void trace_drop_index(struct trace *trace)
{
	for (uint32_t i = 0; trace->weights && i < trace->nr_events; i++)
		free(trace->weights[i].by_cpu);
	free(trace->weights);
	kind_numbers_free(trace);
	free(trace->homes);
	free(trace->pids);
	free(trace->folders);
	trace_forget_index(trace);
}

/* Opens a trace whose bytes are in memory. Returns 0, or -errno with the reason in why. */
static int read_sections(struct trace *trace, const struct complaint *complaint)
{
	int err = check_header(trace, complaint);
	const char *wrong;

	if (!err)
		err = read_directory(trace, complaint);
	if (err)
		return err;
	err = trace_index(trace, &wrong);
	if (err == -EBADMSG)
		return complain(complaint, "damaged: %s; record again", wrong);
	return err ? complain_errno(complaint, -err) : 0;
}

/* memory: of the trace's bytes, which it takes over; NULL: those of the file */
static struct trace *open_trace(void *memory, size_t size, const struct complaint *complaint)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	complaint->why[0] = 0;
	if (!trace) {
		complain_errno(complaint, ENOMEM);
		if (memory)
			munmap(memory, size);
		return NULL;
	}
	trace->memory = memory;
	trace->size = size;
	if ((memory || !map_file(trace, complaint)) && !read_sections(trace, complaint))
		return trace;
	trace_close(trace);
	return NULL;
}

struct trace *trace_open(const char *path, char why[TRACE_WHY_SIZE])
{
	return open_trace(NULL, 0, &(struct complaint){path, why});
}

struct trace *trace_open_memory(void *memory, size_t size, const char *name,
                                char why[TRACE_WHY_SIZE])
{
	return open_trace(memory, size, &(struct complaint){name, why});
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	trace_drop_index(trace);
	for (unsigned i = 0; i < NR_TRACE_RENAMED; i++)
		free(trace->renamed[i]);
	if (trace->memory)
		munmap((void *)(uintptr_t)trace->memory, trace->size);
	free(trace);
}
