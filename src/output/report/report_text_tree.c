#include "output/report/function_table.h"
#include "output/report/report_columns.h"
#include "output/views/report_rows.h"
#include "output/report/report_text.h"
#include "output/views/report_tree.h"
#include "output/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEVEL 60 /* deeper branches stay there */

/* Trees on their way out. */
struct tree_text {
	FILE *to;
	const struct report_options *options;
	struct profile_trees *of;
	const struct report_tree *tree; /* of the subset that is printed */
	const struct profile_view *view;
	const struct counter_columns *counters;
	struct table *table;
	char *text;
	const char **guides; /* before a name, for each level of branches */
};

static void put_titles(const struct tree_text *tree)
{
	static const char *const titles[] = {
		[PROFILE_ALL] = "call path",
		[PROFILE_CALLERS] = "called by",
		[PROFILE_CALLEES] = "calls",
	};

	if (tree->options->style.quiet)
		return;
	fputs(paint(tree->options, BOLD), tree->to);
	table_titles(tree->table);
	report_counters_titles(tree->to, tree->counters);
	fprintf(tree->to, "  %s%s\n", titles[tree->view->direction], paint(tree->options, PLAIN));
}

/* Two columns a level. */
static void put_guides(const struct tree_text *tree, unsigned level)
{
	fputs(level ? paint(tree->options, DIM) : "", tree->to);
	for (unsigned i = 0; i < level; i++)
		fputs(tree->guides[i], tree->to);
	fputs(level ? paint(tree->options, PLAIN) : "", tree->to);
}

/* Prints all of a row that precedes its name. counters: those in the branch; NULL: blanks. */
static void begin_row(const struct tree_text *tree, uint64_t total, const uint64_t *self,
                      const uint64_t *counters, unsigned level)
{
	table_begin(tree->table);
	put_branch_cells(tree->table, tree->of->profile, tree->view, 0, total, self);
	report_counters_values(tree->to, tree->counters, counters);
	fputs("  ", tree->to);
	put_guides(tree, level);
}

/* "[unsampled] gcc" */
static void put_unsampled(const struct tree_text *tree, const struct report_branch *branch,
                          unsigned level)
{
	const struct profile *profile = tree->of->profile;
	const struct profile_unsampled *unsampled = &profile->unsampled[branch->unsampled];

	begin_row(tree, branch->total, NULL, NULL, level);
	fprintf(tree->to, "%s ", profile_unsampled_name(unsampled));
	text_put(tree->to, trace_command_name(profile->trace, unsampled->comm), 0);
	table_end(tree->table);
}

static void put_sum(const struct tree_text *tree, const struct report_branch *branch,
                    unsigned level)
{
	begin_row(tree, branch->total, NULL, NULL, level);
	fprintf(tree->to, "%s(%u more, small)%s", paint(tree->options, DIM), branch->nr,
	        paint(tree->options, PLAIN));
	table_end(tree->table);
}

/* The module is told where it is all that is known. */
static bool is_label(const struct profile *profile, enum profile_keys key)
{
	return !(key & PROFILE_CLASS_KEYS) &&
	       (key != PROFILE_BY_MODULE || !(profile->config.keys & PROFILE_BY_SYMBOL));
}

static void put_label(const struct tree_text *tree, const struct profile_row *row, unsigned width,
                      bool with_module)
{
	const struct report_options *options = tree->options;
	bool first = true;

	for (unsigned k = 0; k < options->query.nr_keys; k++) {
		if (!is_label(tree->of->profile, options->query.keys[k]))
			continue;
		if (!first)
			fputs("  ", tree->to);
		report_cell_put(
			tree->to, options->query.keys[k],
			report_cell(tree->of->profile, row, options->query.keys[k], tree->text),
			width);
		first = false;
	}
	if (with_module) {
		fprintf(tree->to, "%s (", paint(tree->options, DIM));
		text_put(tree->to,
		         report_cell(tree->of->profile, row, PROFILE_BY_MODULE, tree->text), 0);
		fprintf(tree->to, ")%s", paint(tree->options, PLAIN));
	}
}

static void put_node(const struct tree_text *tree, uint32_t number, unsigned level,
                     bool with_module)
{
	const struct profile_trees *of = tree->tree->of;
	const struct path_node *node = &of->nodes[number];
	const struct profile_row row = {.name = node->name};
	unsigned used = table_width(tree->table) + report_counters_width(tree->counters) +
	                (unsigned)strlen("  ") + 2 * level;

	begin_row(tree, node->total, &of->self[number],
	          profile_counts_of(&of->counts, number)->total, level);
	put_label(tree, &row, room_behind(tree->options, used), with_module);
	table_end(tree->table);
}

/*
 * Whether a branch is shown. The sum of small branches is shown if it is not small itself, or is
 * the whole tree.
 */
static bool told(const struct tree_text *tree, const struct report_branch *branch, bool alone)
{
	if (!branch->nr)
		return true;
	if (tree->options->style.quiet)
		return false;
	return branch->total >= tree->tree->least || (alone && !branch->parent);
}

/*
 * An only child stands below its parent, at the same level: so names are not pushed out of sight by
 * long chains of calls.
 */
static void put_branches(const struct tree_text *tree, uint32_t parent, unsigned level)
{
	size_t nr;
	const struct report_branch *branch = report_tree_children(tree->tree, parent, &nr);
	const char **guide = &tree->guides[level];
	bool fork;

	if (nr && !told(tree, &branch[nr - 1], nr == 1))
		nr--;
	fork = nr > 1 && level < MAX_LEVEL;
	for (; nr; nr--, branch++) {
		if (fork)
			*guide = nr > 1 ? "├ " : "└ ";
		if (branch->node == PROFILE_NONE) {
			(branch->nr ? put_sum : put_unsampled)(tree, branch, level + fork);
			continue;
		}
		put_node(tree, branch->node, level + fork, branch->namesake);
		if (fork)
			*guide = nr > 1 ? "│ " : "  ";
		put_branches(tree, branch->node, level + fork);
	}
}

