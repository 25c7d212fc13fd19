/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_redis_steps.c - a connection that is never waited for
 */
#include "redis_world.h"

#include <poll.h>
#include <string.h>

#include "redis.h"
#include "url.h"
#include "wake.h"

static rf__error error;

static rf__redis *new_to(const char *text)
{
    rf__service where;
    rf__redis *r;

    assert_status(rf__service_parse(text, &where, &error), RF_OK);
    r = rf__redis_new(&where.node[0], 1000);
    assert_non_null(r);
    return r;
}

/* As an event loop would: again when what it asked for has come. */
static rf_status connect_in_steps(rf__redis *r)
{
    rf_status status = RF__PENDING;

    while (status == RF__PENDING) {
        struct pollfd p = { 0 };

        status = rf__redis_step_connect(r, &p.events, &error);
        p.fd = rf__redis_fd(r);
        if (status == RF__PENDING)
            assert_true(poll(&p, 1, 5000) == 1);
    }
    return status;
}

static void test_nobody_listening_is_retry(void **state)
{
    static const char *const urls[] = { "redis+unix:///nonexistent/s",
                                        "redis://127.0.0.1:1" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        rf__redis *r = new_to(urls[i]);

        assert_status(connect_in_steps(r), RF_RETRY);
        assert_non_null(strstr(error.text, "cannot connect"));
        rf__redis_free(r);
    }
}

/* More than the system takes at once, to a server that reads nothing. */
static void test_what_does_not_go_out_is_pending_then_unknown(void **state)
{
    redis_server *own = redis_server_start(NULL);
    rf__redis *r = new_to(redis_server_url(own));
    short events = 0;

    (void)state;
    assert_status(connect_in_steps(r), RF_OK);
    redis_server_freeze(own);
    for (int i = 0; i < 100000; i++)
        assert_true(rf__wake_write(rf__redis_out(r), "key", 1000));
    assert_true(rf__redis_step_send(r, &events, &error) == RF__PENDING);
    assert_int_equal(events, POLLOUT);
    redis_server_kill(own);
    /* Part of it was on its way: what became of it nobody knows. */
    assert_status(rf__redis_step_send(r, &events, &error), RF_UNKNOWN);
    assert_non_null(strstr(error.text, "lost while sending"));
    assert_int_equal(rf__redis_fd(r), -1);
    rf__redis_free(r);
    redis_server_stop(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_listening_is_retry),
        cmocka_unit_test(test_what_does_not_go_out_is_pending_then_unknown),
    };

    return run_group(tests, NULL, NULL);
}
