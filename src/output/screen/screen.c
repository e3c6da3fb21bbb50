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
#include "output/screen/text_view.h"
#include "output/screen/top_lines.h"
#include "output/text/text.h"

#include <curses.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_LINES 3 /* above the rows */
#define FOOT_LINES 3 /* below them, with a message of one line */
#define MOST_LINES 4 /* of a message */
#define MAX_TYPED  128
#define ESCAPE     27
#define CTRL_L     12
#define MOST_ENDS  100
#define SIDEWAYS   8                       /* columns that an arrow moves a view by */
#define MOST_LEFT  2000                    /* columns of a view that may be out of sight */
#define QUICK_NS   ((uint64_t)100000000)   /* from look to look before there is a picture */
#define ANSWER_NS  ((uint64_t)10000000000) /* that an answer of the recorder stays */

/* A line that is being typed. */
enum typing { TYPING_NOTHING, TYPING_FILTER, TYPING_MARK, TYPING_EVENT };

struct screen {
	const struct top_recording *recording;
	struct top_model model;
	int err; /* of the last tick */
	bool frozen;
	enum typing typing;
	char typed[MAX_TYPED], filter[MAX_TYPED];
	bool steered;             /* and what became of it is not known yet */
	char event[MAX_TYPED];    /* that is shown as soon as the recording has it */
	uint32_t selected, first; /* among the rows that pass the filter */
	struct text_view view;
	const char *message;
	char answer[TOP_ANSWER]; /* of the recorder */
	uint64_t answer_until;
	uint64_t next_tick;
};

/* The signal that ends the screen; a handler can tell it in no other way. */
static volatile sig_atomic_t ended_by;

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

static void draw_row(const struct screen *screen, int y, attr_t attributes, struct top_row *row)
{
	struct line line;

	if (!line_begin(&line))
		return;
	top_model_fill_minute(&screen->model, row);
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
static struct top_row *row_at(const struct screen *screen, uint32_t number)
{
	for (uint32_t i = 0; i < screen->model.rows.nr; i++)
		if (passes(screen, &screen->model.rows.at[i]) && !number--)
			return &screen->model.rows.at[i];
	return NULL;
}

static uint32_t nr_rows(const struct screen *screen)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < screen->model.rows.nr; i++)
		nr += passes(screen, &screen->model.rows.at[i]);
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
	struct top_row *row;

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

static const char *state_of(const struct screen *screen)
{
	const struct top_recording *recording = screen->recording;
	unsigned flags;

	switch (recording->state(recording->arg)) {
	case LIVE_ENDED:
		return recording->give ? " the recording has ended; this is its last picture" : "";
	case LIVE_KILLED:
		return " the recorder was killed; adaptrace recover saves what it had";
	default:
		flags = recording->recorder(recording->arg).flags;
		return flags & RECORDING_STOPPED
		               ? " the recording was stopped; this is its last picture"
		       : flags & (RECORDING_PAUSED | RECORDING_FROZEN) ? " paused; p lets it go on"
		                                                       : "";
	}
}

static const char *message_of(const struct screen *screen)
{
	const char *state = state_of(screen);

	if (screen->message)
		return screen->message;
	if (*screen->answer && clock_ns(CLOCK_MONOTONIC) < screen->answer_until)
		return screen->answer;
	if (screen->frozen)
		return " frozen; SPACE goes on";
	if (*state)
		return state;
	switch (screen->err) {
	case -EAGAIN:
		return " the recorder has not begun to sample yet";
	case -ENODATA:
		if (!top_model_is_sampled(&screen->model))
			return " this event is not sampled now; e shows another one";
		return " nothing was sampled since: it uses no CPU, or far less than one sample";
	case 0:
		return "";
	default:
		return " the recorder's memory cannot be read";
	}
}

/* Prints the names of all events. */
static void put_events(const struct screen *screen, FILE *to)
{
	const struct trace *trace = screen->recording->trace(screen->recording->arg);
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event_of_run(trace, i)); i++)
		fprintf(to, "%s%s", i ? ", " : "", trace_string(trace, event->name));
}

