#include "symbolize/modules/kernel_code.h"

#include "base/array.h"

#include <stdio.h>
#include <string.h>

/* The name as /proc/kallsyms has it. */
static char *name_copy(const char *name)
{
	char *copy = NULL;

	if (asprintf(&copy, "%s%s", name, strncmp(name, "bpf_", 4) ? "" : " [bpf]") < 0)
		return NULL;
	return copy;
}

/* The first piece that ends behind an address. */
static size_t piece_from(const struct kernel_code *code, uint64_t address)
{
	return ARRAY_PARTITION(code->pieces, code->nr, piece, piece->end <= address);
}

const struct kernel_piece *kernel_code_find(const struct kernel_code *code, uint64_t address)
{
	size_t i = piece_from(code, address);

	return i < code->nr && code->pieces[i].start <= address ? &code->pieces[i] : NULL;
}

static void piece_remove(struct kernel_code *code, size_t i)
{
	free(code->pieces[i].name);
	code->nr--;
	memmove(code->pieces + i, code->pieces + i + 1, (code->nr - i) * sizeof(*code->pieces));
}

static void pieces_remove(struct kernel_code *code, uint64_t start, uint64_t end)
{
	size_t i = piece_from(code, start);

	while (i < code->nr && code->pieces[i].start < end)
		piece_remove(code, i);
}

void kernel_code_come(struct kernel_code *code, uint64_t start, uint64_t size, const char *name)
{
	struct kernel_piece piece = {start, start + size, NULL};
	size_t i;

	if (!size || piece.end < start)
		return;
	pieces_remove(code, start, piece.end);
	piece.name = code->nr < KERNEL_CODE_MAX ? name_copy(name) : NULL;
	if (!piece.name)
		return;
	if (ARRAY_ADD(code->pieces, code->nr, piece)) {
		free(piece.name);
		return;
	}
	i = ARRAY_PARTITION(code->pieces, code->nr - 1, other, other->start < start);
	memmove(code->pieces + i + 1, code->pieces + i, (code->nr - 1 - i) * sizeof(*code->pieces));
	code->pieces[i] = piece;
}

void kernel_code_go(struct kernel_code *code, uint64_t start, uint64_t size, const char *name)
{
	struct kernel_piece piece = {start, start + size, NULL};

	if (!size || piece.end < start)
		return;
	if (kernel_code_find(code, start)) {
		pieces_remove(code, start, piece.end);
		return;
	}
	piece.name = code->nr_earlier < KERNEL_CODE_MAX ? name_copy(name) : NULL;
	if (piece.name && ARRAY_ADD(code->earlier, code->nr_earlier, piece))
		free(piece.name);
}

void kernel_code_fini(struct kernel_code *code)
{
	for (size_t i = 0; i < code->nr; i++)
		free(code->pieces[i].name);
	for (size_t i = 0; i < code->nr_earlier; i++)
		free(code->earlier[i].name);
	free(code->pieces);
	free(code->earlier);
	*code = (struct kernel_code){0};
}
