/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * rf_test.h - cmocka, and what tests of the client say often
 */
#ifndef RF_TEST_H
#define RF_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ringfence.h"

/* Outcomes by name, so that a failure reads as one. */
#define assert_status(expression, expected) \
    assert_string_equal(rf_status_name(expression), rf_status_name(expected))

/* Limits of time are for machines with other things to do. */
#define assert_at_most_ms(since, ms) \
    assert_in_range(test_now_ms() - (since), 0, (ms))
#define assert_at_least_ms(since, ms) \
    assert_in_range(test_now_ms() - (since), (ms), 1000000)

int64_t test_now_ms(void);

/* Run tests and print TAP. */
#define run_group(tests, start, stop)          \
    (cmocka_set_message_output(CM_OUTPUT_TAP), \
     cmocka_run_group_tests(tests, start, stop))

#endif /* RF_TEST_H */