static void put_typed(const struct screen *screen, FILE *to)
{
	switch (screen->typing) {
	case TYPING_MARK:
		fprintf(to, " mark: %s_", screen->typed);
		return;
	case TYPING_EVENT:
		fputs(" event (", to);
		put_events(screen, to);
		fprintf(to, "; ENTER the next one): %s_", screen->typed);
		return;
	default:
		fprintf(to, " filter: %s_", screen->typed);
	}
}

static char *message_text(const struct screen *screen)
{
	struct line line;

	if (!line_begin(&line))
		return NULL;
	if (screen->typing)
		put_typed(screen, line.to);
	else if (*screen->filter && !*message_of(screen))
		fprintf(line.to, " filter: %s", screen->filter);
	else
		fputs(message_of(screen), line.to);
	fclose(line.to);
	return line.text;
}

/* Ends the first line of a text behind a word. Returns what follows; the text's end: nothing. */
static char *cut_line(char *text, unsigned width)
{
	char *const end = text + strlen(text);
	char *cut = end;

	while (text_put(NULL, text, 0) > width) {
		char *space = memrchr(text + 1, ' ', (size_t)(cut - text - 1));

		if (cut != end)
			*cut = ' ';
		if (!space)
			return end;
		cut = space;
		*cut = '\0';
	}
	return cut == end ? end : cut + 1;
}

/* The last line of a long message is where a short one would be. */
static void draw_message(const struct screen *screen, int y)
{
	char *text = message_text(screen), *rest = text, *lines[MOST_LINES];
	int nr = 0;

	while (rest && *rest && nr < MOST_LINES) {
		lines[nr++] = rest;
		rest = cut_line(rest, (unsigned)COLS - (nr > 1));
	}
	draw_text(screen, y, A_NORMAL, "");
	for (int i = 0; i < nr; i++) {
		char *line;

		if (y - nr + 1 + i < HEAD_LINES ||
		    asprintf(&line, "%s%s", i ? " " : "", lines[i]) < 0)
			continue;
		draw_text(screen, y - nr + 1 + i, A_NORMAL, line);
		free(line);
	}
	free(text);
}

static const char views[] = " f functions  t threads  r ranks  c calls  g tree   s sort  / filter  "
			    "ENTER callers  a annotate  SPACE freeze";
static const char short_views[] =
	" f functions t threads r ranks c calls g tree  s sort  / filter  ENTER callers";
static const char steering[] =
	" p pause target  d detail 5 s  e event  m mark  w snapshot  ? help  q quit";
static const char nobody[] = " e event  ? help  q quit";

static void draw_foot(const struct screen *screen)
{
	draw_message(screen, LINES - 3);
	draw_text(screen, LINES - 2, A_REVERSE, COLS < (int)sizeof(views) ? short_views : views);
	draw_text(screen, LINES - 1, A_REVERSE, screen->recording->give ? steering : nobody);
}

/* --- views ------------------------------------------------------------------------------------ */

/* Returns what follows so many characters. */
static const char *behind(const char *text, unsigned nr)
{
	uint32_t character;

	while (nr-- && *text) {
		unsigned size = text_decode(text, &character);

		text += size ? size : 1;
	}
	return text;
}

static void draw_view(const struct screen *screen)
{
	const struct text_view *view = &screen->view;

	for (int y = 0; y < LINES - 1; y++) {
		size_t line = view->first + (size_t)y;

		draw_text(screen, y, A_NORMAL,
		          line < view->nr ? behind(view->lines[line], view->left) : "");
	}
	draw_text(screen, LINES - 1, A_REVERSE,
	          " arrows and page keys scroll  f functions  g tree  q back");
}

static void open_view(struct screen *screen, enum text_view_type type)
{
	const bool of_function = type == TEXT_VIEW_CALLERS || type == TEXT_VIEW_CODE;
	const struct top_row *row = row_at(screen, screen->selected);

	if (type != TEXT_VIEW_HELP && !screen->model.until)
		return;
	if (of_function && (!row || screen->model.by_thread))
		screen->message = " f shows functions, which have callers and code";
	else
		screen->message = text_view_open(&screen->view, &screen->model, type,
		                                 of_function ? row->name : NULL, (unsigned)COLS);
}

/* --- what is typed ---------------------------------------------------------------------------- */

