/* What adaptrace says on standard error: one line, "adaptrace: …". */
#ifndef CLI_SAY_H
#define CLI_SAY_H

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
