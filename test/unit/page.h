/* What is printed, as text. */
#ifndef TEST_PAGE_H
#define TEST_PAGE_H

#include "cases.h"

#include <stdio.h>
#include <stdlib.h>

struct page {
	FILE *file;
	char *text;
	size_t size;
};

static inline FILE *page_open(struct page *page)
{
	page->file = open_memstream(&page->text, &page->size);
	assert_non_null(page->file);
	return page->file;
}

/* All of it, to be freed. */
static inline char *page_close(struct page *page)
{
	fclose(page->file);
	return page->text;
}

static inline void page_expect(struct page *page, const char *expected)
{
	char *text = page_close(page);

	assert_string_equal(text, expected);
	free(text);
}

#endif
