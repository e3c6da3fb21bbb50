/*
 * Programs of call frame instructions. A program builds a table, a row for each range of code: how
 * to compute the CFA, and where each register is saved. We run it until the row of one address is
 * complete, keep only the columns of the registers that we follow, and make a rule of them.
 */
#include "symbolize/unwind/arch.h"
#include "symbolize/unwind/cfi_entry.h"

#include <dwarf.h>

/* Compilers nest remembered rows once; assembly that nests more has not been seen. */
#define MAX_REMEMBERED 16

enum column_how {
	COLUMN_UNSET,
	COLUMN_UNDEFINED,
	COLUMN_SAME,
	COLUMN_OFFSET,     /* saved at CFA + value */
	COLUMN_REGISTER,   /* in register number value */
	COLUMN_EXPRESSION, /* saved where an expression says */
	COLUMN_STRANGE,    /* computed: never seen for a register that matters */
};

struct column {
	enum column_how how;
	uint64_t value;
	const uint8_t *expression; /* of value bytes */
};

/*
 * The numbers that reg_base() returns. Registers that are not followed share one column, which is
 * never read.
 */
enum {
	COLUMN_RA,
	COLUMN_SP = RULE_SP,
	COLUMN_FP = RULE_FP,
	COLUMN_EXTRA = RULE_EXTRA,
	NR_COLUMNS = RULE_REG + 1
};

struct row {
	uint64_t cfa_reg, cfa_offset;
	const uint8_t *cfa_expression; /* NULL: it is register + offset */
	uint64_t cfa_expression_size;
	struct column columns[NR_COLUMNS];
};

struct machine {
	const struct cfi_cie *cie;
	struct row row, initial;
	struct row remembered[MAX_REMEMBERED];
	unsigned nr_remembered;
	uint64_t location;
	struct cfi_range row_range; /* where the row is in force, as far as is known */
};

/* The base that stands for a register. */
static uint8_t reg_base(uint64_t reg)
{
	if (reg == ARCH_SP)
		return RULE_SP;
	if (reg == ARCH_FP)
		return RULE_FP;
	return reg == ARCH_EXTRA ? RULE_EXTRA : RULE_REG;
}

static struct column *machine_column(struct machine *machine, uint64_t reg)
{
	return &machine->row.columns[reg == machine->cie->ra ? COLUMN_RA : reg_base(reg)];
}

static void column_set(struct machine *machine, uint64_t reg, enum column_how how, uint64_t value)
{
	*machine_column(machine, reg) = (struct column){.how = how, .value = value};
}

static void column_restore(struct machine *machine, uint64_t reg)
{
	struct column *column = machine_column(machine, reg);

	*column = machine->initial.columns[column - machine->row.columns];
}

/* NULL: it is cut off, and the program fails. */
static const uint8_t *take_block(struct cursor *program, uint64_t *size)
{
	*size = cursor_uleb(program);
	return cursor_take(program, *size);
}

static struct cursor block_cursor(const uint8_t *block, uint64_t size)
{
	return (struct cursor){.at = block, .end = block + size};
}

/* Instructions of the first group: they end a row. */
static bool run_location(struct machine *machine, struct cursor *program, uint8_t op)
{
	uint64_t align = machine->cie->code_align;

	switch (op) {
	case DW_CFA_advance_loc1:
		machine->location += cursor_uint(program, 1) * align;
		return true;
	case DW_CFA_advance_loc2:
		machine->location += cursor_uint(program, 2) * align;
		return true;
	case DW_CFA_advance_loc4:
		machine->location += cursor_uint(program, 4) * align;
		return true;
	case DW_CFA_set_loc:
		machine->location = cfi_pointer(program, machine->cie->encoding);
		return true;
	default:
		return false;
	}
}

/* Instructions of the second group: they define the CFA. */
static bool run_cfa(struct machine *machine, struct cursor *program, uint8_t op)
{
	struct row *row = &machine->row;
	uint64_t align = machine->cie->data_align;

	if (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_register)
		row->cfa_reg = cursor_uleb(program);
	switch (op) {
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_offset:
		row->cfa_offset = cursor_uleb(program);
		break;
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_offset_sf:
		row->cfa_offset = cursor_sleb(program) * align;
		break;
	case DW_CFA_def_cfa_register:
		break;
	case DW_CFA_def_cfa_expression:
		row->cfa_expression = take_block(program, &row->cfa_expression_size);
		return true;
	default:
		return false;
	}
	row->cfa_expression = NULL;
	return true;
}

/* Instructions of the third group: they say that a register is saved at an offset to the CFA. */
static bool run_offset(struct machine *machine, struct cursor *program, uint8_t op)
{
	uint64_t reg, offset;

	if (op != DW_CFA_offset_extended && op != DW_CFA_offset_extended_sf &&
	    op != DW_CFA_GNU_negative_offset_extended)
		return false;
	reg = cursor_uleb(program);
	offset = cursor_leb(program, op == DW_CFA_offset_extended_sf) * machine->cie->data_align;
	if (op == DW_CFA_GNU_negative_offset_extended)
		offset = -offset;
	column_set(machine, reg, COLUMN_OFFSET, offset);
	return true;
}

