#include "symbolize/unwind/epilogue.h"
#include "symbolize/unwind/insn.h"

#include <string.h>

#if defined(__x86_64__)

#define MAX_BYTES 65536 /* of code, for one rule */
#define MAX_JUMPS 64
#define CODE_SIZE 512

/*
 * A word, in terms of what the registers hold at first: that of one of them, plus by[0]; or what is
 * in memory there, plus by[1]; or in memory there.
 */
enum { DEPTHS = 3 };

struct value {
	uint8_t reg, depth;
	bool lost;
	int32_t by[DEPTHS];
};

struct sweep {
	epilogue_read_fn *read;
	void *arg;
	uint64_t addr, left; /* bytes that may be looked at */
	unsigned nr_jumps;
	uint64_t jumps[MAX_JUMPS]; /* from where */
	uint64_t straight;         /* up to here the way was; UINT64_MAX: all of it */
	bool branched;
	struct value regs[INSN_REGS];
	uint64_t changed[INSN_REGS]; /* where each first was; UINT64_MAX: it was not */
	struct saved {
		struct value at, what;
	} saved[3], pushed[3]; /* from now on: rbx, rbp, and a stack pointer */
	uint64_t code_addr;
	size_t code_size;
	uint8_t code[CODE_SIZE];
};

static const struct value lost = {.lost = true};

static struct value value_add(struct value value, int32_t by)
{
	if (__builtin_add_overflow(value.by[value.depth], by, &value.by[value.depth]))
		return lost;
	return value;
}

static bool value_equal(const struct value *a, const struct value *b)
{
	return !a->lost && !b->lost && a->reg == b->reg && a->depth == b->depth &&
	       !memcmp(a->by, b->by, sizeof(a->by));
}

static bool is_first(const struct value *value, uint8_t reg)
{
	return value_equal(value, &(struct value){.reg = reg});
}

/*
 * Tells whether a register may keep the stack pointer: registers that a function preserves, and
 * r10, which GCC uses in functions that align the stack.
 */
static bool may_keep(uint8_t reg)
{
	return reg == INSN_RSP || reg == INSN_RBP || reg == INSN_RBX || reg == 10 ||
	       (reg >= 12 && reg < INSN_REGS);
}

/* Returns the value that is in memory at an address. */
static struct value load(const struct sweep *sweep, struct value at)
{
	for (size_t i = 0; i < sizeof(sweep->saved) / sizeof(sweep->saved[0]); i++)
		if (value_equal(&at, &sweep->pushed[i].at))
			return sweep->pushed[i].what;
		else if (value_equal(&at, &sweep->saved[i].at))
			return sweep->saved[i].what;
	if (at.lost || at.depth + 1 == DEPTHS)
		return lost;
	at.depth++;
	return at;
}

static void store(struct saved saved[3], uint8_t reg, const struct value *what, struct value at)
{
	if (reg == INSN_RBX && is_first(what, reg))
		saved[0] = (struct saved){at, *what};
	else if (reg == INSN_RBP && is_first(what, reg))
		saved[1] = (struct saved){at, *what};
	else if (!what->lost && !what->depth && (what->reg == INSN_RSP || may_keep(reg)))
		saved[2] = (struct saved){at, *what};
}

static void set(struct sweep *sweep, uint8_t reg, struct value value)
{
	if (reg >= INSN_REGS)
		return;
	sweep->regs[reg] = value;
	if (sweep->changed[reg] == UINT64_MAX)
		sweep->changed[reg] = sweep->addr;
}

static void move_sp(struct sweep *sweep, int32_t by)
{
	set(sweep, INSN_RSP, value_add(sweep->regs[INSN_RSP], by));
}

static void push(struct sweep *sweep, uint8_t from)
{
	move_sp(sweep, -8);
	if (from < INSN_REGS && from != INSN_RSP)
		store(sweep->pushed, from, &sweep->regs[from], sweep->regs[INSN_RSP]);
}

static void pop(struct sweep *sweep, uint8_t to)
{
	struct value top = load(sweep, sweep->regs[INSN_RSP]);

	move_sp(sweep, 8);
	set(sweep, to, top);
}

