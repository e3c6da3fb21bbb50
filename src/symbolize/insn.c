#include "symbolize/insn.h"

#include <stdbool.h>
#include <string.h>

enum { NO_REG = 0xff };

struct reader {
	const uint8_t *code;
	size_t size, at;
	uint8_t rex;
	bool word; /* operands of 16 bits */
	bool vector;
	/* 0: one byte; 1: 0f, 2: 0f 38, 3: 0f 3a, or what stands for them; 8 to 10: of XOP */
	unsigned map;
	uint8_t op, mod, reg, rm;
	bool indexed;
	int32_t disp, imm;
};

static uint8_t byte(struct reader *r)
{
	return r->at < r->size ? r->code[r->at++] : (r->at = r->size + 1, 0);
}

static int32_t number(struct reader *r, size_t size)
{
	uint32_t value = 0;

	if (size > r->size || r->at > r->size - size) {
		r->at = r->size + 1;
		return 0;
	}
	for (size_t i = 0; i < size && i < sizeof(value); i++)
		value |= (uint32_t)r->code[r->at + i] << 8 * i;
	r->at += size;
	return size == 1 ? (int8_t)value : (int32_t)value;
}

static void read_prefixes(struct reader *r)
{
	for (;;) {
		uint8_t op = byte(r);

		if ((op & 0xf0) == 0x40) {
			r->rex = op;
			continue;
		}
		r->word |= op == 0x66;
		if (op != 0x66 && op != 0x67 && op != 0xf0 && op != 0xf2 && op != 0xf3 &&
		    (op & 0xe7) != 0x26 && op != 0x64 && op != 0x65) {
			r->op = op;
			return;
		}
		r->rex = 0; /* it counts only right before the instruction */
	}
}

/* Where pop would have the number of another operation. */
static bool is_xop(const struct reader *r)
{
	return r->op == 0x8f && r->at < r->size && (r->code[r->at] & 0x1f) >= 8;
}

/* The opcode that follows the prefixes; false: there is none. */
static bool read_opcode(struct reader *r)
{
	if (r->op == 0x0f) {
		r->map = 1;
		r->op = byte(r);
		if (r->op == 0x38 || r->op == 0x3a) {
			r->map = r->op == 0x38 ? 2 : 3;
			r->op = byte(r);
		}
		return true;
	}
	if (r->op != 0xc4 && r->op != 0xc5 && r->op != 0x62 && !is_xop(r))
		return true;
	r->vector = true;
	r->map = r->op == 0xc5 ? 1 : byte(r) & (r->op == 0x62 ? 7 : 0x1f);
	byte(r);
	if (r->op == 0x62)
		byte(r);
	r->op = byte(r);
	return r->map != 0;
}

static bool has_modrm(const struct reader *r)
{
	uint8_t op = r->op;

	if (r->map == 0)
		return op < 0x40 ? (op & 7) < 4
		                 : op == 0x63 || op == 0x69 || op == 0x6b ||
		                           (op >= 0x80 && op < 0x90) || op == 0xc0 || op == 0xc1 ||
		                           op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op < 0xd4) ||
		                           (op >= 0xd8 && op < 0xe0) || op == 0xf6 || op == 0xf7 ||
		                           op >= 0xfe;
	if (r->map > 1)
		return true;
	if (r->vector)
		return op != 0x77;
	return !((op >= 0x04 && op < 0x0c) || op == 0x0e || (op >= 0x30 && op < 0x38) ||
	         op == 0x77 || (op >= 0x80 && op < 0x90) || (op & 0xf7) == 0xa0 ||
	         (op & 0xf7) == 0xa1 || op == 0xa2 || op == 0xaa || (op & 0xf8) == 0xc8);
}

static void read_modrm(struct reader *r)
{
	uint8_t modrm = byte(r), base;

	r->mod = modrm >> 6;
	r->reg = (modrm >> 3 & 7) | (r->rex & 4) << 1;
	base = modrm & 7;
	if (r->mod == 3) {
		r->rm = base | (r->rex & 1) << 3;
		return;
	}
	if (base == 4) {
		uint8_t sib = byte(r);

		r->indexed = (sib & 0x38) != 0x20 || r->rex & 2;
		base = sib & 7;
	} else if (base == 5 && r->mod == 0) {
		r->rm = NO_REG;
		r->disp = number(r, 4);
		return;
	}
	r->rm = base == 5 && r->mod == 0 ? NO_REG : base | (r->rex & 1) << 3;
	if (r->mod || r->rm == NO_REG)
		r->disp = number(r, r->mod == 1 ? 1 : 4);
}

