#include "symbolize/jit/jitdump.h"

#include "base/array.h"
#include "symbolize/elf/range_claims.h"
#include "symbolize/jit/jitdump_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC       0x4a695444u /* in the byte order of this machine */
#define MAX_CODES   (1u << 21)
#define MAX_RECORDS (1u << 24)

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO };

struct file_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct record_head {
	uint32_t id, size;
	uint64_t time;
};

struct code_load {
	struct record_head head;
	uint32_t pid, tid;
	uint64_t vma, addr, size, index;
};

struct code_move {
	struct record_head head;
	uint32_t pid, tid;
	uint64_t vma, old_addr, addr, size, index;
};

struct jitdump {
	struct jitdump_reader reader;
	struct jitdump_code *codes;
	size_t nr;
	uint64_t debug_at, debug_addr; /* a record that the next load may be of */
	uint64_t base;                 /* of the area */
	struct jitdump_lines lines;    /* of the code told last */
	uint32_t lines_of;             /* index + 1 */
	char name[JITDUMP_NAME_MAX], file[JITDUMP_NAME_MAX];
};

static int code_add(struct jitdump *dump, const struct jitdump_code *code)
{
	if (dump->nr == MAX_CODES)
		return 0;
	return ARRAY_ADD(dump->codes, dump->nr, *code);
}

static int load_add(struct jitdump *dump, const struct code_load *load, uint64_t at)
{
	struct jitdump_code code = {
		.addr = load->addr,
		.size = load->size,
		.name_at = at + sizeof(*load),
		.index = load->index,
		.load = (uint32_t)dump->nr,
	};

	if (dump->debug_at && dump->debug_addr == load->addr)
		code.debug_at = dump->debug_at;
	dump->debug_at = 0;
	return code_add(dump, &code);
}

/* The numbers of loads ascend; those of a writer that does otherwise are not found. */
static int move_add(struct jitdump *dump, const struct code_move *move)
{
	size_t n = ARRAY_PARTITION(dump->codes, dump->nr, load, load->index <= move->index);
	struct jitdump_code code;

	if (!n || dump->codes[n - 1].index != move->index)
		return 0;
	code = dump->codes[dump->nr - 1];
	code.addr = move->addr;
	code.size = move->size;
	code.name_at = dump->codes[dump->codes[n - 1].load].name_at;
	code.debug_at = 0; /* its lines are of the old address */
	return code_add(dump, &code);
}

static int record_add(struct jitdump *dump, uint64_t at, const struct record_head *head)
{
	union {
		struct code_load load;
		struct code_move move;
		struct {
			struct record_head head;
			uint64_t addr;
		} debug;
	} record;
	size_t size = head->id == CODE_LOAD   ? sizeof(record.load)
	              : head->id == CODE_MOVE ? sizeof(record.move)
	                                      : sizeof(record.debug);
	const uint8_t *bytes;

	if (head->id > CODE_DEBUG_INFO || head->size < size)
		return 0;
	bytes = jitdump_read(&dump->reader, at, size);
	if (!bytes)
		return 0;
	memcpy(&record, bytes, size);
	if (head->id == CODE_LOAD)
		return load_add(dump, &record.load, at);
	if (head->id == CODE_MOVE)
		return move_add(dump, &record.move);
	dump->debug_at = at;
	dump->debug_addr = record.debug.addr;
	return 0;
}

static int codes_read(struct jitdump *dump)
{
	const uint8_t *bytes = jitdump_read(&dump->reader, 0, sizeof(struct file_header));
	struct file_header header;
	struct record_head head;
	uint64_t at;
	unsigned i;
	int err = 0;

	if (!bytes)
		return -ENOENT;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != MAGIC || header.size < sizeof(header))
		return -ENOENT;
	at = header.size;
	for (i = 0; i < MAX_RECORDS && !err; i++, at += head.size) {
		bytes = jitdump_read(&dump->reader, at, sizeof(head));
		if (!bytes)
			break;
		memcpy(&head, bytes, sizeof(head));
		if (head.size < sizeof(head))
			break;
		err = record_add(dump, at, &head);
	}
	return err || dump->nr ? err : -ENOENT;
}