static void execute(struct sweep *sweep, const struct insn *insn)
{
	const struct value *regs = sweep->regs;

	switch (insn->type) {
	case INSN_PUSH:
		push(sweep, insn->from);
		break;
	case INSN_POP:
		pop(sweep, insn->to);
		break;
	case INSN_MOVE:
		set(sweep, insn->to, regs[insn->from]);
		break;
	case INSN_LOAD:
		set(sweep, insn->to, load(sweep, value_add(regs[insn->from], insn->value)));
		break;
	case INSN_STORE:
		store(sweep->saved, insn->from, &regs[insn->from],
		      value_add(regs[insn->to], insn->value));
		break;
	case INSN_ADD:
		set(sweep, insn->to, value_add(regs[insn->from], insn->value));
		break;
	case INSN_MASK: /* a masked stack pointer is a new base */
		set(sweep, insn->to,
		    insn->to == INSN_RSP ? (struct value){.reg = INSN_REGS} : lost);
		break;
	case INSN_LEAVE:
		set(sweep, INSN_RSP, regs[INSN_RBP]);
		pop(sweep, INSN_RBP);
		break;
	default:
		break;
	}
}

/* Decodes the instruction at the sweep's address. Returns its size, or 0 if there is none. */
static size_t fetch(struct sweep *sweep, struct insn *insn)
{
	uint64_t at = sweep->addr - sweep->code_addr;

	if (at >= sweep->code_size || sweep->code_size - at < INSN_MAX) {
		sweep->code_addr = sweep->addr;
		sweep->code_size =
			sweep->read(sweep->arg, sweep->addr, sweep->code, sizeof(sweep->code));
		at = 0;
	}
	return insn_read(sweep->code + at, sweep->code_size - at, insn);
}

/* Takes a jump. Each jump is taken once: a loop has another way out. */
static void jump(struct sweep *sweep, int32_t by)
{
	for (unsigned i = 0; i < sweep->nr_jumps; i++)
		if (sweep->jumps[i] == sweep->addr)
			return;
	if (sweep->nr_jumps == MAX_JUMPS)
		return;
	sweep->jumps[sweep->nr_jumps++] = sweep->addr;
	if (sweep->straight == UINT64_MAX)
		sweep->straight = sweep->addr;
	sweep->addr += (uint64_t)by;
}

/* The last branch that was not taken, and the state there. */
struct branch {
	uint64_t from, to; /* to 0: none */
	bool straight;     /* no jump was taken before */
	struct value regs[INSN_REGS];
	uint64_t last;       /* where the one that was taken last led; 0: none was */
	unsigned last_jumps; /* that had been taken then */
};

static void remember(const struct sweep *sweep, struct branch *branch, uint64_t to)
{
	branch->from = sweep->addr;
	branch->to = to;
	branch->straight = sweep->straight == UINT64_MAX;
	memcpy(branch->regs, sweep->regs, sizeof(branch->regs));
}

/*
 * Takes the branch after the path without it has failed. Returns false if it was taken before
 * without another jump since, as it would lead here for ever.
 */
static bool take(struct sweep *sweep, struct branch *branch)
{
	if (!branch->to || (branch->to == branch->last && sweep->nr_jumps == branch->last_jumps))
		return false;
	branch->last = branch->to;
	branch->last_jumps = sweep->nr_jumps;
	if (branch->straight)
		sweep->straight = branch->from;
	sweep->addr = branch->to;
	memcpy(sweep->regs, branch->regs, sizeof(sweep->regs));
	branch->to = 0;
	return true;
}

/* Follows the code until the function returns. Returns the type of the last instruction. */
static enum insn_type run(struct sweep *sweep)
{
	struct branch branch = {0};
	struct insn insn;
	size_t size;

	while ((size = fetch(sweep, &insn)) && size <= sweep->left) {
		sweep->left -= size;
		if (insn.type == INSN_RETURN)
			return INSN_RETURN;
		if (insn.type == INSN_NONE || insn.type == INSN_HALT) {
			if (take(sweep, &branch))
				continue;
			return insn.type;
		}
		if (insn.type == INSN_BRANCH) {
			sweep->branched = true;
			remember(sweep, &branch, sweep->addr + size + (uint64_t)insn.value);
		}
		execute(sweep, &insn);
		if (insn.type == INSN_JUMP)
			jump(sweep, insn.value);
		sweep->addr += size;
	}
	return INSN_NONE;
}

/* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi as the processor counts them. */
static uint8_t dwarf_number(uint8_t reg)
{
	static const uint8_t numbers[8] = {0, 2, 1, 3, 7, 6, 4, 5};

	return reg < sizeof(numbers) ? numbers[reg] : reg;
}

static uint8_t base_of(uint8_t reg)
{
	return reg == INSN_RSP   ? RULE_SP
	       : reg == INSN_RBP ? RULE_FP
	       : reg == INSN_RBX ? RULE_EXTRA
	                         : RULE_REG;
}

