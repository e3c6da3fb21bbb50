#include "record/branch_stack.h"

unsigned branch_stack(const struct record *record, unsigned remembered, uint64_t *addresses,
                      unsigned max, bool *cut)
{
	const struct perf_branch_entry *branches = record->sample.branches;
	size_t nr_branches = record->sample.nr_branches, taken = 0;
	bool user = false;
	unsigned nr = 0;

	for (size_t i = 0; i < record->sample.chain_size && nr < max && !user; i++) {
		uint64_t address = record->sample.chain[i];

		if (record_is_mark(address))
			continue;
		user = !(address >> 63);
		addresses[nr++] = address;
	}
	for (; user && taken < nr_branches && nr < max; taken++)
		addresses[nr++] = branches[taken].from;
	*cut = nr_branches >= remembered || taken < nr_branches;
	return nr;
}
