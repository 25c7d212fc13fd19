/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_words.c - which statements may share the guard's transaction
 */
#include <string.h>

#include "pg_internal.h"
#include "rf_test.h"

static rf__error error;

static void test_ordinary_statements_pass(void **state)
{
    static const char *const fine[] = {
        "UPDATE t SET a = 1",
        "select 1",
        "(SELECT 1)",
        "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
        "/* COMMIT */ INSERT INTO t VALUES (1)",
        "-- COMMIT\nDELETE FROM t",
        ";; MERGE INTO t USING s ON true WHEN MATCHED THEN DO NOTHING",
        "EXPLAIN UPDATE t SET a = 1",
        "commitment",
        "DOES",
        "do_it",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
        assert_status(rf__pg_check_sql(fine[i], &error), RF_OK);
}

static void test_what_begins_or_ends_a_transaction_is_refused(void **state)
{
    static const char *const words[] = {
        "BEGIN",
        "START TRANSACTION",
        "COMMIT",
        "END",
        "ROLLBACK",
        "ABORT",
        "SAVEPOINT s",
        "RELEASE s",
        "PREPARE TRANSACTION 'x'",
        "COMMIT;",
        "commit",
        "Commit/**/",
        "COMMIT--now",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        assert_status(rf__pg_check_sql(words[i], &error), RF_MISUSE);
}

static void test_what_may_commit_in_its_middle_is_refused(void **state)
{
    (void)state;
    assert_status(rf__pg_check_sql("CALL p()", &error), RF_MISUSE);
    assert_non_null(strstr(error.text, "rf_pg_begin"));
    assert_status(rf__pg_check_sql("DO $$BEGIN COMMIT; END$$", &error),
                  RF_MISUSE);
    assert_non_null(strstr(error.text, "rf_pg_begin"));
}

static void test_copy_is_refused(void **state)
{
    (void)state;
    assert_status(rf__pg_check_sql("copy t FROM STDIN", &error), RF_MISUSE);
    assert_null(strstr(error.text, "rf_pg_begin"));
}

static void test_nothing_hides_the_first_word(void **state)
{
    static const char *const hidden[] = {
        " \t\r\n\f\v;COMMIT", "-- a\nCOMMIT",
        "-- a\rCOMMIT",       "--\n--\nCOMMIT",
        "/* a */COMMIT",      "/* a /* b */ c */COMMIT",
        "/**/COMMIT",         "/***/COMMIT",
        "/*/ a */COMMIT",     ";/* a */ ; -- b\n ; COMMIT",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        assert_status(rf__pg_check_sql(hidden[i], &error), RF_MISUSE);
}

static void test_empty_statement_is_refused(void **state)
{
    static const char *const empty[] = { "",     " ",
                                         ";",    "-- COMMIT",
                                         "/* a", "/* a /* b */ UPDATE" };

    (void)state;
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        assert_status(rf__pg_check_sql(empty[i], &error), RF_MISUSE);
        assert_non_null(strstr(error.text, "empty"));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary_statements_pass),
        cmocka_unit_test(test_what_begins_or_ends_a_transaction_is_refused),
        cmocka_unit_test(test_what_may_commit_in_its_middle_is_refused),
        cmocka_unit_test(test_copy_is_refused),
        cmocka_unit_test(test_nothing_hides_the_first_word),
        cmocka_unit_test(test_empty_statement_is_refused),
    };

    return run_group(tests, NULL, NULL);
}