/* Instructions of the fourth group: they say otherwise where a register is. */
static bool run_register(struct machine *machine, struct cursor *program, uint8_t op)
{
	uint64_t reg = cursor_uleb(program), size;
	struct column *column;

	switch (op) {
	case DW_CFA_restore_extended:
		column_restore(machine, reg);
		return true;
	case DW_CFA_undefined:
		column_set(machine, reg, COLUMN_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		column_set(machine, reg, COLUMN_SAME, 0);
		return true;
	case DW_CFA_register:
		column_set(machine, reg, COLUMN_REGISTER, cursor_uleb(program));
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		cursor_uleb(program);
		column_set(machine, reg, COLUMN_STRANGE, 0);
		return true;
	case DW_CFA_val_expression:
		take_block(program, &size);
		column_set(machine, reg, COLUMN_STRANGE, 0);
		return true;
	case DW_CFA_expression:
		column_set(machine, reg, COLUMN_EXPRESSION, 0);
		column = machine_column(machine, reg);
		column->expression = take_block(program, &column->value);
		return true;
	default:
		return false;
	}
}

/* The rest: rows put aside and taken back, and what does not concern us. */
static bool run_other(struct machine *machine, struct cursor *program, uint8_t op)
{
	switch (op) {
	case DW_CFA_remember_state:
		if (machine->nr_remembered == MAX_REMEMBERED)
			return false;
		machine->remembered[machine->nr_remembered++] = machine->row;
		return true;
	case DW_CFA_restore_state:
		if (machine->nr_remembered == 0)
			return false;
		machine->row = machine->remembered[--machine->nr_remembered];
		return true;
	case DW_CFA_GNU_args_size:
		cursor_uleb(program);
		return true;
	case DW_CFA_nop:
	case DW_CFA_AARCH64_negate_ra_state: /* the signature is cut off always */
		return true;
	default:
		return false;
	}
}

/* Most have an operand in their low bits. False: an instruction that we do not know. */
static bool run_one(struct machine *machine, struct cursor *program, uint8_t op)
{
	uint64_t operand = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		machine->location += operand * machine->cie->code_align;
		return true;
	case DW_CFA_offset:
		column_set(machine, operand, COLUMN_OFFSET,
		           cursor_uleb(program) * machine->cie->data_align);
		return true;
	case DW_CFA_restore:
		column_restore(machine, operand);
		return true;
	default:
		return run_other(machine, program, op) || run_cfa(machine, program, op) ||
		       run_location(machine, program, op) || run_offset(machine, program, op) ||
		       run_register(machine, program, op);
	}
}

/*
 * Runs until the row of vaddr is complete. False: there is an instruction that we do not know, or
 * the program is cut off.
 */
static bool machine_run(struct machine *machine, const struct cfi_fde *fde, struct cursor program,
                        uint64_t vaddr)
{
	struct cfi_range *range = &machine->row_range;

	machine->location = fde->start;
	*range = (struct cfi_range){fde->start, fde->end};
	while (cursor_left(&program) > 0) {
		if (!run_one(machine, &program, (uint8_t)cursor_uint(&program, 1)))
			return false;
		if (machine->location > vaddr) {
			if (machine->location < range->end)
				range->end = machine->location;
			break;
		}
		if (machine->location > range->start)
			range->start = machine->location;
	}
	return !program.bad;
}

static bool fits_int32(uint64_t offset)
{
	return offset + 0x80000000 <= UINT32_MAX;
}

/* "breg N, offset": how nearly every expression begins. */
static bool take_breg(struct cursor *expression, uint64_t *reg, uint64_t *offset)
{
	uint8_t op = (uint8_t)cursor_uint(expression, 1);

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		*reg = op - DW_OP_breg0;
	else if (op == DW_OP_bregx)
		*reg = cursor_uleb(expression);
	else
		return false;
	*offset = cursor_sleb(expression);
	return !expression->bad;
}

static bool value_at(struct rule_value *value, uint8_t base, uint64_t offset)
{
	if (!fits_int32(offset))
		return false;
	*value = (struct rule_value){.how = RULE_AT, .base = base, .offset = (int32_t)offset};
	return true;
}

