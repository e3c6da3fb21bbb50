#include "output/screen/screen.h"

#include <errno.h>

#ifndef HAVE_NCURSES

int screen_run(const struct top_recording *recording)
{
	(void)recording;
	return -ENOSYS;
}

#else

#include "base/clock.h"
#include "output/report/report.h"
#include "output/screen/top_lines.h"
#include "output/text/text.h"
#include "output/views/report_rows.h"

#include <curses.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_LINES  3 /* above the rows */
#define FOOT_LINES  2 /* below them */
#define MAX_FILTER  64
#define MAX_OF_VIEW 50000 /* samples that stand for the whole run in views */
#define ESCAPE      27
#define MOST_ENDS   100

/* A report that is shown instead of the rows. */
struct text_view {
	char *text, **lines; /* NULL: none */
	size_t nr, first;
};

struct screen {
	const struct top_recording *recording;
	struct top_model model;
	int err; /* of the last tick */
	bool frozen, typing;
	char filter[MAX_FILTER];
	uint32_t selected, first; /* among the rows that pass the filter */
	struct text_view view;
	const char *message;
	uint64_t next_tick;
};

/* --- lines ------------------------------------------------------------------------------------ */

/* Text of one line on its way to the terminal. */
struct line {
	char *text;
	size_t size;
	FILE *to;
};

static FILE *line_begin(struct line *line)
{
	*line = (struct line){0};
	line->to = open_memstream(&line->text, &line->size);
	return line->to;
}

/* Gives the line the terminal's signs and width. The caller frees the result; it may be NULL. */
static char *line_fit(const struct screen *screen, const char *text)
{
	struct line line, cut;

	if (!line_begin(&cut))
		return NULL;
	text_put(cut.to, text, (unsigned)COLS);
	fclose(cut.to);
	if (!screen->recording->put_plain || !cut.text || !line_begin(&line))
		return cut.text;
	screen->recording->put_plain(line.to, cut.text, cut.size);
	fclose(line.to);
	free(cut.text);
	return line.text;
}

static void draw_text(const struct screen *screen, int y, attr_t attributes, const char *text)
{
	char *fitting = line_fit(screen, text);

	attrset((int)attributes);
	move(y, 0);
	clrtoeol();
	if (fitting)
		addnstr(fitting, (int)strlen(fitting));
	if (attributes & A_REVERSE)
		mvchgat(y, 0, -1, attributes, 0, NULL);
	attrset(A_NORMAL);
	free(fitting);
}

typedef void line_fn(FILE *to, const struct top_model *model, unsigned columns);

static void draw_line(const struct screen *screen, int y, attr_t attributes, line_fn *fn)
{
	struct line line;

	if (!line_begin(&line))
		return;
	fn(line.to, &screen->model, (unsigned)COLS);
	fclose(line.to);
	draw_text(screen, y, attributes, line.text ? line.text : "");
	free(line.text);
}

static void draw_row(const struct screen *screen, int y, attr_t attributes,
                     const struct top_row *row)
{
	struct line line;

	if (!line_begin(&line))
		return;
	top_line_row(line.to, &screen->model, row, (unsigned)COLS);
	fclose(line.to);
	draw_text(screen, y, attributes, line.text ? line.text : "");
	free(line.text);
}

/* --- rows ------------------------------------------------------------------------------------- */

static int room(void)
{
	return LINES > HEAD_LINES + FOOT_LINES ? LINES - HEAD_LINES - FOOT_LINES : 1;
}

static bool passes(const struct screen *screen, const struct top_row *row)
{
	return !*screen->filter || strcasestr(row->name, screen->filter) ||
	       strcasestr(row->module, screen->filter);
}

/* The row with a number among those that pass; NULL: there are not so many. */
static const struct top_row *row_at(const struct screen *screen, uint32_t number)
{
	for (uint32_t i = 0; i < screen->model.nr; i++)
		if (passes(screen, &screen->model.rows[i]) && !number--)
			return &screen->model.rows[i];
	return NULL;
}

static uint32_t nr_rows(const struct screen *screen)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < screen->model.nr; i++)
		nr += passes(screen, &screen->model.rows[i]);
	return nr;
}

/* Keeps the selected row among those that there are, and in sight. */
static void keep_in_sight(struct screen *screen)
{
	uint32_t nr = nr_rows(screen), rows = (uint32_t)room();

	if (screen->selected >= nr)
		screen->selected = nr ? nr - 1 : 0;
	if (screen->first > screen->selected)
		screen->first = screen->selected;
	if (screen->selected >= screen->first + rows)
		screen->first = screen->selected - rows + 1;
}

