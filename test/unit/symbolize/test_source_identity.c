/* Identities of source files: a later file differs, and two sides are joined. */
#include "naming.h"

#include "symbolize/modules/source_identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL (SOURCE_HAS_MD5 | SOURCE_HAS_TIME | SOURCE_HAS_HASH)

static struct stat stat_of(size_t size, time_t changed)
{
	return (struct stat){.st_size = (off_t)size, .st_mtim.tv_sec = changed};
}

static struct source_identity identity_of(const char *text, time_t changed, uint32_t known)
{
	const struct stat st = stat_of(strlen(text), changed);
	struct source_identity identity;

	source_identity_of_text(&identity, &st, text, strlen(text));
	identity.known = known;
	return identity;
}

static bool matches(uint32_t known, const char *text, time_t changed)
{
	const struct source_identity recorded = identity_of("abc", 1000, known),
				     now = identity_of(text, changed, ALL);

	return source_identity_matches(&recorded, &now);
}

/* Of "abc", as in RFC 1321. */
static void md5_is_that_of_debug_information(void **state)
{
	static const uint8_t wanted[SOURCE_MD5_SIZE] = {0x90, 0x01, 0x50, 0x98, 0x3c, 0xd2,
	                                                0x4f, 0xb0, 0xd6, 0x96, 0x3f, 0x7d,
	                                                0x28, 0xe1, 0x7f, 0x72};
	const struct source_identity identity = identity_of("abc", 1, ALL);

	(void)state;
	assert_memory_equal(identity.md5, wanted, sizeof(wanted));
}

static void text_decides_where_it_is_known(void **state)
{
	static const uint32_t text[] = {SOURCE_HAS_MD5, SOURCE_HAS_HASH | SOURCE_HAS_TIME,
	                                SOURCE_HAS_MD5 | SOURCE_HAS_TIME};

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		assert_true(matches(text[i], "abc", 1000));
		assert_true(matches(text[i], "abc", 2000));
		assert_false(matches(text[i], "abd", 1000));
		assert_false(matches(text[i], "abcd", 1000));
	}
}

static void size_and_time_decide_else(void **state)
{
	(void)state;
	assert_true(matches(SOURCE_HAS_TIME, "abc", 1000));
	assert_false(matches(SOURCE_HAS_TIME, "abc", 999));
	assert_false(matches(SOURCE_HAS_TIME, "abc", 1001));
	assert_false(matches(SOURCE_HAS_TIME, "abcd", 1000));
	assert_true(matches(0, "x", 1));
	assert_false(matches(SOURCE_DIFFERS, "abc", 1000));
}

static struct source_identity joined(const char *text, time_t changed, uint32_t known)
{
	struct source_identity all = {0};
	const struct source_identity one = identity_of("abc", 1000, ALL),
				     other = identity_of(text, changed, known);

	source_identity_join(&all, &one);
	source_identity_join(&all, &other);
	return all;
}

static void sides_agree_on_the_text(void **state)
{
	const uint32_t no_md5 = SOURCE_HAS_TIME | SOURCE_HAS_HASH;

	(void)state;
	assert_false(joined("abc", 1000, ALL).known & SOURCE_DIFFERS);
	assert_false(joined("abc", 7, no_md5).known & SOURCE_DIFFERS);
	assert_int_equal(joined("abc", 7, no_md5).changed, 7000000000);
	assert_int_equal(joined("abc", 7000, no_md5).changed, 1000000000000);
	assert_true(joined("abd", 1000, no_md5).known & SOURCE_DIFFERS);
	assert_true(joined("abd", 1000, SOURCE_HAS_MD5).known & SOURCE_DIFFERS);
	assert_true(joined("abc", 7, SOURCE_HAS_TIME).known & SOURCE_DIFFERS);
	assert_false(joined("abd", 7, 0).known & SOURCE_DIFFERS);
	assert_true(joined("abc", 1000, ALL).known & SOURCE_HAS_MD5);
}

/* Of a file beyond the bound no text is read, and one that is read leaves less. */
static void what_is_read_is_bounded(void **state)
{
	char path[] = "/tmp/identity-XXXXXX";
	int fd = mkstemp(path);
	struct source_identity identity;
	size_t left = 4;

	(void)state;
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(fchmod(fd, 0644), 0);
	close(fd);
	assert_int_equal(source_identity_read(&identity, path, &left), 0);
	assert_int_equal(identity.known, SOURCE_HAS_TIME | SOURCE_HAS_HASH);
	assert_int_equal(identity.hash, identity_of("abc", 1, ALL).hash);
	assert_int_equal(left, 1);
	assert_int_equal(source_identity_read(&identity, path, &left), 0);
	assert_int_equal(identity.known, SOURCE_HAS_TIME);
	assert_int_equal(identity.size, 3);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(source_identity_read(&identity, path, &left), -ENOENT);
	assert_int_equal(source_identity_read(&identity, "relative", &left), -EINVAL);
	assert_int_equal(source_identity_read(&identity, "/dev/zero", &left), -EINVAL);
	assert_int_equal(identity.known, 0);
}

enum { FILES = 600 };

static void note_size(void *arg, size_t index, const struct source_identity *identity)
{
	uint64_t *sizes = arg;

	assert_in_range(index, 0, FILES - 1);
	assert_int_equal(identity->known != 0, index % 3 != 1);
	sizes[index] = identity->size;
}

/* More files than one question holds; every third one is missing, and some names are relative. */
static void many_files_are_identified_aside(void **state)
{
	static const char *paths[FILES];
	static uint64_t sizes[FILES];
	struct fixture *f = *state;

	for (unsigned i = 0; i < FILES; i++) {
		char *path = malloc(300);

		snprintf(path, 300, "%s%s/%0*u", i % 3 ? "" : ".", f->dir, (int)(i % 200) + 4, i);
		paths[i] = path;
		if (i % 3 == 2) {
			FILE *file = fopen(path, "w");

			fprintf(file, "%*s", (int)i, "");
			fclose(file);
		}
	}
	for (unsigned i = 0; i < FILES; i++)
		sizes[i] = UINT64_MAX;
	assert_int_equal(symbolizer_read_aside(f->symbolizer, NULL, NULL), 0);
	assert_int_equal(symbolizer_source_files(f->symbolizer, paths, FILES, note_size, sizes), 0);
	for (unsigned i = 0; i < FILES; i++) {
		const uint64_t wanted[] = {UINT64_MAX, 0, i};

		assert_int_equal(sizes[i], wanted[i % 3]);
		free((void *)(uintptr_t)paths[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(md5_is_that_of_debug_information),
		cmocka_unit_test(text_decides_where_it_is_known),
		cmocka_unit_test(size_and_time_decide_else),
		cmocka_unit_test(sides_agree_on_the_text),
		cmocka_unit_test(what_is_read_is_bounded),
		cmocka_unit_test_setup_teardown(many_files_are_identified_aside, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