/* What the operand of an opcode of one byte takes behind its other bytes. */
static size_t immediate_size(const struct reader *r)
{
	size_t full = r->word && !(r->rex & 8) ? 2 : 4;
	uint8_t op = r->op;

	if (op < 0x40)
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? full : 0;
	if ((op & 0xf8) == 0xb8)
		return r->rex & 8 ? 8 : full;
	if (op == 0xf6 || op == 0xf7)
		return (r->reg & 7) > 1 ? 0 : op == 0xf6 ? 1 : full;
	if (op == 0x68 || op == 0x69 || op == 0x81 || op == 0xa9 || op == 0xc7)
		return full;
	if (op == 0xe8 || op == 0xe9)
		return 4;
	if (op >= 0xa0 && op < 0xa4)
		return 8;
	if (op == 0xc2 || op == 0xca)
		return 2;
	if (op == 0xc8)
		return 3;
	return op == 0x6a || op == 0x6b || (op & 0xf0) == 0x70 || op == 0x80 || op == 0x83 ||
	       op == 0xa8 || (op & 0xf8) == 0xb0 || op == 0xc0 || op == 0xc1 || op == 0xc6 ||
	       op == 0xcd || (op >= 0xe0 && op < 0xe8) || op == 0xeb;
}

static size_t immediate_size_mapped(const struct reader *r)
{
	uint8_t op = r->op;

	if (r->map == 10)
		return 4;
	if (r->map != 1)
		return r->map == 3 || r->map == 8;
	if (!r->vector && (op & 0xf0) == 0x80)
		return 4;
	return op == 0x0f || (op >= 0x70 && op < 0x74) || op == 0xa4 || op == 0xac || op == 0xba ||
	       op == 0xc2 || (op >= 0xc4 && op < 0xc7);
}

/* Of those with a ModRM byte, on whole registers. */
static void tell_modrm(const struct reader *r, struct insn *insn)
{
	bool direct = r->mod == 3, based = !direct && !r->indexed && r->rm != NO_REG;

	*insn = (struct insn){INSN_OTHER, r->rm, r->reg, r->disp};
	if (r->op == 0x8b) {
		insn->kind = direct ? INSN_MOVE : based ? INSN_LOAD : INSN_MASK;
	} else if (r->op == 0x8d) {
		insn->kind = based ? INSN_ADD : INSN_MASK;
	} else if (r->op == 0x03 || r->op == 0x2b) {
		insn->kind = INSN_MASK;
	} else if (r->op == 0x89 && based) {
		*insn = (struct insn){INSN_STORE, r->reg, r->rm, r->disp};
	} else if (direct && (r->op == 0x89 || r->op == 0x01 || r->op == 0x29)) {
		*insn = (struct insn){r->op == 0x89 ? INSN_MOVE : INSN_MASK, r->reg, r->rm, 0};
	} else if (direct && (r->op == 0x81 || r->op == 0x83)) {
		unsigned what = r->reg & 7;

		if (what == 0 || what == 5)
			*insn = (struct insn){INSN_ADD, r->rm, r->rm, what ? -r->imm : r->imm};
		else if (what == 4)
			*insn = (struct insn){INSN_MASK, r->rm, r->rm, 0};
	}
}

static void tell(const struct reader *r, struct insn *insn)
{
	uint8_t op = r->op, low = (op & 7) | (r->rex & 1) << 3;

	if (r->map == 1 && !r->vector && (op & 0xf0) == 0x80)
		*insn = (struct insn){INSN_BRANCH, 0, 0, r->imm};
	else if (r->map == 1 && !r->vector && op == 0x0b)
		insn->kind = INSN_NONE;
	if (r->map)
		return;
	if ((op & 0xf8) == 0x50)
		*insn = (struct insn){INSN_PUSH, low, 0, 0};
	else if (op == 0x68 || op == 0x6a || (op == 0xff && (r->reg & 7) == 6) || op == 0x9c)
		*insn = (struct insn){INSN_PUSH, NO_REG, 0, 0};
	else if ((op & 0xf8) == 0x58 || op == 0x8f || op == 0x9d)
		*insn = (struct insn){INSN_POP, 0, (op & 0xf8) == 0x58 ? low : NO_REG, 0};
	else if (op == 0xc9)
		insn->kind = INSN_LEAVE;
	else if (op == 0xc3 || op == 0xc2)
		insn->kind = INSN_RETURN;
	else if (op == 0xe9 || op == 0xeb)
		*insn = (struct insn){INSN_JUMP, 0, 0, r->imm};
	else if ((op & 0xf0) == 0x70)
		*insn = (struct insn){INSN_BRANCH, 0, 0, r->imm};
	else if (op == 0xf4)
		insn->kind = INSN_HALT;
	else if (op == 0xcc || (op == 0 && r->code[0] == 0 && r->code[1] == 0))
		insn->kind = INSN_NONE;
	else if (r->rex & 8)
		tell_modrm(r, insn);
}

size_t insn_read(const uint8_t *code, size_t size, struct insn *insn)
{
	struct reader r = {.code = code, .size = size < INSN_MAX ? size : INSN_MAX};

	memset(insn, 0, sizeof(*insn));
	read_prefixes(&r);
	if (!read_opcode(&r))
		return 0;
	if (has_modrm(&r))
		read_modrm(&r);
	r.imm = number(&r, r.map ? immediate_size_mapped(&r) : immediate_size(&r));
	if (r.at > r.size)
		return 0;
	tell(&r, insn);
	return r.at;
}
