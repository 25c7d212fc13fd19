/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_link.c - a statement with a name is planned once, and never missed
 */
#include "rf_test.h"

#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "pg_link.h"

#define DIVIDE "SELECT 12 / $1::integer"
#define NAME   "ringfence_test"

static PGconn *admin;
static rf__pg_link link_;
static rf__error error;

static int start(void **state)
{
    (void)state;
    admin = database_connect("");
    link_ = (rf__pg_link){ .url = "postgresql://" };
    return 0;
}

static int stop(void **state)
{
    (void)state;
    rf__pg_link_close(&link_);
    PQfinish(admin);
    return 0;
}

/* What 12 divided by that is: the answer must be it, if there is one. */
static rf_status divide(const char *by)
{
    const rf__pg_step step = { DIVIDE, 1, NULL, &by };
    rf__pg_talk talk = { .steps = &step,
                         .n = 1,
                         .until_ms = rf__now_ms() + 10000,
                         .error = &error };
    rf_status status;

    memset(&error, 0, sizeof(error));
    status = rf__pg_link_talk_as(&link_, NAME, &talk);
    if (status == RF_OK)
        assert_int_equal(strtol(PQgetvalue(talk.last, 0, 0), NULL, 10),
                         12 / strtol(by, NULL, 10));
    else
        assert_null(talk.last);
    PQclear(talk.last);
    return status;
}

/* How often the statement of that name was run; -1: there is none. */
static long long runs(void)
{
    return database_number(
        link_.conn, "SELECT max(generic_plans + custom_plans)"
                    " FROM pg_prepared_statements"
                    " WHERE name = '" NAME "' AND statement = '" DIVIDE "'");
}

static void test_a_name_is_parsed_once_and_then_only_called(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        assert_status(divide("3"), RF_OK);
    assert_int_equal(runs(), 10);
}

static void test_a_step_that_fails_leaves_its_name_in_use(void **state)
{
    (void)state;
    assert_status(divide("0"), RF_MISUSE);
    assert_string_equal(error.sqlstate, "22012");
    assert_status(divide("0"), RF_MISUSE);
    assert_string_equal(error.sqlstate, "22012");
    assert_status(divide("4"), RF_OK);
    /* By zero it is not even planned. */
    assert_int_equal(runs(), 1);
}

static void test_a_name_that_is_gone_or_taken_does_no_harm(void **state)
{
    (void)state;
    assert_status(divide("3"), RF_OK);
    database_run(link_.conn, "DEALLOCATE ALL");
    assert_status(divide("4"), RF_OK);
    assert_string_equal(error.text, "");
    assert_string_equal(error.sqlstate, "");
    assert_status(divide("6"), RF_OK);
    assert_int_equal(runs(), -1);

    rf__pg_link_close(&link_);
    assert_status(rf__pg_link_open(&link_, rf__now_ms() + 10000, &error),
                  RF_OK);
    database_run(link_.conn, "PREPARE " NAME " AS SELECT $1::integer");
    assert_status(divide("3"), RF_OK);
    assert_status(divide("4"), RF_OK);
    assert_int_equal(runs(), -1);
}

static void test_a_connection_made_anew_knows_no_names(void **state)
{
    (void)state;
    assert_status(divide("3"), RF_OK);
    database_terminate(admin, link_.conn);
    assert_status(divide("4"), RF_OK);
    assert_status(divide("6"), RF_OK);
    assert_int_equal(runs(), 2);
}

static void test_behind_a_pooler_nothing_has_a_name(void **state)
{
    (void)state;
    assert_status(rf__pg_link_open(&link_, rf__now_ms() + 10000, &error),
                  RF_OK);
    link_.pooled = 1;
    assert_status(divide("3"), RF_OK);
    assert_int_equal(runs(), -1);
}

#define link_test(t) cmocka_unit_test_setup_teardown(t, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        link_test(test_a_name_is_parsed_once_and_then_only_called),
        link_test(test_a_step_that_fails_leaves_its_name_in_use),
        link_test(test_a_name_that_is_gone_or_taken_does_no_harm),
        link_test(test_a_connection_made_anew_knows_no_names),
        link_test(test_behind_a_pooler_nothing_has_a_name),
    };

    return run_group(tests, NULL, NULL);
}
