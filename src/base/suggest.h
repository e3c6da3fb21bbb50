/*
 * The names that a misspelt one may have meant.
 */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

#define SUGGEST_MAX      3
#define SUGGEST_NAME_MAX 96

/* The best so far, nearest first. Fixed in size however many names are offered. */
struct suggest {
	const char *wanted; /* borrowed */
	unsigned nr;
	struct {
		char name[SUGGEST_NAME_MAX];
		unsigned distance;
	} best[SUGGEST_MAX];
};

void suggest_init(struct suggest *suggest, const char *wanted);

/*
 * Keeps the name if it is near: a few typos away, or the wanted one with letters left out. 0, for
 * walks: another name may be nearer. arg: the suggestion.
 */
int suggest_offer(void *arg, const char *name);

/* "; did you mean 'a', 'b' or 'c'?"; without a near name, otherwise. */
void suggest_print(const struct suggest *suggest, const char *otherwise, char *text, size_t size);

#endif