static bool has_subsets(const struct profile *profile)
{
	return profile->config.keys & PROFILE_CLASS_KEYS;
}

static void put_subset_key(const struct tree_text *tree, const struct profile_subset *subset,
                           enum profile_keys key, bool first)
{
	report_subset_text(tree->of->profile, subset, key, tree->text);
	fputs(first ? "" : ", ", tree->to);
	if (key == PROFILE_BY_CPU)
		fputs("CPU ", tree->to);
	text_put(tree->to, tree->text, 0);
}

static void put_subset_title(const struct tree_text *tree, const struct profile_subset *subset)
{
	const struct profile *profile = tree->of->profile;
	bool first = true;

	fprintf(tree->to, "\n%s", paint(tree->options, BOLD));
	for (unsigned k = 0; k < tree->options->query.nr_keys; k++) {
		if (!(tree->options->query.keys[k] & PROFILE_CLASS_KEYS))
			continue;
		put_subset_key(tree, subset, tree->options->query.keys[k], first);
		first = false;
	}
	if (first)
		put_subset_key(tree, subset, PROFILE_BY_THREAD, true);
	fprintf(tree->to, ": %.2f%%%s\n", percent((double)subset->weight, profile->total),
	        paint(tree->options, PLAIN));
}

/* The tree of a subset; it has a title where there may be others. */
static int put_subset(struct tree_text *tree, uint32_t number)
{
	const struct profile *profile = tree->of->profile;
	struct report_tree branches;
	int err = profile_trees_make(tree->of, number);

	if (!err)
		err = report_tree_init(&branches, tree->of, &tree->options->query, tree->view);
	if (err)
		return err;
	tree->tree = &branches;
	if (has_subsets(profile))
		put_subset_title(tree, &profile->subsets[number]);
	put_branches(tree, 0, 0);
	tree->tree = NULL;
	report_tree_fini(&branches);
	return 0;
}

/* Prints the title of a command's unsampled weight, beside the trees of subsets. */
static void put_unsampled_title(const struct tree_text *tree,
                                const struct profile_unsampled *unsampled)
{
	const struct profile *profile = tree->of->profile;

	fprintf(tree->to, "\n%s", paint(tree->options, BOLD));
	text_put(tree->to, trace_command_name(profile->trace, unsampled->comm), 0);
	fprintf(tree->to, ": %.2f%% %s%s\n",
	        percent((double)profile->rows[unsampled->row].self, profile->total),
	        profile_unsampled_name(unsampled), paint(tree->options, PLAIN));
}

static int put_subsets(struct tree_text *tree)
{
	const struct profile *profile = tree->of->profile;
	uint32_t *order = report_subsets(profile);
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < profile->nr_subsets && !err; i++)
		if (profile->subsets[order[i]].weight)
			err = put_subset(tree, order[i]);
	for (uint32_t i = 0; i < profile->nr_unsampled && tree->view->direction == PROFILE_ALL; i++)
		put_unsampled_title(tree, &profile->unsampled[i]);
	free(order);
	return err;
}

static int put_all(struct tree_text *tree)
{
	const struct profile *profile = tree->of->profile;

	put_titles(tree);
	if (has_subsets(profile))
		return put_subsets(tree);
	return profile->nr_subsets ? put_subset(tree, 0) : 0;
}

/* "callers of f: 12.34% of all (1.234 s), 1.23% ±0.12% in itself (123 samples)" */
static void put_view(const struct tree_text *tree)
{
	const struct profile *profile = tree->of->profile;
	const struct profile_view *view = tree->view;
	char amount[TEXT_SIZE];

	if (tree->options->style.quiet)
		return;
	fputs(view->direction == PROFILE_CALLERS ? "callers of " : "callees of ", tree->to);
	report_cell_put(tree->to, PROFILE_BY_SYMBOL, view->function,
	                room_behind(tree->options, sizeof("callers of")));
	if (!view->total) {
		fputs(": no sample is in it\n", tree->to);
		return;
	}
	text_quantity(amount, (double)view->total,
	              trace_event(profile->trace, profile->config.event)->unit);
	fprintf(tree->to, ": %.2f%% of all (%s), %.2f%% ±%.2f%% in itself (%llu sample%s)\n\n",
	        percent((double)view->total, profile->total), amount,
	        percent((double)view->self, profile->total),
	        percent_error(1.96 * sqrt(view->variance), profile->total),
	        (unsigned long long)view->samples, plural(view->samples));
}

int report_text_tree(FILE *to, const struct profile *profile, const struct report_options *options,
                     const struct profile_view *view)
{
	struct counter_columns counters;
	const char *guides[MAX_LEVEL + 1];
	struct profile_trees of;
	struct table table = {.columns = tree_columns(view->direction), .to = to};
	struct tree_text tree = {
		.to = to,
		.options = options,
		.of = &of,
		.view = view,
		.counters = &counters,
		.table = &table,
		.text = malloc(CELL_SIZE),
		.guides = guides,
	};
	int err = profile_trees_init(&of, profile);

	counter_columns_init(&counters, profile->trace, profile->config.event);
	if (!tree.text)
		err = -ENOMEM;
	if (!err && view->direction != PROFILE_ALL)
		put_view(&tree);
	if (!err && (view->direction == PROFILE_ALL || view->total))
		err = put_all(&tree);
	profile_trees_fini(&of);
	free(tree.text);
	return err;
}
