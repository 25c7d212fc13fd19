/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_decimal.c - numbers as text and back, strictly
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "internal.h"

static void test_written_as_printf_would(void **state)
{
    static const int64_t values[] = {
        0, 1, 9, 10, -1, -10, 123456789, RF_FENCE_MAX, INT64_MAX, INT64_MIN
    };

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char ours[RF__DECIMAL_MAX], theirs[RF__DECIMAL_MAX];

        snprintf(theirs, sizeof(theirs), "%lld", (long long)values[i]);
        assert_int_equal(rf__decimal_write(ours, values[i]), strlen(theirs));
        assert_string_equal(ours, theirs);
    }
}

static void test_canonical_numbers_are_read(void **state)
{
    int64_t value = 7;

    (void)state;
    assert_true(rf__decimal_read("1", 1, RF_FENCE_MAX, &value));
    assert_int_equal(value, 1);
    assert_true(rf__decimal_read("9007199254740991", 1, RF_FENCE_MAX, &value));
    assert_true(value == RF_FENCE_MAX);
    assert_true(rf__decimal_read("-1", -1, 10, &value));
    assert_true(value == -1);
    assert_true(rf__decimal_read("0", 0, 10, &value));
    assert_int_equal(value, 0);
}

static void test_everything_else_is_refused_and_changes_nothing(void **state)
{
    static const char *const bad[] = { "",
                                       "-",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "01",
                                       "-0",
                                       "00",
                                       "1.0",
                                       "1e3",
                                       "0x1",
                                       "--1",
                                       "1-",
                                       "\t1",
                                       "1\n",
                                       "nil",
                                       "-2",
                                       "999999",
                                       "100001",
                                       "-9999999",
                                       "9007199254740992",
                                       "9223372036854775808",
                                       "18446744073709551617",
                                       "99999999999999999999999" };
    int64_t value = 42;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(rf__decimal_read(bad[i], -1, 100000, &value));
    assert_int_equal(value, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_as_printf_would),
        cmocka_unit_test(test_canonical_numbers_are_read),
        cmocka_unit_test(test_everything_else_is_refused_and_changes_nothing),
    };

    return run_group(tests, NULL, NULL);
}
