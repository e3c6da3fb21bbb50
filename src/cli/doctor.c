/*
 * adaptrace doctor: what works on this machine for this user, what does not, why, and the command
 * that would change it.
 */
#include "cli/commands.h"
#include "cli/habits.h"
#include "cli/findings.h"
#include "cli/plain_text.h"
#include "cli/reading.h"
#include "cli/say.h"
#include "output/json_text.h"
#include "output/text.h"

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

static int print_text(const struct findings *findings, const struct utsname *system)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	printf("%s %s on %s, %ld CPU%s, user %ld\n\n", system->sysname, system->release,
	       system->machine, nr_cpus, plural((uint64_t)nr_cpus), (long)geteuid());
	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *finding = &findings->list[i];

		printf("%-7s  %s: %s%s%s\n", state_name(finding->state), finding->name,
		       finding->says, *finding->way_out ? "; " : "", finding->way_out);
	}
	return 0;
}

static struct json_object *finding_json(const struct finding *finding)
{
	struct json_object *o = json_new();

	json_add_text(o, "name", finding->name);
	json_add_text(o, "state", state_name(finding->state));
	json_add_text(o, "says", finding->says);
	json_add_text(o, "way_out", *finding->way_out ? finding->way_out : NULL);
	return o;
}

static int print_json(const struct findings *findings, const struct utsname *system)
{
	struct json_out out = {.to = stdout, .pretty = true};
	struct json_object *o = json_new(), *array = json_list();

	json_add_text(o, "kernel", system->release);
	json_add_text(o, "machine", system->machine);
	json_add_int(o, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	json_add_int(o, "user", geteuid());
	json_add_flag(o, "can_sample", findings->can_sample);
	for (size_t i = 0; i < findings->nr; i++)
		json_append(array, finding_json(&findings->list[i]));
	json_add(o, "findings", array);
	json_put(&out, o);
	putchar('\n');
	return out.err;
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
		       "the command that would change it.\v"
		       "The exit status is 0 if at least the user side of own programs can be "
		       "sampled, else 1.",
	};
	struct doctor_options options = {0};
	struct findings findings;
	struct utsname system;
	int status, err;

	if (habits_parse(&argp, argc, argv, 2, 0, &options) || uname(&system))
		return 2;
	findings_make(&findings);
	if (!options.json)
		plain_text_start();
	err = (options.json ? print_json : print_text)(&findings, &system);
	if (err)
		say("cannot tell: %s", strerror(-err));
	status = err ? 1 : reading_done(NULL, 0);
	return status ? status : !findings.can_sample;
}
