/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_answer.c - what the scripts' answers are taken for
 *
 * An answer that is not exactly one of those that a script gives is nonsense,
 * and nothing is made of it: Redis may have been given other scripts, by hand
 * or by a version to come.
 */
#include "rf_test.h"

#include <string.h>

#include "answer.h"

/* A reply of these words, up to the first NULL. */
static void words(rf__reply *reply, const char *const *word)
{
    long long n = 0;

    while (word[n] != NULL)
        n++;
    rf__reply_clear(reply);
    assert_true(rf__reply_add(reply, RF__ARRAY, n));
    for (long long i = 0; i < n; i++)
        assert_true(
            rf__reply_add_text(reply, RF__STRING, word[i], strlen(word[i])));
}

static rf__reply reply;
static rf__error error;

static int free_reply(void **state)
{
    (void)state;
    rf__reply_free(&reply);
    memset(&reply, 0, sizeof(reply));
    memset(&error, 0, sizeof(error));
    return 0;
}

static void test_what_is_no_answer_to_acquire_grants_nothing(void **state)
{
    static const char *const bad[][7] = {
        { "acquire", "h", "t", "DONE", "1", "1000" },
        { "acquire", "h", "t", "OK", "0", "1000" },
        { "acquire", "h", "t", "OK", "-5", "1000" },
        { "acquire", "h", "t", "OK", "01", "1000" },
        { "acquire", "h", "t", "OK", "9007199254740992", "1000" },
        { "acquire", "h", "t", "OK", "1", "soon" },
        { "acquire", "h", "t", "OK", "1" },
        { "acquire", "h", "t", "REPLAY", "", "1000" },
        { "acquire", "h", "t", "BUSY", "long", "ours" },
        { "acquire", "h", "t", "BUSY", "10", "nobody" },
        { "acquire", "h", "t", "BUSY", "10" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        rf__grant grant = { .resource = "r" };

        words(&reply, bad[i]);
        assert_int_equal(rf__answer_acquired(&grant, &reply, &error),
                         RF__NONSENSE);
    }
}

static void test_owner_in_the_way_is_one_of_three(void **state)
{
    static const char *const owners[] = { "ours", "kept", "foreign" };

    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *const busy[] = { "acquire", "h",       "t", "BUSY",
                                     "10",      owners[i], NULL };
        rf__grant grant = { .resource = "r" };

        words(&reply, busy);
        assert_status(rf__answer_acquired(&grant, &reply, &error), RF_BUSY);
        assert_int_equal(grant.busy_ms, 10);
        assert_int_equal(grant.busy_by, i);
    }
}

static void test_script_that_refuses_an_argument_is_misuse(void **state)
{
    static const char *const refused[] = { "renew",        "h",   "t",
                                           "ARGUMENT_BAD", "ttl", NULL };
    rf__grant grant = { .resource = "r" };

    (void)state;
    words(&reply, refused);
    assert_status(rf__answer_done(&grant, &reply, &error), RF_MISUSE);
    assert_non_null(strstr(error.text, "refuses its argument ttl"));
}

static void test_fence_that_is_not_raised_is_not_taken(void **state)
{
    static const char *const low[] = { "reissue", "h",    "t", "OK",
                                       "7",       "1000", NULL };
    rf__grant grant = { .resource = "r", .fence = 5 };

    (void)state;
    words(&reply, low);
    assert_int_equal(rf__answer_reissued(&grant, 7, &reply, &error),
                     RF__NONSENSE);
    grant.fence = 7;
    assert_int_equal(rf__answer_reissued(&grant, 3, &reply, &error),
                     RF__NONSENSE);
    grant.fence = 6;
    assert_status(rf__answer_reissued(&grant, 6, &reply, &error), RF_OK);
    assert_int_equal(grant.fence, 7);
}

#define HOLDER "0123456789abcdef0123456789abcdef"

/* state, fence, holder, left_ms, counter, readers, waited_for, counter_left */
static const char *const held[] = { "inspect", "",  "t", "held", "7",    HOLDER,
                                    "900",     "7", "0", "0",    "5000", NULL };

static void test_inspection_tells_what_there_is(void **state)
{
    rf_info info = { 0 };

    (void)state;
    words(&reply, held);
    assert_true(rf__answer_info(&reply, &info));
    assert_true(info.held);
    assert_int_equal(info.fence, 7);
    assert_int_equal(info.counter, 7);
    assert_int_equal(info.counter_left_ms, 5000);
    assert_string_equal(info.holder, HOLDER);
}

static void test_inspection_with_one_odd_word_tells_nothing(void **state)
{
    static const struct {
        size_t at;
        const char *word;
    } odd[] = {
        { 3, "lost" },   { 4, "0" },       { 4, "x" },   { 5, "" },
        { 5, "holder" }, { 6, "-2" },      { 6, "" },    { 7, "0" },
        { 7, "x" },      { 9, "perhaps" }, { 10, "-1" }, { 10, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        const char *changed[sizeof(held) / sizeof(held[0])];
        rf_info info = { 0 };

        memcpy(changed, held, sizeof(held));
        changed[odd[i].at] = odd[i].word;
        words(&reply, changed);
        assert_false(rf__answer_info(&reply, &info));
    }
}

static void test_inspection_of_readers_counts_them_or_fails(void **state)
{
    const char *shared[] = { "inspect", "",  "t", "shared", "",  "",
                             "900",     "7", "2", "0",      "0", NULL };
    rf_info info = { 0 };

    (void)state;
    words(&reply, shared);
    assert_true(rf__answer_info(&reply, &info));
    assert_int_equal(info.readers, 2);
    shared[8] = "many";
    words(&reply, shared);
    assert_false(rf__answer_info(&reply, &info));
    shared[8] = "2";
    shared[10] = NULL;
    words(&reply, shared);
    assert_false(rf__answer_info(&reply, &info));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, free_reply)
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_no_answer_to_acquire_grants_nothing),
        CASE(test_owner_in_the_way_is_one_of_three),
        CASE(test_script_that_refuses_an_argument_is_misuse),
        CASE(test_fence_that_is_not_raised_is_not_taken),
        CASE(test_inspection_tells_what_there_is),
        CASE(test_inspection_with_one_odd_word_tells_nothing),
        CASE(test_inspection_of_readers_counts_them_or_fails),
    };

    return run_group(tests, NULL, NULL);
}
