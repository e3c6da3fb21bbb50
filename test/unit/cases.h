/* The cases of a test: cmocka, and what it wants before it. */
#ifndef TEST_CASES_H
#define TEST_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A case in a world of its own, which setup() of the test makes and teardown() takes down. */
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Rounds of a test that repeats itself. With sanitizers one round takes ten times as long. */
#define ROUNDS(n) (SANITIZED ? (n) / 4 : (n))

#endif