static void begin_typing(struct screen *screen, enum typing typing)
{
	screen->typing = typing;
	snprintf(screen->typed, sizeof(screen->typed), "%s",
	         typing == TYPING_FILTER ? screen->filter : "");
}

static void give(struct screen *screen, enum top_command command, const char *text)
{
	const struct top_recording *recording = screen->recording;

	if (!recording->give)
		return;
	recording->give(recording->arg, command, text, screen->answer);
	screen->answer_until = clock_ns(CLOCK_MONOTONIC) + ANSWER_NS;
	screen->steered = true;
}

static void next_event(struct screen *screen)
{
	const struct trace *trace = screen->recording->trace(screen->recording->arg);
	uint32_t next = screen->model.event + 1;

	*screen->answer = '\0';
	if (next >= trace_nr_events(trace))
		next = 0;
	if (next == screen->model.event) {
		screen->message =
			screen->recording->give
				? " there is no other event; type a name, such as page-faults"
				: " the trace has no other event";
		return;
	}
	top_model_choose(&screen->model, next, screen->model.by_thread);
	screen->selected = screen->first = 0;
	screen->next_tick = 0;
}

/* An event that is not sampled yet is asked for, and shown when it comes. */
static void choose_event(struct screen *screen, const char *name)
{
	const struct trace *trace = screen->recording->trace(screen->recording->arg);

	if (!*name) {
		next_event(screen);
		return;
	}
	snprintf(screen->event, sizeof(screen->event), "%s", name);
	if (screen->recording->give)
		give(screen, TOP_EVENT, name);
	else if (trace_find_event(trace, name) == TRACE_ALL_EVENTS)
		screen->message = " the trace has no such event";
	screen->next_tick = 0;
}

static void show_chosen_event(struct screen *screen)
{
	const struct trace *trace = screen->recording->trace(screen->recording->arg);
	uint32_t event = *screen->event ? trace_find_event(trace, screen->event) : TRACE_ALL_EVENTS;

	if (event == TRACE_ALL_EVENTS)
		return;
	*screen->event = '\0';
	top_model_choose(&screen->model, event, screen->model.by_thread);
}

static void end_typing(struct screen *screen)
{
	const enum typing typing = screen->typing;

	screen->typing = TYPING_NOTHING;
	if (typing == TYPING_MARK && *screen->typed)
		give(screen, TOP_MARK, screen->typed);
	if (typing == TYPING_EVENT)
		choose_event(screen, screen->typed);
}

/* Removes the last character, which may have several bytes. */
static void rub_out(char *text, size_t size)
{
	while (--size && (text[size] & 0xc0) == 0x80)
		;
	text[size] = '\0';
}

static void type(struct screen *screen, int key)
{
	size_t size = strlen(screen->typed);

	if (key == '\n' || key == KEY_ENTER) {
		end_typing(screen);
	} else if (key == ESCAPE) {
		if (screen->typing == TYPING_FILTER)
			*screen->filter = '\0';
		screen->typing = TYPING_NOTHING;
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && size) {
		rub_out(screen->typed, size);
	} else if (key >= ' ' && key != 127 && key < 256 && size + 1 < sizeof(screen->typed)) {
		screen->typed[size] = (char)key;
		screen->typed[size + 1] = '\0';
	}
	if (screen->typing == TYPING_FILTER)
		memcpy(screen->filter, screen->typed, sizeof(screen->filter));
}

/* --- keys ------------------------------------------------------------------------------------- */

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

static void scroll_view(struct text_view *view, int key)
{
	long nr = (long)view->nr - (LINES - 2);

	if (key == KEY_LEFT || key == KEY_RIGHT)
		view->left = (unsigned)moved(view->left, key == KEY_LEFT ? -SIDEWAYS : SIDEWAYS,
		                             MOST_LEFT);
	else
		view->first = (size_t)moved((long)view->first,
		                            scroll_of(key, LINES - 2, (long)view->nr), nr);
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
		open_view(screen, TEXT_VIEW_TREE);
		return true;
	case 'c':
		open_view(screen, TEXT_VIEW_CALLS);
		return true;
	case 'r':
		open_view(screen, TEXT_VIEW_RANKS);
		return true;
	case '\n':
	case KEY_ENTER:
		open_view(screen, TEXT_VIEW_CALLERS);
		return true;
	case 'a':
		open_view(screen, TEXT_VIEW_CODE);
		return true;
	case '?':
	case 'h':
	case KEY_F(1):
		open_view(screen, TEXT_VIEW_HELP);
		return true;
	default:
		return false;
	}
}

