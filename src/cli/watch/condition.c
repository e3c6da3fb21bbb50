#include "cli/watch/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SECONDS 1e9

/* The text that is left, and where names are copied to. */
struct parser {
	const char *text, *at;
	char *strings;
	struct condition *condition;
};

struct unit {
	const char *name;
	double factor;
};

enum metric_form { FORM_PLAIN, FORM_NAME, FORM_PAIR };

static const struct unit counts[] = {{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {NULL, 0}};
static const struct unit sizes[] = {
	{"K", 1 << 10}, {"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {NULL, 0}};
static const struct unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
                                    {"m", 60},    {"h", 3600},  {NULL, 0}};

static const struct metric {
	const char *name;
	const struct unit *units;
	enum metric_form form;
	bool percent, limit; /* these may be given */
} metrics[NR_METRICS] = {
	[METRIC_RATE] = {"rate", counts, FORM_NAME, false, false},
	[METRIC_SHARE] = {"share", counts, FORM_NAME, true, false},
	[METRIC_RATIO] = {"ratio", counts, FORM_PAIR, true, false},
	[METRIC_MPI] = {"mpi", counts, FORM_PLAIN, true, false},
	[METRIC_TIME] = {"time", times, FORM_NAME, false, false},
	[METRIC_VALUE] = {"value", counts, FORM_NAME, false, false},
	[METRIC_RSS] = {"rss", sizes, FORM_PLAIN, false, true},
	[METRIC_CPU] = {"cpu", counts, FORM_PLAIN, true, true},
};

/* --- words ------------------------------------------------------------------------------------ */

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static bool take(struct parser *parser, const char *what)
{
	size_t size = strlen(what);

	skip_blanks(parser);
	if (strncmp(parser->at, what, size) != 0)
		return false;
	parser->at += size;
	return true;
}

/* Returns the length of the word that begins here. */
static size_t word_size(const char *at)
{
	size_t size = 0;

	while (isalpha((unsigned char)at[size]))
		size++;
	return size;
}

static bool take_word(struct parser *parser, const char *word)
{
	skip_blanks(parser);
	return word_size(parser->at) == strlen(word) && take(parser, word);
}

/* Copies a text without the blanks around it. */
static const char *copy(struct parser *parser, const char *from, const char *to)
{
	char *copied = parser->strings;

	while (from < to && isspace((unsigned char)*from))
		from++;
	while (from < to && isspace((unsigned char)to[-1]))
		to--;
	memcpy(copied, from, (size_t)(to - from));
	copied[to - from] = '\0';
	parser->strings += to - from + 1;
	return copied;
}

/* Digits with a point: neither "inf", "0x1" nor "-1". */
static bool take_number(struct parser *parser, double *number)
{
	char *end;

	skip_blanks(parser);
	if (!isdigit((unsigned char)*parser->at) && *parser->at != '.')
		return false;
	if (parser->at[0] == '0' && (parser->at[1] == 'x' || parser->at[1] == 'X'))
		return false;
	*number = strtod(parser->at, &end);
	if (end == parser->at || !isfinite(*number))
		return false;
	parser->at = end;
	return true;
}

/* A unit stands at once behind the number. */
static bool take_unit(struct parser *parser, const struct unit *units, double *number)
{
	size_t size = word_size(parser->at);

	for (; units->name && size; units++)
		if (strlen(units->name) == size && !strncmp(parser->at, units->name, size)) {
			*number *= units->factor;
			parser->at += size;
			return true;
		}
	return !size;
}

static const char *take_duration(struct parser *parser, double *seconds)
{
	const char *start;

	skip_blanks(parser);
	start = parser->at;
	if (take_number(parser, seconds) && take_unit(parser, times, seconds) && *seconds > 0 &&
	    *seconds <= MAX_SECONDS)
		return NULL;
	parser->at = start;
	return "a time is missing, as in 2s, 500ms or 10m";
}

/* --- terms ------------------------------------------------------------------------------------ */

/* Returns the closing parenthesis; NULL: there is none. */
static const char *find_end(const char *at)
{
	for (unsigned depth = 0; *at; at++) {
		if (*at == ')' && !depth--)
			return at;
		depth += *at == '(';
	}
	return NULL;
}

/* Returns the comma between two events; those in cpu/event=1,umask=2/ do not count. */
static const char *find_comma(const char *at, const char *end)
{
	bool inside = false;

	for (; at < end && (inside || *at != ','); at++)
		inside ^= *at == '/';
	return at < end ? at : NULL;
}

static bool is_blank(const char *text)
{
	return !*text;
}

static const char *parse_names(struct parser *parser, struct condition_term *term)
{
	const enum metric_form form = metrics[term->metric].form;
	const char *start, *end, *comma = NULL;

	if (form == FORM_PLAIN)
		return NULL;
	if (!take(parser, "("))
		return "a name in parentheses is missing";
	start = parser->at;
	end = find_end(start);
	if (!end)
		return "')' is missing for what begins here";
	if (form == FORM_PAIR) {
		comma = find_comma(start, end);
		if (!comma)
			return "ratio takes two events, with a comma between them";
		term->other = copy(parser, comma + 1, end);
	}
	term->name = copy(parser, start, comma ? comma : end);
	if (is_blank(term->name) || (comma && is_blank(term->other)))
		return "a name is missing";
	parser->at = end + 1;
	return NULL;
}

static const char *parse_metric(struct parser *parser, struct condition_term *term)
{
	skip_blanks(parser);
	for (unsigned m = 0; m < NR_METRICS; m++)
		if (take_word(parser, metrics[m].name)) {
			term->metric = m;
			return parse_names(parser, term);
		}
	return "a metric is missing: rate(EVENT), share(FUNCTION), ratio(EVENT,EVENT), mpi, "
	       "time(REGION), value(NAME), rss or cpu";
}

static const char *parse_percent(struct parser *parser, struct condition_term *term)
{
	const struct metric *metric = &metrics[term->metric];
	const char *start = parser->at;

	term->bound /= 100;
	if (metric->limit && take_word(parser, "of")) {
		term->bound_type = BOUND_LIMIT;
		return take_word(parser, "limit") ? NULL : "'limit' is missing";
	}
	if (metric->percent)
		return NULL;
	parser->at = metric->limit ? start : start - 1;
	return metric->limit ? "'of limit' is missing behind the percentage"
	                     : "this metric is no share: it takes no percentage";
}

static const char *parse_bound(struct parser *parser, struct condition_term *term)
{
	const struct metric *metric = &metrics[term->metric];
	const char *start;

	if (!take_number(parser, &term->bound))
		return "a number is missing";
	if (take(parser, "*")) {
		term->bound_type = BOUND_MEDIAN;
		return take_word(parser, "median") ? NULL : "'median' is missing";
	}
	if (take(parser, "%"))
		return parse_percent(parser, term);
	start = parser->at;
	if (!isspace((unsigned char)start[-1]) && !take_unit(parser, metric->units, &term->bound))
		return metric->units == times ? "an unknown unit: ns, us, ms, s, m and h are known"
		       : metric->units == sizes ? "an unknown unit: K, M and G are known"
		                                : "an unknown unit: k, M and G are known";
	if (term->metric == METRIC_RATE)
		take(parser, "/s");
	return NULL;
}

/* Whether no share can be so much: somebody may have left the % out. */
static bool is_beyond_all(const struct condition_term *term)
{
	return (term->metric == METRIC_SHARE || term->metric == METRIC_MPI) &&
	       term->bound_type == BOUND_NUMBER && term->bound > 1;
}

static const char *parse_term(struct parser *parser, struct condition_term *term)
{
	const char *wrong = parse_metric(parser, term), *bound;
	double seconds = 0;

	if (wrong)
		return wrong;
	term->below = take(parser, "<");
	if (!term->below && !take(parser, ">"))
		return "'<' or '>' is missing";
	bound = parser->at;
	wrong = parse_bound(parser, term);
	if (!wrong && is_beyond_all(term)) {
		parser->at = bound;
		wrong = "a share is at most 100 %, as in 20%";
	}
	if (!wrong && take_word(parser, "for"))
		wrong = take_duration(parser, &seconds);
	term->for_ns = (uint64_t)(seconds * 1e9);
	return wrong;
}

static const char *parse_terms(struct parser *parser)
{
	struct condition *condition = parser->condition;
	const char *wrong;

	do {
		if (condition->nr_terms == CONDITION_MAX_TERMS)
			return "a condition has at most 8 terms";
		wrong = parse_term(parser, &condition->terms[condition->nr_terms++]);
	} while (!wrong && take_word(parser, "and"));
	return wrong;
}

/* --- actions ---------------------------------------------------------------------------------- */

/* Returns the text up to the next action. */
static const char *take_text(struct parser *parser)
{
	const char *start = parser->at, *end = strchr(start, ',');

	if (!end)
		end = start + strlen(start);
	parser->at = end;
	return copy(parser, start, end);
}

/* A command may have commas, so it is the last action. */
static const char *parse_command(struct parser *parser, struct condition_action *action)
{
	const char *start = parser->at;

	if (!take(parser, "="))
		return "'=' and a command are missing";
	action->text = copy(parser, parser->at, parser->at + strlen(parser->at));
	if (is_blank(action->text))
		return "a command is missing";
	parser->at = start + strlen(start);
	return NULL;
}

static const char *parse_detail(struct parser *parser, struct condition_action *action)
{
	const char *wrong;

	action->seconds = 1;
	if (!take(parser, "="))
		return NULL;
	wrong = take_duration(parser, &action->seconds);
	if (wrong || !take(parser, "@"))
		return wrong;
	return take_number(parser, &action->hz) && action->hz > 0 ? NULL
	                                                          : "a rate in Hz is missing";
}

static const char *parse_action(struct parser *parser, struct condition_action *action)
{
	if (take_word(parser, "snapshot")) {
		action->type = ACTION_SNAPSHOT;
	} else if (take_word(parser, "stop")) {
		action->type = ACTION_STOP;
	} else if (take_word(parser, "detail")) {
		action->type = ACTION_DETAIL;
		return parse_detail(parser, action);
	} else if (take_word(parser, "pause")) {
		action->type = ACTION_PAUSE;
		return take(parser, "=") ? take_duration(parser, &action->seconds) : NULL;
	} else if (take_word(parser, "mark")) {
		action->type = ACTION_MARK;
		action->text = take(parser, "=") ? take_text(parser) : NULL;
	} else if (take_word(parser, "run")) {
		action->type = ACTION_RUN;
		return parse_command(parser, action);
	} else {
		return "an action is missing: snapshot, detail, pause, stop, mark or run=COMMAND";
	}
	return NULL;
}

static const char *parse_actions(struct parser *parser)
{
	struct condition *condition = parser->condition;
	const char *wrong;

	do {
		if (condition->nr_actions == CONDITION_MAX_ACTIONS)
			return "a condition has at most 8 actions";
		wrong = parse_action(parser, &condition->actions[condition->nr_actions++]);
	} while (!wrong && take(parser, ","));
	skip_blanks(parser);
	return wrong || !*parser->at ? wrong : "',' or the end is missing";
}

/* --- conditions ------------------------------------------------------------------------------- */

static const char *check_text(const char *text, size_t *at)
{
	*at = 0;
	for (; text[*at]; ++*at) {
		if (iscntrl((unsigned char)text[*at]))
			return "a control character";
		if (*at == CONDITION_MAX_TEXT)
			return "a condition has at most 256 bytes";
	}
	return NULL;
}

const char *condition_parse(struct condition *condition, const char *text, size_t *at)
{
	struct parser parser = {.text = text, .at = text, .condition = condition};
	const char *wrong = check_text(text, at);

	*condition = (struct condition){0};
	if (wrong)
		return wrong;
	*at = 0;
	condition->text = strdup(text);
	condition->strings = malloc(2 * strlen(text) + 1);
	parser.strings = condition->strings;
	if (!condition->text || !condition->strings)
		return "there is no memory";
	wrong = parse_terms(&parser);
	if (!wrong && !take(&parser, ":"))
		wrong = "':' and an action are missing";
	if (!wrong)
		wrong = parse_actions(&parser);
	skip_blanks(&parser);
	*at = (size_t)(parser.at - text);
	return wrong;
}

void condition_fini(struct condition *condition)
{
	free(condition->text);
	free(condition->strings);
	*condition = (struct condition){0};
}

bool condition_has_action(const struct condition *condition, enum condition_action_type type)
{
	for (unsigned i = 0; i < condition->nr_actions; i++)
		if (condition->actions[i].type == type)
			return true;
	return false;
}
