/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_examine.c - what a database is told to be like
 *
 * Each single sickness is given to one by
 * tests/cli/the_doctor_says_what_the_fence_is_worth.sh; here is what the call
 * itself promises.
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "pg_world.h"

static void note(const rf_finding *finding, void *arg)
{
    char *subjects = arg;
    size_t used = strlen(subjects);

    assert_int_equal(strncmp(finding->where, "database ", 9), 0);
    assert_string_not_equal(finding->found, "");
    if (finding->severity != RF_FINE) {
        assert_string_not_equal(finding->meaning, "");
        assert_string_not_equal(finding->remedy, "");
    }
    snprintf(subjects + used, 512 - used, "%s ", finding->subject);
}

static void test_every_question_is_answered(void **state)
{
    char subjects[512] = "";

    (void)state;
    assert_status(rf_pg_examine(world.conn, note, subjects), RF_OK);
    assert_string_equal(subjects, "version role fsync synchronous_commit "
                                  "standbys idle_in_transaction_session_timeout"
                                  " lock_timeout preload clock extension "
                                  "privileges ");
    world_assert_idle();
}

static void test_examine_demands_an_idle_connection_and_a_listener(void **state)
{
    char subjects[512] = "";

    (void)state;
    assert_status(rf_pg_examine(NULL, note, subjects), RF_MISUSE);
    assert_status(rf_pg_examine(world.conn, NULL, NULL), RF_MISUSE);
    database_run(world.conn, "BEGIN");
    assert_status(rf_pg_examine(world.conn, note, subjects), RF_MISUSE);
    database_run(world.conn, "ROLLBACK");
    database_terminate(world.admin, world.conn);
    assert_status(rf_pg_examine(world.conn, note, subjects), RF_RETRY);
    assert_string_equal(subjects, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        world_test(test_every_question_is_answered),
        world_test(test_examine_demands_an_idle_connection_and_a_listener),
    };

    return run_group(tests, world_start, world_stop);
}