static bool tell_cfa(const struct value *sp, struct unwind_rule *rule)
{
	int32_t last = sp->by[sp->depth];

	if (sp->lost || sp->depth > 1 || !may_keep(sp->reg) || last < INT16_MIN ||
	    last > INT32_MAX - 8 || (sp->depth == 1 && last > INT16_MAX - 8))
		return false;
	*rule = (struct unwind_rule){
		.type = RULE_FOLLOW,
		.cfa_how = sp->depth ? RULE_CFA_LOAD : RULE_CFA_PLAIN,
		.cfa_base = base_of(sp->reg),
		.cfa_reg = dwarf_number(sp->reg),
		.cfa_adjust = (int16_t)(sp->depth ? last + 8 : 0),
		.cfa_offset = sp->depth ? sp->by[0] : last + 8,
		.ra = {.how = RULE_AT, .base = RULE_CFA, .offset = -8},
	};
	return true;
}

static struct rule_value tell_value(const struct value *sp, const struct value *value, uint8_t reg)
{
	const struct rule_value none = {.how = RULE_LOST};
	bool pushed_later = value->reg == INSN_RSP && value->depth == 1 && value->by[0] < 0;

	if (value->lost || (value->depth && value->by[value->depth]))
		return none;
	if (pushed_later || is_first(value, reg))
		return (struct rule_value){.how = RULE_SAME};
	if (value->depth == sp->depth + 1 && value->reg == sp->reg &&
	    (!sp->depth || value->by[0] == sp->by[0]))
		return (struct rule_value){.how = RULE_AT,
		                           .base = RULE_CFA,
		                           .offset = value->by[sp->depth] - sp->by[sp->depth] - 8};
	if (value->depth == 1 && base_of(value->reg) != RULE_REG)
		return (struct rule_value){
			.how = RULE_AT, .base = base_of(value->reg), .offset = value->by[0]};
	return none;
}

/*
 * Up to where the rule holds: as long as what it starts from does not change. A register that is
 * saved only now is in memory behind that.
 */
static uint64_t rule_end(const struct sweep *sweep, const struct unwind_rule *rule, uint64_t addr)
{
	const uint64_t ends[] = {sweep->straight == UINT64_MAX ? sweep->addr : sweep->straight,
	                         sweep->changed[INSN_RSP],
	                         sweep->changed[sweep->regs[INSN_RSP].reg]};
	uint64_t end = UINT64_MAX - 1;
	size_t i;

	if ((rule->fp.how == RULE_SAME && sweep->changed[INSN_RBP] != UINT64_MAX) ||
	    (rule->extra.how == RULE_SAME && sweep->changed[INSN_RBX] != UINT64_MAX) ||
	    (rule->fp.how == RULE_AT && rule->fp.base != RULE_CFA) ||
	    (rule->extra.how == RULE_AT && rule->extra.base != RULE_CFA))
		return addr + 1;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i] >= addr && ends[i] < end) /* else it is behind a jump */
			end = ends[i];
	/* The instruction that changes it has the rule, too. */
	return end + 1;
}

bool epilogue_rule(epilogue_read_fn *read, void *arg, uint64_t addr, struct unwind_rule *rule,
                   uint64_t *end)
{
	struct sweep sweep = {
		.read = read,
		.arg = arg,
		.addr = addr,
		.left = MAX_BYTES,
		.straight = UINT64_MAX,
		.saved = {{lost, lost}, {lost, lost}, {lost, lost}},
		.pushed = {{lost, lost}, {lost, lost}, {lost, lost}},
	};
	const struct value *sp = &sweep.regs[INSN_RSP];
	enum insn_type type;

	for (unsigned reg = 0; reg < INSN_REGS; reg++) {
		sweep.regs[reg].reg = (uint8_t)reg;
		sweep.changed[reg] = UINT64_MAX;
	}
	type = run(&sweep);
	*end = addr + 1;
	if (type == INSN_NONE) { /* nor from anywhere on the way so far */
		*end = (sweep.straight == UINT64_MAX ? sweep.addr : sweep.straight) + 1;
		return false;
	}
	if (type == INSN_HALT && !sweep.branched) {
		*rule = (struct unwind_rule){.type = RULE_ROOT};
		return true;
	}
	if (type != INSN_RETURN || !tell_cfa(sp, rule))
		return false;
	rule->fp = tell_value(sp, &sweep.regs[INSN_RBP], INSN_RBP);
	rule->extra = tell_value(sp, &sweep.regs[INSN_RBX], INSN_RBX);
	*end = rule_end(&sweep, rule, addr);
	return true;
}

#else

bool epilogue_rule(epilogue_read_fn *read, void *arg, uint64_t addr, struct unwind_rule *rule,
                   uint64_t *end)
{
	(void)read;
	(void)arg;
	(void)addr;
	(void)rule;
	(void)end;
	return false;
}

#endif
