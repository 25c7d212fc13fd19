/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * throttle.c - what protects the lock service from its clients
 *
 * Both limits live in the client and ask nobody.
 */
#include "throttle.h"

void rf__limits_init(rf__limits *l, const rf_options *opts)
{
    l->rate_per_s = opts->rate_per_s;
    l->breaker_failures = opts->breaker_failures;
    l->breaker_ms = opts->breaker_ms;
    l->next_us = 0;
    l->failures = 0;
    l->open_until_ms = 0;
}

/*
 * Requests are spaced evenly on a line of their own.  Who has been idle may run
 * ahead of it by one second's worth, and no further.
 */
static int rate_allows(rf__limits *l, int64_t now_ms)
{
    int64_t now_us = now_ms * 1000, step_us;

    if (l->rate_per_s == 0)
        return 1;
    step_us = 1000000 / l->rate_per_s;
    if (l->next_us < now_us)
        l->next_us = now_us;
    if (l->next_us + step_us > now_us + step_us * l->rate_per_s)
        return 0;
    l->next_us += step_us;
    return 1;
}

/*
 * Open for breaker_ms after so many failures; then one request goes to see, and
 * the breaker stays shut against all others until it has come back.
 */
static int breaker_allows(rf__limits *l, int64_t now_ms)
{
    if (l->breaker_failures == 0 || l->failures < l->breaker_failures)
        return 1;
    if (now_ms < l->open_until_ms)
        return 0;
    l->open_until_ms = now_ms + l->breaker_ms;
    return 1;
}

rf_status rf__limits_pass(rf__limits *l, rf__error *error)
{
    int64_t now_ms = rf__now_ms();

    if (!breaker_allows(l, now_ms)) {
        rf__set_error(error,
                      "the breaker is open: Redis failed %d times in a row",
                      l->failures);
        return RF_REFUSED;
    }
    if (!rate_allows(l, now_ms)) {
        rf__set_error(error, "more than %d requests in a second",
                      l->rate_per_s);
        return RF_REFUSED;
    }
    return RF_OK;
}

void rf__limits_note(rf__limits *l, rf_status status)
{
    if (status != RF_RETRY && status != RF_UNKNOWN) {
        l->failures = 0;
        return;
    }
    if (l->failures < INT32_MAX)
        l->failures++;
    l->open_until_ms = rf__now_ms() + l->breaker_ms;
}
