/*
 * adaptrace doctor: what works on this machine for this user, what does not, why, and the command
 * that would change it.
 */
#include "cli/commands.h"
#include "cli/foreign_options.h"
#include "cli/doctor_findings.h"
#include "cli/leftovers.h"
#include "cli/plain_text.h"
#include "cli/open_trace.h"
#include "cli/say.h"
#include "output/text/json_writer.h"
#include "output/text/text.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct doctor_options {
	bool json;
};

static const char *state_name(enum finding_state state)
{
	static const char *const names[] = {"works", "limited", "missing"};

	return names[state];
}

/* Does not repeat the text of an earlier finding: it refers to that one. */
static void print_finding(const struct findings *findings, size_t number)
{
	const struct finding *finding = &findings->list[number];

	printf("%-7s  %s: ", state_name(finding->state), finding->name);
	for (size_t i = 0; i < number; i++)
		if (!strcmp(findings->list[i].says, finding->says) &&
		    !strcmp(findings->list[i].way_out, finding->way_out)) {
			printf("as with %s\n", findings->list[i].name);
			return;
		}
	printf("%s%s%s\n", finding->says, *finding->way_out ? "; " : "", finding->way_out);
}

/* A command in a way out: "as root: COMMAND, or: COMMAND". */
struct command_text {
	const char *at;
	int size;
};

/* The first command of a text; false: it has none. */
static bool find_command(const char *text, struct command_text *command)
{
	static const char *const marks[] = {"as root: ", "or: "};
	const char *start = NULL, *end;

	for (size_t i = 0; i < 2; i++) {
		const char *mark = strstr(text, marks[i]);

		if (mark && (!start || mark < start))
			start = mark + strlen(marks[i]);
	}
	if (!start)
		return false;
	end = strstr(start, ", or: ");
	*command = (struct command_text){start, (int)(end ? end - start : (long)strlen(start))};
	return true;
}

static bool mends(const struct finding *finding, const struct command_text *wanted)
{
	struct command_text command = {finding->way_out, 0};

	while (find_command(command.at + command.size, &command))
		if (command.size == wanted->size &&
		    !memcmp(command.at, wanted->at, (size_t)command.size))
			return true;
	return false;
}

static size_t count_mended(const struct findings *findings, const struct command_text *command)
{
	size_t nr = 0;

	for (size_t i = 0; i < findings->nr; i++)
		nr += mends(&findings->list[i], command);
	return nr;
}

/* The command that mends most; returns how many findings. */
static size_t best_command(const struct findings *findings, struct command_text *best)
{
	size_t most = 0;

	for (size_t i = 0; i < findings->nr; i++) {
		struct command_text command = {findings->list[i].way_out, 0};

		while (find_command(command.at + command.size, &command)) {
			size_t nr = count_mended(findings, &command);

			if (nr > most)
				*best = command;
			most = nr > most ? nr : most;
		}
	}
	return most;
}

static void print_summary(const struct findings *findings)
{
	size_t states[FINDING_MISSING + 1] = {0}, mended, told = 0;
	struct command_text best;

	for (size_t i = 0; i < findings->nr; i++)
		states[findings->list[i].state]++;
	printf("\n%zu of %zu work, %zu limited, %zu missing\n", states[FINDING_WORKS], findings->nr,
	       states[FINDING_LIMITED], states[FINDING_MISSING]);
	mended = best_command(findings, &best);
	if (mended < 2)
		return;
	printf("one command, as root, mends %zu of these (", mended);
	for (size_t i = 0; i < findings->nr; i++)
		if (mends(&findings->list[i], &best))
			printf("%s%s", told++ ? ", " : "", findings->list[i].name);
	printf("):\n  %.*s\n", best.size, best.at);
}

static int print_text(const struct findings *findings, const struct utsname *system)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	printf("%s %s on %s, %ld CPU%s, user %ld\n\n", system->sysname, system->release,
	       system->machine, nr_cpus, plural((uint64_t)nr_cpus), (long)geteuid());
	for (size_t i = 0; i < findings->nr; i++)
		print_finding(findings, i);
	print_summary(findings);
	leftovers_put(stdout);
	return 0;
}

static void put_finding_json(struct json_writer *json, const struct finding *finding)
{
	json_begin(json, NULL);
	json_text(json, "name", finding->name);
	json_text(json, "state", state_name(finding->state));
	json_text(json, "says", finding->says);
	json_text(json, "way_out", *finding->way_out ? finding->way_out : NULL);
	json_end(json);
}

static int print_json(const struct findings *findings, const struct utsname *system)
{
	struct json_writer json = {.to = stdout, .pretty = true};

	json_begin(&json, NULL);
	json_text(&json, "kernel", system->release);
	json_text(&json, "machine", system->machine);
	json_int(&json, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	json_int(&json, "user", geteuid());
	json_flag(&json, "can_sample", findings->can_sample);
	json_begin_list(&json, "findings");
	for (size_t i = 0; i < findings->nr; i++)
		put_finding_json(&json, &findings->list[i]);
	json_end_list(&json);
	leftovers_json(&json);
	json_end(&json);
	putchar('\n');
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor_options *options = state->input;

	(void)arg;
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	options->json = true;
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp_option known[] = {
		{"json", 'j', NULL, 0, "as one JSON object", 0},
		{0},
	};
	const struct argp argp = {
		.options = known,
		.parser = parse,
		.doc = "Tells what works on this machine for this user, what does not, why, and "
		       "the command that would change it; and what killed recorders left.\v"
		       "The exit status is 0 if at least the user side of own programs can be "
		       "sampled, else 1.",
	};
	struct doctor_options options = {0};
	struct findings findings;
	struct utsname system;
	int status, err;

	if (foreign_options_parse(&argp, argc, argv, 2, 0, &options) || uname(&system))
		return 2;
	findings_make(&findings);
	err = options.json ? 0 : plain_text_start();
	if (!err)
		err = (options.json ? print_json : print_text)(&findings, &system);
	if (err)
		say("cannot tell: %s", strerror(-err));
	status = err ? 1 : open_trace_status(NULL, 0);
	return status ? status : !findings.can_sample;
}
