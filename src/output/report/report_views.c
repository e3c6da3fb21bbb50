#include "output/report/report_views.h"

#include <assert.h>

static void choose_threads(struct view_query *query)
{
	query->per_thread = true;
}

static void choose_tree(struct view_query *query)
{
	query->tree = true;
}

static void choose_callers(struct view_query *query)
{
	query->direction = PROFILE_CALLERS;
}

static void choose_callees(struct view_query *query)
{
	query->direction = PROFILE_CALLEES;
}

static void choose_code(struct view_query *query)
{
	query->annotate = true;
}

static const struct view mpi_by_site = {
	.text = report_sites_text,
	.json = report_sites_json,
	.nothing = "has no place that made a call of MPI; adaptrace record --mpi records "
		   "them with the calls",
};

static const struct view views[] = {
	{.takes = VIEW_ONLY | VIEW_SORT | VIEW_LIMIT | VIEW_SHARE,
         .text = report_text,
         .json = report_json},
	{.option = "per-thread",
         .what = "a table for every thread",
         .takes = VIEW_ONLY | VIEW_SORT | VIEW_LIMIT | VIEW_SHARE,
         .choose = choose_threads,
         .text = report_text,
         .json = report_json},
	{.option = "tree",
         .what = "call paths, from the roots down",
         .takes = VIEW_ONLY | VIEW_SORT | VIEW_DEPTH | VIEW_SHARE,
         .choose = choose_tree,
         .text = report_text,
         .json = report_json},
	{.option = "callers",
         .argument = "NAME",
         .what = "what called a function, as a tree",
         .takes = VIEW_ONLY | VIEW_SORT | VIEW_DEPTH | VIEW_SHARE,
         .choose = choose_callers,
         .text = report_text,
         .json = report_json},
	{.option = "callees",
         .argument = "NAME",
         .what = "what a function called, as a tree",
         .takes = VIEW_ONLY | VIEW_SORT | VIEW_DEPTH | VIEW_SHARE,
         .choose = choose_callees,
         .text = report_text,
         .json = report_json},
	{.option = "mpi",
         .what = "time in MPI by rank, call and caller, and who sends to whom",
         .alone = true,
         .takes = VIEW_LIMIT | VIEW_SITE,
         .by_site = &mpi_by_site,
         .text = report_mpi_text,
         .json = report_mpi_json,
         .nothing = "contains nothing about MPI: no calls, and no samples in its functions; "
                    "adaptrace record --mpi records calls"},
	{.option = "per-rank",
         .what = "how evenly ranks share the work, by function",
         .alone = true,
         .takes = VIEW_LIMIT,
         .text = report_ranks_text,
         .json = report_ranks_json,
         .nothing = "has no ranks; adaptrace merge joins the traces of all ranks"},
	{.option = "iterations",
         .what = "iterations of the program's loops, from its calls",
         .alone = true,
         .takes = VIEW_ONLY | VIEW_LIMIT,
         .text = report_iterations_text,
         .json = report_iterations_json,
         .nothing = "contains no calls; adaptrace record --mpi, or regions of adaptrace.h, give "
                    "them"},
	{.option = "fold",
         .phase = "PHASE",
         .what = "inside an iteration of the program's steps, or of the loop with this number in "
                 "--iterations",
         .alone = true,
         .takes = VIEW_ONLY | VIEW_LIMIT | VIEW_SVG,
         .text = report_fold_text,
         .json = report_fold_json,
         .svg = report_fold_svg,
         .nothing = "has no such loop; adaptrace report --iterations lists the loops",
         .no_samples = "has no sample that is shown in an iteration of this loop that takes about "
                       "as long as most; record for longer, or with a higher -F"},
	{.option = "openmp",
         .what = "parallel regions of OpenMP: time, idle time, waits and imbalance",
         .alone = true,
         .takes = VIEW_LIMIT,
         .text = report_openmp_text,
         .json = report_openmp_json,
         .nothing = "contains no parallel regions; adaptrace record --openmp records them"},
	{.option = "annotate",
         .argument = "NAME",
         .what = "a function's hot lines and instructions",
         .alone = true,
         .takes = VIEW_ONLY | VIEW_LIMIT,
         .choose = choose_code,
         .text = report_text,
         .json = report_json},
};

#define NR_VIEWS (sizeof(views) / sizeof(*views))

static_assert(NR_VIEWS <= MAX_VIEWS, "the options of all views have room");

const struct view *view_at(unsigned index)
{
	return index < NR_VIEWS ? &views[index] : NULL;
}