static void draw_rows(struct screen *screen)
{
	const struct top_row *row;

	keep_in_sight(screen);
	draw_line(screen, HEAD_LINES - 1, A_REVERSE, top_line_titles);
	for (int y = 0; y < room(); y++) {
		uint32_t number = screen->first + (uint32_t)y;

		row = row_at(screen, number);
		if (row)
			draw_row(screen, HEAD_LINES + y,
			         number == screen->selected ? A_BOLD : A_NORMAL, row);
		else
			draw_text(screen, HEAD_LINES + y, A_NORMAL, "");
	}
}

static const char *what_is_wrong(const struct screen *screen)
{
	if (screen->message)
		return screen->message;
	if (screen->frozen)
		return " frozen; SPACE goes on";
	switch (screen->recording->state(screen->recording->arg)) {
	case LIVE_ENDED:
		return " the recording has ended; this is its last picture";
	case LIVE_KILLED:
		return " the recorder was killed; adaptrace recover saves what it had";
	default:
		break;
	}
	switch (screen->err) {
	case -EAGAIN:
		return " the recorder has not begun to sample yet";
	case -ENODATA:
		return " no samples have arrived since";
	case 0:
		return "";
	default:
		return " the recorder's memory cannot be read";
	}
}

static const char keys[] = " f functions  t threads  g tree  c calls  r ranks  s sort  / filter  "
			   "ENTER callers  a code  "
			   "e event  SPACE freeze  ? help  q quit";
static const char short_keys[] =
	" f t g c r views  s sort  / filter  ENTER callers  SPACE freeze  ? help  q quit";

#define WIDE_FOOT (int)sizeof(keys)

static void draw_foot(const struct screen *screen)
{
	char text[MAX_FILTER + 64];

	if (screen->typing || *screen->filter)
		snprintf(text, sizeof(text), " filter: %s%s", screen->filter,
		         screen->typing ? "_" : "");
	else
		snprintf(text, sizeof(text), "%s", what_is_wrong(screen));
	draw_text(screen, LINES - 2, A_NORMAL, text);
	draw_text(screen, LINES - 1, A_REVERSE, COLS < WIDE_FOOT ? short_keys : keys);
}

/* --- views ------------------------------------------------------------------------------------ */

static void close_view(struct screen *screen)
{
	free(screen->view.text);
	free(screen->view.lines);
	screen->view = (struct text_view){0};
}

static bool split_lines(struct text_view *view)
{
	char *at = view->text, *end;
	size_t nr = 1;

	for (const char *c = at; *c; c++)
		nr += *c == '\n';
	view->lines = calloc(nr, sizeof(*view->lines));
	if (!view->lines)
		return false;
	for (; *at; at = end + 1) {
		end = at + strcspn(at, "\n");
		view->lines[view->nr++] = at;
		if (!*end)
			break;
		*end = '\0';
	}
	return view->nr;
}

static void open_text(struct screen *screen, char *text, const char *nothing)
{
	close_view(screen);
	screen->view.text = text;
	if (text && *text && split_lines(&screen->view))
		return;
	close_view(screen);
	screen->message = nothing;
}

static void draw_view(const struct screen *screen)
{
	const struct text_view *view = &screen->view;

	for (int y = 0; y < LINES - 1; y++) {
		size_t line = view->first + (size_t)y;

		draw_text(screen, y, A_NORMAL, line < view->nr ? view->lines[line] : "");
	}
	draw_text(screen, LINES - 1, A_REVERSE, " arrows and page keys scroll  q back");
}

static struct report_options view_options(const struct screen *screen)
{
	struct report_options options = {
		.query = {.event = screen->model.event,
	                  .keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
	                  .nr_keys = 2,
	                  .limit = 200,
	                  .no_inline = true,
	                  .sampled_alone = true},
		.style = {.width = (unsigned)COLS, .no_header = true},
	};

	return options;
}

/* Names of callers are not known before somebody looks at them. */
static void name_functions(const struct screen *screen)
{
	const struct report_options options = view_options(screen);
	const struct top_recording *recording = screen->recording;
	struct profile_view view;
	struct profile *profile = report_profile(recording->trace(recording->arg),
	                                         options.query.event, &options.query, &view);

	if (profile)
		recording->name(recording->arg, profile, false);
	profile_free(profile);
}

