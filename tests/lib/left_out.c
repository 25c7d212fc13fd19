/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * left_out.c - what a library says that was built without a source of locks
 */
#include "left_out.h"
#include "rf_test.h"

#include <string.h>

void test_source_that_was_left_out_is_refused(void **state)
{
    rf_client *client;

    assert_status(rf_open(*state, NULL, &client), RF_MISUSE);
    assert_null(client);
    assert_non_null(strstr(rf_message(NULL), "built without"));
}

int run_left_out(const char *url)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_source_that_was_left_out_is_refused,
                                  (void *)url),
    };

    return run_group(tests, NULL, NULL);
}
