/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_status.c - every outcome has a name and a sentence
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

static void test_every_outcome_has_its_own_name_and_text(void **state)
{
    (void)state;
    for (int i = RF_OK; i <= RF_NOMEM; i++) {
        const char *name = rf_status_name((rf_status)i);

        assert_int_equal(strncmp(name, "RF_", 3), 0);
        assert_true(strlen(rf_status_text((rf_status)i)) > 3);
        for (int j = RF_OK; j < i; j++) {
            assert_string_not_equal(name, rf_status_name((rf_status)j));
            assert_string_not_equal(rf_status_text((rf_status)i),
                                    rf_status_text((rf_status)j));
        }
    }
}

static void test_names_are_those_of_the_header(void **state)
{
    (void)state;
    assert_string_equal(rf_status_name(RF_OK), "RF_OK");
    assert_string_equal(rf_status_name(RF_BUSY), "RF_BUSY");
    assert_string_equal(rf_status_name(RF_TIMEOUT), "RF_TIMEOUT");
    assert_string_equal(rf_status_name(RF_LOST), "RF_LOST");
    assert_string_equal(rf_status_name(RF_STALE), "RF_STALE");
    assert_string_equal(rf_status_name(RF_COLLISION), "RF_COLLISION");
    assert_string_equal(rf_status_name(RF_UNKNOWN), "RF_UNKNOWN");
    assert_string_equal(rf_status_name(RF_RETRY), "RF_RETRY");
    assert_string_equal(rf_status_name(RF_REFUSED), "RF_REFUSED");
    assert_string_equal(rf_status_name(RF_MISUSE), "RF_MISUSE");
    assert_string_equal(rf_status_name(RF_NOMEM), "RF_NOMEM");
}

static void test_numbers_outside_the_table_get_a_placeholder(void **state)
{
    (void)state;
    assert_string_equal(rf_status_name((rf_status)-1), "RF_?");
    assert_string_equal(rf_status_name((rf_status)(RF_NOMEM + 1)), "RF_?");
    assert_string_equal(rf_status_name((rf_status)1000000), "RF_?");
    assert_non_null(rf_status_text((rf_status)-1));
}

static void test_version_is_that_of_the_header(void **state)
{
    char parts[32];

    (void)state;
    snprintf(parts, sizeof(parts), "%d.%d.%d", RF_VERSION_MAJOR,
             RF_VERSION_MINOR, RF_VERSION_PATCH);
    assert_string_equal(rf_version(), RF_VERSION);
    assert_string_equal(rf_version(), parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_outcome_has_its_own_name_and_text),
        cmocka_unit_test(test_names_are_those_of_the_header),
        cmocka_unit_test(test_numbers_outside_the_table_get_a_placeholder),
        cmocka_unit_test(test_version_is_that_of_the_header),
    };

    return run_group(tests, NULL, NULL);
}
