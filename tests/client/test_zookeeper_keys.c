/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_zookeeper_keys.c - names of nodes, and who stands before whom
 */
#include "rf_test.h"

#include <string.h>

#include "zookeeper_line.h"

#define HOLDER "00112233445566778899aabbccddeeff"
#define OTHER  "ffeeddccbbaa99887766554433221100"

/* ---- Names ------------------------------------------------------------------------ */

static void assert_folder(const char *resource, const char *expected)
{
    char back[RF_RESOURCE_MAX + 1];
    rf__zoo_path path;

    rf__zoo_folder(&path, "lock:v1:", resource);
    assert_memory_equal(path.text, "/lock:v1:/", 10);
    assert_string_equal(path.text + 10, expected);
    assert_true(rf__zoo_read_folder(path.text + 10, back));
    assert_string_equal(back, resource);
}

static void test_any_resource_makes_a_name_and_comes_back(void **state)
{
    char longest[RF_RESOURCE_MAX + 1], expected[3 * RF_RESOURCE_MAX + 1];

    (void)state;
    assert_folder("inventory:sku-42", "inventory:sku-42");
    assert_folder("a/b", "a%2Fb");
    assert_folder(".", "%2E");
    assert_folder("..", "%2E.");
    assert_folder("100%", "100%25");
    assert_folder("a b", "a%20b");
    assert_folder("\xf0\x9f\x94\x92", "%F0%9F%94%92");
    for (int i = 0; i < RF_RESOURCE_MAX; i++) {
        longest[i] = '/';
        memcpy(expected + 3 * i, "%2F", 3);
    }
    longest[RF_RESOURCE_MAX] = expected[3 * RF_RESOURCE_MAX] = '\0';
    assert_folder(longest, expected);
}

static void test_folder_of_another_program_is_none_of_ours(void **state)
{
    char out[RF_RESOURCE_MAX + 1], longest[RF_RESOURCE_MAX + 2];

    (void)state;
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_false(rf__zoo_read_folder("", out));
    assert_false(rf__zoo_read_folder("a%", out));
    assert_false(rf__zoo_read_folder("a%2", out));
    assert_false(rf__zoo_read_folder("a%2x", out));
    assert_false(rf__zoo_read_folder("a%00", out));
    assert_false(rf__zoo_read_folder(longest, out));
}

static void test_holder_is_read_from_a_node_of_ours_alone(void **state)
{
    char out[RF_HOLDER_LEN + 1];

    (void)state;
    assert_true(rf__zoo_read_holder(HOLDER "-0000000007", out));
    assert_string_equal(out, HOLDER);
    assert_false(rf__zoo_read_holder(HOLDER, out));
    assert_false(rf__zoo_read_holder(HOLDER "-", out));
    assert_false(rf__zoo_read_holder(HOLDER "_0000000007", out));
    assert_false(rf__zoo_read_holder("_c_0-lock-0000000007", out));
    assert_false(rf__zoo_read_holder(
        "zz112233445566778899aabbccddeeff-0000000007", out));
}

/* ---- Numbers ----------------------------------------------------------------------- */

static void assert_number(const char *name, int32_t expected)
{
    int32_t number = 0;

    assert_true(rf__zoo_number(name, &number));
    assert_int_equal(number, expected);
}

static void test_number_is_what_the_server_has_added(void **state)
{
    int32_t number;

    (void)state;
    assert_number(HOLDER "-0000000000", 0);
    assert_number(HOLDER "-2147483647", INT32_MAX);
    assert_number(HOLDER "--2147483648", INT32_MIN);
    assert_number("_c_0-lock-0000000012", 12);
    assert_false(rf__zoo_number("", &number));
    assert_false(rf__zoo_number("lock-12", &number));
    assert_false(rf__zoo_number(HOLDER "-4000000000", &number));
}

static void test_after_the_greatest_number_comes_the_least(void **state)
{
    (void)state;
    assert_true(rf__zoo_is_before(1, 2));
    assert_false(rf__zoo_is_before(2, 1));
    assert_false(rf__zoo_is_before(2, 2));
    assert_true(rf__zoo_is_before(INT32_MAX, INT32_MIN));
    assert_false(rf__zoo_is_before(INT32_MIN, INT32_MAX));
}

/* ---- Who stands where ---------------------------------------------------------------- */

static rf__zoo_line line_up(const char *names, size_t n, const char *own)
{
    static rf__zoo_reply list;

    list.names = (char *)names;
    list.n = n;
    return rf__zoo_line_up(&list, own, HOLDER);
}

static void test_each_stands_behind_the_nearest_one_before(void **state)
{
    static const char names[] = OTHER "-0000000005\0" OTHER "-0000000003\0" //
        HOLDER "-0000000006\0" OTHER "-0000000009";
    rf__zoo_line line = line_up(names, 4, HOLDER "-0000000006");

    (void)state;
    assert_string_equal(line.first, OTHER "-0000000003");
    assert_string_equal(line.before, OTHER "-0000000005");
    assert_string_equal(line.own, HOLDER "-0000000006");
    assert_string_equal(line.found, HOLDER "-0000000006");
}

static void test_line_goes_on_past_the_greatest_number(void **state)
{
    static const char names[] = HOLDER "--2147483648\0" OTHER "-2147483647";
    rf__zoo_line line = line_up(names, 2, HOLDER "--2147483648");

    (void)state;
    assert_string_equal(line.first, OTHER "-2147483647");
    assert_string_equal(line.before, OTHER "-2147483647");
}

static void test_what_has_no_number_stands_in_front(void **state)
{
    static const char names[] = HOLDER "-0000000000\0by-hand";
    rf__zoo_line line = line_up(names, 2, HOLDER "-0000000000");

    (void)state;
    assert_string_equal(line.first, "by-hand");
    assert_string_equal(line.before, "by-hand");
}

static void test_nobody_is_nowhere(void **state)
{
    rf__zoo_line line = line_up("", 0, HOLDER "-0000000000");

    (void)state;
    assert_null(line.first);
    assert_null(line.own);
    assert_null(line.before);
    assert_null(line.found);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_resource_makes_a_name_and_comes_back),
        cmocka_unit_test(test_folder_of_another_program_is_none_of_ours),
        cmocka_unit_test(test_holder_is_read_from_a_node_of_ours_alone),
        cmocka_unit_test(test_number_is_what_the_server_has_added),
        cmocka_unit_test(test_after_the_greatest_number_comes_the_least),
        cmocka_unit_test(test_each_stands_behind_the_nearest_one_before),
        cmocka_unit_test(test_line_goes_on_past_the_greatest_number),
        cmocka_unit_test(test_what_has_no_number_stands_in_front),
        cmocka_unit_test(test_nobody_is_nowhere),
    };

    return run_group(tests, NULL, NULL);
}