typedef int report_fn(FILE *to, const struct trace *trace, const char *name,
                      const struct report_options *options);

static void open_report(struct screen *screen, const struct report_options *options, report_fn *fn,
                        const char *nothing)
{
	const struct top_recording *recording = screen->recording;
	struct line line;
	int err;

	if (!screen->model.until || !line_begin(&line))
		return;
	recording->choose(recording->arg, 0, MAX_OF_VIEW);
	name_functions(screen);
	err = fn(line.to, recording->trace(recording->arg), recording->path, options);
	fclose(line.to);
	if (err) {
		free(line.text);
		line.text = NULL;
	}
	open_text(screen, line.text, nothing);
}

static int calls_text(FILE *to, const struct trace *trace, const char *name,
                      const struct report_options *options)
{
	(void)name;
	return trace_nr(trace, TRACE_INSTRUMENTS) ? report_calls_text(to, trace, options)
	                                          : -ENODATA;
}

static void open_tree(struct screen *screen)
{
	struct report_options options = view_options(screen);

	options.query.tree = true;
	open_report(screen, &options, report_text, " no tree can be shown");
}

static void open_calls(struct screen *screen)
{
	const struct report_options options = view_options(screen);

	open_report(screen, &options, calls_text, " no calls are recorded; record --mpi does that");
}

static void open_ranks(struct screen *screen)
{
	const struct report_options options = view_options(screen);

	open_report(screen, &options, report_ranks_text, " the recording has no ranks");
}

/* Callers, or the code, of the selected function. */
static void open_function(struct screen *screen, bool code)
{
	const struct top_row *row = row_at(screen, screen->selected);
	struct report_options options = view_options(screen);

	if (!row || screen->model.by_thread)
		return;
	options.query.function = row->name;
	options.query.annotate = code;
	options.query.direction = code ? PROFILE_ALL : PROFILE_CALLERS;
	options.query.nr_keys = code ? 0 : options.query.nr_keys;
	open_report(screen, &options, report_text,
	            code ? " its code cannot be shown" : " it has no callers");
}

static void open_help(struct screen *screen)
{
	static const char help[] =
		" adaptrace top\n\n"
		" f       functions of the last second\n"
		" t       threads\n"
		" g       call paths of the whole run, from the roots down\n"
		" c       calls, where they are recorded\n"
		" r       ranks of an MPI program\n"
		" ENTER   callers of the selected function\n"
		" a       instructions of the selected function\n"
		" s       sort by the last second, or by the whole run\n"
		" /       show only what has this text; ENTER ends it, ESC removes it\n"
		" e       the next event\n"
		" SPACE   freeze the picture; the recording goes on\n"
		" q       quit; the recording goes on\n\n"
		" Error: half the width of the 95 % interval of the share of the last second.\n";

	open_text(screen, strdup(help), "");
}

/* --- keys ------------------------------------------------------------------------------------- */

static void type_filter(struct screen *screen, int key)
{
	size_t size = strlen(screen->filter);

	if (key == '\n' || key == KEY_ENTER)
		screen->typing = false;
	else if (key == ESCAPE) {
		screen->typing = false;
		*screen->filter = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && size)
		screen->filter[size - 1] = '\0';
	else if (key >= ' ' && key < 127 && size + 1 < sizeof(screen->filter))
		screen->filter[size] = (char)key;
}

/* Returns how many lines up (less than 0) or down a key goes. */
static long scroll_of(int key, long page, long all)
{
	switch (key) {
	case KEY_UP:
		return -1;
	case KEY_DOWN:
		return 1;
	case KEY_PPAGE:
		return -page;
	case KEY_NPAGE:
		return page;
	case KEY_HOME:
		return -all;
	case KEY_END:
		return all;
	default:
		return 0;
	}
}

static long moved(long from, long by, long nr)
{
	long to = from + by;

	if (to >= nr)
		to = nr - 1;
	return to > 0 ? to : 0;
}

static void view_key(struct screen *screen, int key)
{
	struct text_view *view = &screen->view;
	long nr = (long)view->nr - (LINES - 2);

	if (key == 'q' || key == ESCAPE || key == '?' || key == 'h')
		close_view(screen);
	else
		view->first = (size_t)moved((long)view->first,
		                            scroll_of(key, LINES - 2, (long)view->nr), nr);
}

static void next_event(struct screen *screen)
{
	const struct trace *trace = screen->recording->trace(screen->recording->arg);
	uint32_t next = screen->model.event + 1;

	if (next >= trace_nr_events(trace))
		next = 0;
	top_model_choose(&screen->model, next, screen->model.by_thread);
}

