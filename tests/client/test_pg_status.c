/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_status.c - what an SQLSTATE means for the caller
 */
#include "rf_test.h"
#include "ringfence_pg.h"

static void test_guards_codes_have_their_own_outcomes(void **state)
{
    (void)state;
    assert_status(rf_pg_status("RF001"), RF_STALE);
    assert_status(rf_pg_status("RF002"), RF_COLLISION);
    assert_status(rf_pg_status("RF003"), RF_MISUSE);
    assert_status(rf_pg_status("RF004"), RF_MISUSE);
    assert_status(rf_pg_status("RF005"), RF_MISUSE);
    assert_status(rf_pg_status("RF006"), RF_MISUSE);
    assert_status(rf_pg_status("RF999"), RF_MISUSE);
}

static void test_end_of_the_lease_is_lost(void **state)
{
    (void)state;
    assert_status(rf_pg_status("25P03"), RF_LOST);
    assert_status(rf_pg_status("25P04"), RF_LOST);
}

static void test_what_may_pass_by_itself_is_retry(void **state)
{
    static const char *const codes[] = { "40000", "40001", "40P01", "53100",
                                         "53200", "53300", "55P03", "57014",
                                         "57P01", "57P02", "57P03", "57P05",
                                         "72000" };

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        assert_status(rf_pg_status(codes[i]), RF_RETRY);
}

static void test_what_a_person_must_look_at_is_misuse(void **state)
{
    static const char *const codes[] = { "00000", "22012", "23505", "23514",
                                         "25006", "25P02", "42501", "42601",
                                         "42P01", "55000", "57P04", "58030",
                                         "P0001", "XX000", "XX001", "rf001" };

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        assert_status(rf_pg_status(codes[i]), RF_MISUSE);
}

static void test_connection_trouble_told_as_a_code_is_unknown(void **state)
{
    static const char *const codes[] = { "08000", "08003", "08006",
                                         "08007", "08P01", "40003" };

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        assert_status(rf_pg_status(codes[i]), RF_UNKNOWN);
}

static void test_what_is_no_code_decides_nothing(void **state)
{
    (void)state;
    assert_status(rf_pg_status(NULL), RF_UNKNOWN);
    assert_status(rf_pg_status(""), RF_UNKNOWN);
    assert_status(rf_pg_status("RF00"), RF_UNKNOWN);
    assert_status(rf_pg_status("RF0011"), RF_UNKNOWN);
}

static void test_no_client_has_no_code(void **state)
{
    (void)state;
    assert_string_equal(rf_pg_sqlstate(NULL), "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guards_codes_have_their_own_outcomes),
        cmocka_unit_test(test_end_of_the_lease_is_lost),
        cmocka_unit_test(test_what_may_pass_by_itself_is_retry),
        cmocka_unit_test(test_what_a_person_must_look_at_is_misuse),
        cmocka_unit_test(test_connection_trouble_told_as_a_code_is_unknown),
        cmocka_unit_test(test_what_is_no_code_decides_nothing),
        cmocka_unit_test(test_no_client_has_no_code),
    };

    return run_group(tests, NULL, NULL);
}
