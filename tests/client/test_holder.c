/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_holder.c - holders are 32 hex digits and never the same twice
 */
#include "rf_test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

static void test_holder_is_32_lower_case_hex_digits(void **state)
{
    char holder[RF_HOLDER_LEN + 1];

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_status(rf_holder_new(holder), RF_OK);
        assert_int_equal(strlen(holder), 32);
        assert_int_equal(strspn(holder, "0123456789abcdef"), 32);
        assert_true(rf__holder_valid(holder));
    }
}

static void test_no_two_holders_are_the_same(void **state)
{
    static char all[1000][RF_HOLDER_LEN + 1];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_status(rf_holder_new(all[i]), RF_OK);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(all[i], all[j]);
    }
}

static void test_forked_child_makes_other_holders(void **state)
{
    char ours[RF_HOLDER_LEN + 1], theirs[RF_HOLDER_LEN + 1] = "";
    int ends[2];
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        rf_holder_new(theirs);
        _exit(write(ends[1], theirs, sizeof(theirs)) == sizeof(theirs) ? 0 : 1);
    }
    assert_status(rf_holder_new(ours), RF_OK);
    assert_int_equal(read(ends[0], theirs, sizeof(theirs)), sizeof(theirs));
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    assert_string_not_equal(ours, theirs);
}

static void test_anything_else_is_no_holder(void **state)
{
    static const char *const bad[] = {
        "",
        "0123456789abcdef0123456789abcde",
        "0123456789abcdef0123456789abcdef0",
        "0123456789ABCDEF0123456789abcdef",
        "0123456789abcdef0123456789abcdeg",
        "0123456789abcdef:123456789abcdef",
        " 123456789abcdef0123456789abcdef",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(rf__holder_valid(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holder_is_32_lower_case_hex_digits),
        cmocka_unit_test(test_no_two_holders_are_the_same),
        cmocka_unit_test(test_forked_child_makes_other_holders),
        cmocka_unit_test(test_anything_else_is_no_holder),
    };

    return run_group(tests, NULL, NULL);
}