static void show_rows(struct screen *screen, bool by_thread)
{
	top_model_choose(&screen->model, screen->model.event, by_thread);
	screen->selected = screen->first = 0;
	screen->frozen = false;
	screen->next_tick = 0;
}

/* Returns whether the key is one of those that open a view. */
static bool view_opened(struct screen *screen, int key)
{
	switch (key) {
	case 'g':
		open_tree(screen);
		return true;
	case 'c':
		open_calls(screen);
		return true;
	case 'r':
		open_ranks(screen);
		return true;
	case '\n':
	case KEY_ENTER:
	case 'a':
		open_function(screen, key == 'a');
		return true;
	case '?':
	case 'h':
	case KEY_F(1):
		open_help(screen);
		return true;
	default:
		return false;
	}
}

static void rows_key(struct screen *screen, int key)
{
	long nr = nr_rows(screen);

	screen->message = NULL;
	if (view_opened(screen, key))
		return;
	switch (key) {
	case 'f':
	case 't':
		show_rows(screen, key == 't');
		return;
	case 's':
		top_model_sort(&screen->model, !screen->model.by_run);
		return;
	case '/':
		screen->typing = true;
		return;
	case ESCAPE:
		*screen->filter = '\0';
		return;
	case ' ':
		screen->frozen = !screen->frozen;
		return;
	case 'e':
		next_event(screen);
		show_rows(screen, screen->model.by_thread);
		return;
	default:
		screen->selected =
			(uint32_t)moved(screen->selected, scroll_of(key, room(), nr), nr);
	}
}

/* Returns false to quit. */
static bool take_key(struct screen *screen, int key)
{
	if (key == KEY_RESIZE)
		clear();
	else if (screen->typing)
		type_filter(screen, key);
	else if (screen->view.lines)
		view_key(screen, key);
	else if (key == 'q' || key == 'Q' || key == KEY_F(10))
		return false;
	else
		rows_key(screen, key);
	return true;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void draw(struct screen *screen)
{
	if (screen->view.lines) {
		draw_view(screen);
	} else {
		if (screen->model.until || !screen->err) {
			draw_line(screen, 0, A_BOLD, top_line_run);
			draw_line(screen, 1, A_NORMAL, top_line_load);
		}
		draw_rows(screen);
		draw_foot(screen);
	}
	move(LINES - 1, COLS - 1);
	refresh();
}

static void tick(struct screen *screen)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < screen->next_tick)
		return;
	screen->next_tick = now + screen->recording->interval;
	if (!screen->frozen && !screen->view.lines)
		screen->err = top_model_tick(&screen->model);
}

/* ms until the next tick, at least 1. */
static int patience(const struct screen *screen)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return now < screen->next_tick ? 1 + (int)((screen->next_tick - now) / 1000000) : 1;
}

static void loop(struct screen *screen)
{
	int nr_ends = 0;

	while (nr_ends < MOST_ENDS) {
		uint64_t before;
		int key;

		tick(screen);
		draw(screen);
		before = clock_ns(CLOCK_MONOTONIC);
		timeout(patience(screen));
		key = getch();
		if (key != ERR && !take_key(screen, key))
			return;
		/* At the end of input there is no waiting for keys. */
		nr_ends =
			key == ERR && clock_ns(CLOCK_MONOTONIC) - before < 500000 ? nr_ends + 1 : 0;
	}
}

static void start_curses(void)
{
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
}

static int run_on(struct screen *screen, FILE *to)
{
	SCREEN *terminal = newterm(NULL, to, stdin);

	if (!terminal)
		return -ENOTTY;
	start_curses();
	loop(screen);
	endwin();
	delscreen(terminal);
	return screen->err == -ENOMEM ? screen->err : 0;
}

/* Standard output may be a stream that has no descriptor of its own. */
static FILE *open_terminal(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !to)
		close(fd);
	return to;
}

int screen_run(const struct top_recording *recording)
{
	struct screen *screen = calloc(1, sizeof(*screen));
	FILE *to = open_terminal();
	int err = -ENOMEM;

	if (screen && to) {
		screen->recording = recording;
		top_model_init(&screen->model, recording);
		err = run_on(screen, to);
		close_view(screen);
		top_model_fini(&screen->model);
	}
	if (to)
		fclose(to);
	free(screen);
	return err;
}

#endif
