/* Suggestions for a misspelt name. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

#define SUGGEST_MAX      3
#define SUGGEST_NAME_MAX 96

/* The best names so far, nearest first. The size is fixed, however many names are offered. */
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
 * Keeps the name if it is near: a few typos away, or the wanted one with letters left out. Always
 * returns 0, so that walks over names go on. arg is the struct suggest.
 */
int suggest_offer(void *arg, const char *name);

/* Writes "; did you mean 'a', 'b' or 'c'?", or the text `otherwise` if no name is near. */
void suggest_print(const struct suggest *suggest, const char *otherwise, char *text, size_t size);

#endif
