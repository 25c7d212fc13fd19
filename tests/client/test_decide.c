/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_decide.c - the rule that guard and triggers share, tested alone
 */
#include "rf_test.h"

#include <stdlib.h>

#include "../../pg_extension/decide.h"

#define ABOVE_DOUBLES 9007199254740992 /* 2^53: next to it a double is blind */

static const int64_t fences[] = { 0,
                                  1,
                                  2,
                                  41,
                                  42,
                                  INT32_MAX,
                                  (int64_t)INT32_MAX + 1,
                                  UINT32_MAX,
                                  (int64_t)UINT32_MAX + 1,
                                  ABOVE_DOUBLES,
                                  ABOVE_DOUBLES + 1,
                                  INT64_MAX - 1,
                                  INT64_MAX };
static const char *const holders[] = { NULL, "", "a", "A", "ab", "\xff" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Call check for every stored fence and holder with every presented ones. */
static void for_all(void (*check)(int64_t stored, const char *stored_holder,
                                  int64_t fence, const char *holder))
{
    for (size_t i = 0; i < COUNT(fences); i++)
        for (size_t j = 0; j < COUNT(fences); j++)
            for (size_t k = 0; k < COUNT(holders); k++)
                for (size_t l = 0; l < COUNT(holders); l++)
                    check(fences[i], holders[k], fences[j], holders[l]);
}

static void greater(int64_t stored, const char *stored_holder, int64_t fence,
                    const char *holder)
{
    if (fence > stored)
        assert_int_equal(rf_decide(stored, stored_holder, fence, holder),
                         RF_ADVANCE);
}

static void test_greater_fence_advances_whoever_holds(void **state)
{
    (void)state;
    for_all(greater);
}

static void lower(int64_t stored, const char *stored_holder, int64_t fence,
                  const char *holder)
{
    if (fence < stored)
        assert_int_equal(rf_decide(stored, stored_holder, fence, holder),
                         RF_REFUSE_STALE);
}

static void test_lower_fence_is_stale_whoever_holds(void **state)
{
    (void)state;
    for_all(lower);
}

static void equal(int64_t stored, const char *stored_holder, int64_t fence,
                  const char *holder)
{
    /* The holders of the table differ, so the same one is the same place. */
    if (fence == stored)
        assert_int_equal(rf_decide(stored, stored_holder, fence, holder),
                         stored_holder == holder ? RF_PASS
                                                 : RF_REFUSE_COLLISION);
}

static void test_equal_fence_passes_for_the_same_holder_alone(void **state)
{
    (void)state;
    for_all(equal);
}

static void test_holder_is_compared_by_its_bytes_not_its_place(void **state)
{
    char one[] = "0123456789abcdef0123456789abcdef";
    char two[] = "0123456789abcdef0123456789abcdef";

    (void)state;
    assert_int_equal(rf_decide(7, one, 7, two), RF_PASS);
    two[31] = 'e';
    assert_int_equal(rf_decide(7, one, 7, two), RF_REFUSE_COLLISION);
}

/* Random grants, in any order: what has passed last is never undercut. */
static void test_stored_fence_never_goes_down(void **state)
{
    static const char *const names[] = { NULL, "a", "b", "c" };
    int64_t stored = 0;
    const char *stored_holder = NULL;
    unsigned seed = 20;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t fence = stored - 2 + rand_r(&seed) % 5;
        const char *holder = names[rand_r(&seed) % COUNT(names)];
        RfDecision decision = rf_decide(stored, stored_holder, fence, holder);

        if (decision != RF_ADVANCE && decision != RF_PASS)
            continue;
        assert_true(fence >= stored);
        assert_true(fence > stored || holder == stored_holder);
        stored = fence;
        stored_holder = holder;
    }
    assert_true(stored > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greater_fence_advances_whoever_holds),
        cmocka_unit_test(test_lower_fence_is_stale_whoever_holds),
        cmocka_unit_test(test_equal_fence_passes_for_the_same_holder_alone),
        cmocka_unit_test(test_holder_is_compared_by_its_bytes_not_its_place),
        cmocka_unit_test(test_stored_fence_never_goes_down),
    };

    return run_group(tests, NULL, NULL);
}