/* False: somewhere that a rule cannot express. */
static bool column_value(const struct column *column, struct rule_value *value)
{
	struct cursor expression;
	uint64_t reg, offset;

	switch (column->how) {
	case COLUMN_UNSET:
	case COLUMN_SAME:
		*value = (struct rule_value){.how = RULE_SAME};
		return true;
	case COLUMN_OFFSET:
		return value_at(value, RULE_CFA, column->value);
	case COLUMN_REGISTER:
		*value = (struct rule_value){.how = RULE_IN, .base = (uint8_t)column->value};
		return column->value < ARCH_REGS;
	case COLUMN_EXPRESSION:
		expression = block_cursor(column->expression, column->value);
		return take_breg(&expression, &reg, &offset) && cursor_left(&expression) == 0 &&
		       reg_base(reg) != RULE_REG && value_at(value, reg_base(reg), offset);
	default:
		return false;
	}
}

/*
 * Recognizes the expression that linkers write for all entries of a PLT at once. An entry has 16
 * bytes, and has pushed a word before its byte N: breg rsp 8; breg rip 0; lit 15; and; lit N; ge;
 * lit 3; shl; plus
 */
static bool is_plt(struct cursor expression, int16_t *from)
{
	static const uint8_t head[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
	static const uint8_t tail[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	const uint8_t *at = cursor_take(&expression, sizeof(head) + 1 + sizeof(tail));

	if (ARCH_MACHINE != EM_X86_64 || !at || cursor_left(&expression) > 0 ||
	    memcmp(at, head, sizeof(head)) || memcmp(at + sizeof(head) + 1, tail, sizeof(tail)))
		return false;
	*from = at[sizeof(head)] - DW_OP_lit0;
	return *from >= 0 && *from < 16;
}

/* "breg; deref" and "breg; deref; plus_uconst N": a CFA, or one a known way off, was saved. */
static bool cfa_expression(struct cursor expression, struct unwind_rule *rule, uint64_t *reg,
                           uint64_t *offset)
{
	uint64_t adjust = 0;

	if (is_plt(expression, &rule->cfa_adjust)) {
		rule->cfa_how = RULE_CFA_PLT;
		*reg = ARCH_SP;
		*offset = 8;
		return true;
	}
	if (!take_breg(&expression, reg, offset))
		return false;
	if (cursor_left(&expression) == 0)
		return true;
	if (cursor_uint(&expression, 1) != DW_OP_deref)
		return false;
	if (cursor_left(&expression) > 0) {
		if (cursor_uint(&expression, 1) != DW_OP_plus_uconst)
			return false;
		adjust = cursor_uleb(&expression);
	}
	rule->cfa_how = RULE_CFA_LOAD;
	rule->cfa_adjust = (int16_t)adjust;
	return cursor_left(&expression) == 0 && !expression.bad && adjust <= INT16_MAX;
}

static bool row_cfa(const struct row *row, struct unwind_rule *rule)
{
	uint64_t reg = row->cfa_reg, offset = row->cfa_offset;

	rule->cfa_how = RULE_CFA_PLAIN;
	if (row->cfa_expression &&
	    !cfa_expression(block_cursor(row->cfa_expression, row->cfa_expression_size), rule, &reg,
	                    &offset))
		return false;
	if (reg >= ARCH_REGS || !fits_int32(offset))
		return false;
	rule->cfa_base = reg_base(reg);
	rule->cfa_reg = (uint8_t)reg;
	rule->cfa_offset = (int32_t)offset;
	return true;
}

static bool row_rule(const struct row *row, struct unwind_rule *rule)
{
	if (row->columns[COLUMN_RA].how == COLUMN_UNDEFINED) {
		rule->type = RULE_ROOT;
		return true;
	}
	rule->type = RULE_FOLLOW;
	if (!row_cfa(row, rule) || !column_value(&row->columns[COLUMN_RA], &rule->ra))
		return false;
	if (rule->ra.how == RULE_SAME && ARCH_RA != ARCH_EXTRA)
		return false;
	if (!column_value(&row->columns[COLUMN_SP], &rule->sp))
		return false;
	if (!column_value(&row->columns[COLUMN_FP], &rule->fp))
		rule->fp = (struct rule_value){.how = RULE_LOST};
	if (!column_value(&row->columns[COLUMN_EXTRA], &rule->extra))
		rule->extra = (struct rule_value){.how = RULE_LOST};
	return true;
}

bool cfi_program_rule(const struct cfi_cie *cie, const struct cfi_fde *fde, uint64_t vaddr,
                      struct unwind_rule *rule, struct cfi_range *range)
{
	struct machine machine;

	machine.cie = cie;
	machine.nr_remembered = 0;
	memset(&machine.row, 0, sizeof(machine.row));
	machine.row.cfa_reg = ARCH_REGS;
	machine.initial = machine.row;
	if (!machine_run(&machine, fde, cie->program, UINT64_MAX))
		return false;
	machine.initial = machine.row;
	if (!machine_run(&machine, fde, fde->program, vaddr))
		return false;
	*range = machine.row_range;
	memset(rule, 0, sizeof(*rule));
	rule->signal = cie->signal;
	return row_rule(&machine.row, rule);
}