/* The part of the code that is in the area. */
static bool code_range(const struct jitdump *dump, const struct jitdump_code *code,
                       struct symbol *symbol)
{
	uint64_t last = dump->base + UINT32_MAX, hi;

	if (__builtin_add_overflow(code->addr, code->size, &hi))
		hi = UINT64_MAX;
	if (code->addr >= last || hi <= dump->base || code->addr >= hi)
		return false;
	*symbol = (struct symbol){
		.lo = code->addr < dump->base ? 0 : (uint32_t)code->addr,
		.hi = hi > last ? UINT32_MAX : (uint32_t)hi,
	};
	return true;
}

static int code_enter(struct jitdump *dump, uint32_t owner)
{
	const struct jitdump_code *code = &dump->codes[owner - 1];
	const char *name;

	if (dump->lines_of == owner)
		return 0;
	jitdump_lines_fini(&dump->lines);
	dump->lines_of = owner;
	name = jitdump_string(&dump->reader, code->name_at);
	snprintf(dump->name, sizeof(dump->name), "%s", name ? name : "");
	return jitdump_lines_read(&dump->lines, &dump->reader, code);
}

static bool source_find(struct jitdump *dump, uint32_t offset, struct source *source)
{
	const struct jitdump_line *line = jitdump_lines_find(&dump->lines, dump->base | offset);
	const char *file = line ? jitdump_string(&dump->reader, line->file_at) : NULL;

	if (!file)
		return false;
	snprintf(dump->file, sizeof(dump->file), "%s", file);
	*source = (struct source){.file = dump->file, .line = line->line};
	return true;
}

static int codes_tell(struct jitdump *dump, const struct claims *claims,
                      const struct jit_query *query)
{
	struct source source;
	struct symbol symbol;
	int err = 0;
	size_t i;

	for (i = 0; i < claims->n && !err; i++) {
		if (!claims->owner[i])
			continue;
		err = code_enter(dump, claims->owner[i]);
		if (err || !*dump->name ||
		    !code_range(dump, &dump->codes[claims->owner[i] - 1], &symbol))
			continue;
		symbol.name = dump->name;
		symbol.sources = &source;
		symbol.nr_sources = source_find(dump, claims->offsets[i], &source);
		err = query->fn(query->arg, claims->offsets[i], &symbol);
	}
	return err;
}

static int codes_lookup(struct jitdump *dump, struct claims *claims, const struct jit_query *query)
{
	struct symbol symbol;
	size_t i = dump->nr;

	while (i-- > 0)
		if (code_range(dump, &dump->codes[i], &symbol))
			claims_take(claims, symbol.lo, symbol.hi, (uint32_t)i + 1);
	return codes_tell(dump, claims, query);
}

int jitdump_lookup(int fd, const struct jit_query *query, uint64_t *left)
{
	struct jitdump *dump = calloc(1, sizeof(*dump));
	struct claims claims = {0};
	uint64_t allowed;
	struct stat st;
	int err = -ENOMEM;

	if (!dump)
		return err;
	dump->reader.fd = fd;
	dump->base = (uint64_t)query->area << 32;
	/* Twice for the records, as far as they lie apart; and for each offset what is said of it.
	 */
	dump->reader.left = fstat(fd, &st) || st.st_size < 0 ? 0 : 2 * (uint64_t)st.st_size;
	dump->reader.left += (16 + 4 * (uint64_t)query->n) * sizeof(dump->reader.bytes);
	allowed = dump->reader.left;
	err = allowed > *left ? -EFBIG : codes_read(dump);
	if (!err)
		err = claims_init(&claims, query->offsets, query->n);
	if (!err)
		err = codes_lookup(dump, &claims, query);
	*left -= allowed - dump->reader.left;
	claims_fini(&claims);
	jitdump_lines_fini(&dump->lines);
	free(dump->codes);
	free(dump);
	return err;
}