static void view_key(struct screen *screen, int key)
{
	struct text_view *view = &screen->view;

	screen->message = NULL;
	if (key == 'q' || key == ESCAPE || key == '?' || key == 'h') {
		text_view_close(view);
	} else if (key == 'f' || key == 't') {
		text_view_close(view);
		show_rows(screen, key == 't');
	} else if (!view_opened(screen, key)) {
		scroll_view(view, key);
	}
}

/* Returns whether the key is one of those that steer the recorder. */
static bool steered(struct screen *screen, int key)
{
	if (!screen->recording->give)
		return false;
	switch (key) {
	case 'p':
		give(screen, TOP_PAUSE, NULL);
		return true;
	case 'd':
		give(screen, TOP_DETAIL, NULL);
		return true;
	case 'm':
		begin_typing(screen, TYPING_MARK);
		return true;
	case 'w':
		give(screen, TOP_SNAPSHOT, NULL);
		return true;
	default:
		return false;
	}
}

static void rows_key(struct screen *screen, int key)
{
	long nr = nr_rows(screen);

	screen->message = NULL;
	if (view_opened(screen, key) || steered(screen, key))
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
		begin_typing(screen, TYPING_FILTER);
		return;
	case ESCAPE:
		*screen->filter = *screen->answer = '\0';
		return;
	case ' ':
		screen->frozen = !screen->frozen;
		return;
	case 'e':
		begin_typing(screen, TYPING_EVENT);
		return;
	default:
		screen->selected =
			(uint32_t)moved(screen->selected, scroll_of(key, room(), nr), nr);
	}
}

/* Returns false to quit. */
static bool take_key(struct screen *screen, int key)
{
	if (key == KEY_RESIZE || key == CTRL_L)
		clear();
	else if (screen->typing)
		type(screen, key);
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
		if (screen->model.until || !screen->err || screen->err == -ENODATA) {
			draw_line(screen, 0, A_BOLD, top_line_run);
			draw_line(screen, 1, A_NORMAL, top_line_load);
		}
		draw_rows(screen);
		draw_foot(screen);
	}
	move(LINES - 1, COLS - 1);
	refresh();
}

/* How long a picture stays: the first one follows as soon as there is one. */
static uint64_t pause_of(const struct screen *screen)
{
	const struct top_model *model = &screen->model;

	return model->until || model->run.total ? screen->recording->interval : QUICK_NS;
}

static void hear(struct screen *screen)
{
	const struct top_recording *recording = screen->recording;

	if (recording->hear && recording->hear(recording->arg, screen->answer))
		screen->answer_until = clock_ns(CLOCK_MONOTONIC) + ANSWER_NS;
}

static void tick(struct screen *screen)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	hear(screen);
	if (screen->steered)
		top_model_renew(&screen->model);
	screen->steered = false;
	if (now < screen->next_tick)
		return;
	if (!screen->frozen) {
		show_chosen_event(screen);
		screen->err = top_model_tick(&screen->model);
		text_view_refresh(&screen->view, &screen->model, (unsigned)COLS);
	}
	screen->next_tick = now + pause_of(screen);
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

	while (nr_ends < MOST_ENDS && !ended_by) {
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

static void note_signal(int number)
{
	ended_by = number;
}

/* Before curses, which leaves signals alone that have a handler. They may have been blocked. */
static void take_signals(void)
{
	const struct sigaction action = {.sa_handler = note_signal};
	sigset_t taken;

	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGHUP);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &taken, NULL);
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
	SCREEN *terminal;

	take_signals();
	terminal = newterm(NULL, to, stdin);
	if (!terminal)
		return -ENOTTY;
	start_curses();
	loop(screen);
	endwin();
	delscreen(terminal);
	return screen->err == -ENOMEM ? screen->err : ended_by;
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
		text_view_close(&screen->view);
		top_model_fini(&screen->model);
	}
	if (to)
		fclose(to);
	free(screen);
	return err;
}

#endif
