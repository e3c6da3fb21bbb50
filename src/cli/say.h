/* What adaptrace says on standard error: one line, "adaptrace: …". */
#ifndef CLI_SAY_H
#define CLI_SAY_H

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same of options that are none: ends the program with argp_err_exit_status. */
void say_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
