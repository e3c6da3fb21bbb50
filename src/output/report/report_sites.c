/* Calls by the place in the code that made them. */
#include "output/report/job_tables.h"
#include "output/report/report_head.h"
#include "output/report/report_text.h"
#include "output/text/json_writer.h"

#include <string.h>

#define MAX_CALL_WIDTH 32 /* of text */

struct places {
	struct job job; /* its ranks */
	struct call_sites sites;
};

static int places_init(struct places *places, const struct trace *trace,
                       const struct view_query *query)
{
	int err = job_init_ranks(&places->job, trace, query);

	places->sites = (struct call_sites){0};
	return err ? err : call_sites_init(&places->sites, trace, query);
}

static void places_fini(struct places *places)
{
	call_sites_fini(&places->sites);
	job_fini(&places->job);
}

/* --- text ------------------------------------------------------------------------------------- */

static int put_head(FILE *to, const struct places *places, const char *name,
                    const struct report_options *options)
{
	const struct call_sites *sites = &places->sites;
	struct warning_text warning = {.to = to, .options = options};
	int err;

	if (!has_head(options))
		return 0;
	report_head_run(to, sites->trace, name);
	job_warnings(&places->job, report_warning_text, &warning);
	err = report_head_calls_part(to, sites->trace, sites->selection);
	fprintf(to, "\n%scalls by the place that made them%s%s\n\n", paint(options, BOLD),
	        sites->thinned ? "" : ", with exact times", paint(options, PLAIN));
	put_call_completeness(to, sites->trace, sites->exact, sites->thinned);
	return err;
}

/* The longest name of a call, but for very long ones. */
static unsigned call_width(const struct call_sites *sites, uint32_t limit)
{
	unsigned width = MIN_COLUMN;

	for (uint32_t i = 0; i < sites->nr && i < limit; i++) {
		size_t size = strlen(trace_region_name(sites->trace, sites->rows[i].region));

		if (size > width && size <= MAX_CALL_WIDTH)
			width = (unsigned)size;
	}
	return width;
}

static void put_rows(FILE *to, const struct call_sites *sites, const struct report_options *options)
{
	const uint32_t limit = options->query.limit;
	struct column columns[NR_SITE_COLUMNS];
	struct table table = {.columns = columns, .to = to, .hidden = hidden_error(sites->thinned)};

	memcpy(columns, site_columns, sizeof(columns));
	columns[SITE_CALL_COLUMN].width = call_width(sites, limit);

	if (!options->style.quiet) {
		table_titles(&table);
		fputc('\n', to);
	}
	for (uint32_t i = 0; i < sites->nr && i < limit; i++)
		put_site_row(&table, sites, &sites->rows[i], options);
	report_text_rest(to, options, sites->nr, "place");
}

int report_sites_text(FILE *to, const struct trace *trace, const char *name,
                      const struct report_options *options)
{
	struct places places;
	int err = places_init(&places, trace, &options->query);

	if (!err)
		err = put_head(to, &places, name, options);
	if (!err)
		put_rows(to, &places.sites, options);
	places_fini(&places);
	return err;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_json(struct json_writer *json, const struct places *places, uint32_t limit)
{
	struct table table = {.columns = site_columns, .json = json};

	json_begin_list(json, "warnings");
	job_warnings(&places->job, json_append_text, json);
	json_end_list(json);
	json_begin_list(json, "sites");
	for (uint32_t i = 0; i < places->sites.nr && i < limit; i++)
		put_site_row(&table, &places->sites, &places->sites.rows[i], NULL);
	json_end_list(json);
}

int report_sites_json(FILE *to, const struct trace *trace, const struct view_query *query)
{
	struct json_writer json = {.to = to};
	struct places places;
	int err = places_init(&places, trace, query);

	if (!err) {
		json_begin(&json, NULL);
		put_json(&json, &places, query->limit);
		json_end(&json);
		fputc('\n', to);
	}
	places_fini(&places);
	return err;
}
