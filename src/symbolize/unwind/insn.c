#include "symbolize/unwind/insn.h"

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
	if (r->at < r->size)
		return r->code[r->at++];
	r->at = r->size + 1;
	return 0;
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

/*
 * The bytes behind an opcode: nothing (.), that many bytes of an immediate operand (1 to 8), one as
 * large as the other operands but of 4 bytes at most (v), or of up to 8 (q). Capital letters begin
 * with a ModRM byte: it alone (M), or followed by 1 byte (B), by 4 (D), or by an operand as in v
 * (V). T and U are B and V for the instruction "test", else M.
 */
static const char behind_one_byte[16][17] = {
	"MMMM1v..MMMM1v..", /* 00 */
	"MMMM1v..MMMM1v..", /* 10 */
	"MMMM1v..MMMM1v..", /* 20 */
	"MMMM1v..MMMM1v..", /* 30 */
	"................", /* 40 */
	"................", /* 50 */
	"...M....vV1B....", /* 60 */
	"1111111111111111", /* 70 */
	"BVMBMMMMMMMMMMMM", /* 80 */
	"................", /* 90 */
	"8888....1v......", /* a0 */
	"11111111qqqqqqqq", /* b0 */
	"BB2...BV3.2..1..", /* c0 */
	"MMMM....MMMMMMMM", /* d0 */
	"1111111144.1....", /* e0 */
	"......TU......MM", /* f0 */
};

static const char behind_0f[16][17] = {
	"MMMM........MM.B", /* 0f 00 */
	"MMMMMMMMMMMMMMMM", /* 0f 10 */
	"MMMMMMMMMMMMMMMM", /* 0f 20 */
	"........MMMMMMMM", /* 0f 30 */
	"MMMMMMMMMMMMMMMM", /* 0f 40 */
	"MMMMMMMMMMMMMMMM", /* 0f 50 */
	"MMMMMMMMMMMMMMMM", /* 0f 60 */
	"BBBBMMM.MMMMMMMM", /* 0f 70 */
	"4444444444444444", /* 0f 80 */
	"MMMMMMMMMMMMMMMM", /* 0f 90 */
	"...MBMMM...MBMMM", /* 0f a0 */
	"MMMMMMMMMMBMMMMM", /* 0f b0 */
	"MMBMBBBM........", /* 0f c0 */
	"MMMMMMMMMMMMMMMM", /* 0f d0 */
	"MMMMMMMMMMMMMMMM", /* 0f e0 */
	"MMMMMMMMMMMMMMMM", /* 0f f0 */
};

static char behind(const struct reader *r)
{
	unsigned row = r->op >> 4, column = r->op & 0xf;
	char what;

	switch (r->map) {
	case 0:
		return behind_one_byte[row][column];
	case 1:
		what = behind_0f[row][column];
		if (!r->vector || what == 'B')
			return what;
		return r->op == 0x77 ? '.' : 'M'; /* vzeroupper */
	case 3:
	case 8:
		return 'B';
	case 10:
		return 'D';
	default:
		return 'M';
	}
}

/* The number of a register, whose fourth bit REX has. */
static uint8_t extended(unsigned number, bool fourth)
{
	return (uint8_t)(number | (fourth ? 8 : 0));
}

static void read_modrm(struct reader *r)
{
	uint8_t modrm = byte(r), base;

	r->mod = modrm >> 6;
	r->reg = extended(modrm >> 3 & 7, r->rex & 4);
	base = modrm & 7;
	if (r->mod == 3) {
		r->rm = extended(base, r->rex & 1);
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
	r->rm = base == 5 && r->mod == 0 ? NO_REG : extended(base, r->rex & 1);
	if (r->mod || r->rm == NO_REG)
		r->disp = number(r, r->mod == 1 ? 1 : 4);
}

static size_t immediate_size(const struct reader *r, char what)
{
	size_t full = r->word && !(r->rex & 8) ? 2 : 4;

	switch (what) {
	case '1' ... '8':
		return (size_t)(what - '0');
	case 'B':
		return 1;
	case 'D':
		return 4;
	case 'q':
		return r->rex & 8 ? 8 : full;
	case 'v':
	case 'V':
		return full;
	case 'T':
		return (r->reg & 7) < 2 ? 1 : 0;
	case 'U':
		return (r->reg & 7) < 2 ? full : 0;
	default:
		return 0;
	}
}

/* Decodes an instruction with a ModRM byte that works on whole registers. */
static void tell_modrm(const struct reader *r, struct insn *insn)
{
	bool direct = r->mod == 3, based = !direct && !r->indexed && r->rm != NO_REG;

	*insn = (struct insn){INSN_OTHER, r->rm, r->reg, r->disp};
	if (r->op == 0x8b) {
		insn->type = direct ? INSN_MOVE : based ? INSN_LOAD : INSN_MASK;
	} else if (r->op == 0x8d) {
		insn->type = based ? INSN_ADD : INSN_MASK;
	} else if (r->op == 0x03 || r->op == 0x2b) {
		insn->type = INSN_MASK;
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
	uint8_t op = r->op, low = extended(op & 7, r->rex & 1);

	if (r->map == 1 && !r->vector && (op & 0xf0) == 0x80)
		*insn = (struct insn){INSN_BRANCH, 0, 0, r->imm};
	else if (r->map == 1 && !r->vector && op == 0x0b)
		insn->type = INSN_NONE;
	if (r->map)
		return;
	if ((op & 0xf8) == 0x50)
		*insn = (struct insn){INSN_PUSH, low, 0, 0};
	else if (op == 0x68 || op == 0x6a || (op == 0xff && (r->reg & 7) == 6) || op == 0x9c)
		*insn = (struct insn){INSN_PUSH, NO_REG, 0, 0};
	else if ((op & 0xf8) == 0x58 || op == 0x8f || op == 0x9d)
		*insn = (struct insn){INSN_POP, 0, (op & 0xf8) == 0x58 ? low : NO_REG, 0};
	else if (op == 0xc9)
		insn->type = INSN_LEAVE;
	else if (op == 0xc3 || op == 0xc2)
		insn->type = INSN_RETURN;
	else if (op == 0xe9 || op == 0xeb)
		*insn = (struct insn){INSN_JUMP, 0, 0, r->imm};
	else if ((op & 0xf0) == 0x70)
		*insn = (struct insn){INSN_BRANCH, 0, 0, r->imm};
	else if (op == 0xf4)
		insn->type = INSN_HALT;
	else if (op == 0xcc || (op == 0 && r->code[0] == 0 && r->code[1] == 0))
		insn->type = INSN_NONE;
	else if (r->rex & 8)
		tell_modrm(r, insn);
}

size_t insn_read(const uint8_t *code, size_t size, struct insn *insn)
{
	struct reader r = {.code = code, .size = size < INSN_MAX ? size : INSN_MAX};
	char what;

	memset(insn, 0, sizeof(*insn));
	read_prefixes(&r);
	if (!read_opcode(&r))
		return 0;
	what = behind(&r);
	if (what >= 'A' && what <= 'Z')
		read_modrm(&r);
	r.imm = number(&r, immediate_size(&r, what));
	if (r.at > r.size)
		return 0;
	tell(&r, insn);
	return r.at;
}
