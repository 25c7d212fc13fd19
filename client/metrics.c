/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * metrics.c - what a client has done, for those who watch it
 *
 * Counters without a lock: each is right by itself, a snapshot of all of them
 * may be in the middle of a call.
 */
#include "client.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const int64_t bounds_us[RF_BUCKETS - 1] = {
    100,   200,    500,    1000,   2000,    5000,    10000,   20000,
    50000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000
};

static const char *const call_names[RF_CALLS] = { "acquire", "renew", "release",
                                                  "reissue" };
static const char *const timing_names[RF_TIMINGS] = { "acquire", "wait",
                                                      "renew" };
static const char *const reason_names[RF_REASONS] = { "", "expired", "taken",
                                                      "cap", "unreachable" };

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void tell(rf__metrics *m, const rf_event *event)
{
    if (m->hook != NULL)
        m->hook(event, m->arg);
}

void rf__metrics_call(rf__metrics *m, const rf_event *event)
{
    if ((int)event->call < RF_CALLS && (int)event->status < RF_OUTCOMES)
        add(&m->calls[event->call][event->status], 1);
    tell(m, event);
}

void rf__metrics_lost(rf__metrics *m, const rf_event *event)
{
    add(&m->lost[event->reason], 1);
    tell(m, event);
}

void rf__metrics_time(rf__metrics *m, rf_timing which, int64_t us)
{
    int i = 0;

    while (i < RF_BUCKETS - 1 && us > bounds_us[i])
        i++;
    add(&m->timing[which].bucket[i], 1);
    add(&m->timing[which].sum_us, us > 0 ? (uint64_t)us : 0);
}

void rf_set_hook(rf_client *client, rf_hook hook, void *arg)
{
    client->metrics.hook = hook;
    client->metrics.arg = arg;
}

void rf_get_stats(const rf_client *client, rf_stats *out)
{
    const rf__metrics *m = &client->metrics;

    memset(out, 0, sizeof(*out));
    for (int i = 0; i < RF_CALLS; i++) {
        for (int j = 0; j < RF_OUTCOMES; j++)
            out->calls[i][j] = get(&m->calls[i][j]);
    }
    for (int i = 0; i < RF_REASONS; i++)
        out->lost[i] = get(&m->lost[i]);
    for (int i = 0; i < RF_TIMINGS; i++) {
        out->timing[i].sum_us = get(&m->timing[i].sum_us);
        for (int j = 0; j < RF_BUCKETS; j++) {
            out->timing[i].bucket[j] = get(&m->timing[i].bucket[j]);
            out->timing[i].count += out->timing[i].bucket[j];
        }
    }
}

/* ---- Prometheus ------------------------------------------------------------- */

typedef struct text {
    char *at;
    size_t size, len; /* len goes on counting when there is no more room */
} text;

static void put(text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(text *t, const char *format, ...)
{
    size_t room = t->len < t->size ? t->size - t->len : 0;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(room > 0 ? t->at + t->len : NULL, room, format, args);
    va_end(args);
    t->len += n > 0 ? (size_t)n : 0;
}

static void put_calls(text *t, const rf_stats *s)
{
    put(t, "# HELP ringfence_calls_total Calls by outcome.\n"
           "# TYPE ringfence_calls_total counter\n");
    for (int i = 0; i < RF_CALLS; i++) {
        for (int j = 0; j < RF_OUTCOMES; j++) {
            if (s->calls[i][j] != 0 || j == RF_OK)
                put(t,
                    "ringfence_calls_total{call=\"%s\",outcome=\"%s\"} "
                    "%" PRIu64 "\n",
                    call_names[i], rf_status_name((rf_status)j),
                    s->calls[i][j]);
        }
    }
}

static void put_lost(text *t, const rf_stats *s)
{
    put(t, "# HELP ringfence_lost_total Kept locks that were lost.\n"
           "# TYPE ringfence_lost_total counter\n");
    for (int i = 1; i < RF_REASONS; i++)
        put(t, "ringfence_lost_total{reason=\"%s\"} %" PRIu64 "\n",
            reason_names[i], s->lost[i]);
}

static void put_timing(text *t, const rf_histogram *h, const char *name)
{
    uint64_t below = 0;

    for (int i = 0; i < RF_BUCKETS - 1; i++) {
        below += h->bucket[i];
        put(t, "ringfence_seconds_bucket{step=\"%s\",le=\"%g\"} %" PRIu64 "\n",
            name, (double)bounds_us[i] / 1e6, below);
    }
    put(t, "ringfence_seconds_bucket{step=\"%s\",le=\"+Inf\"} %" PRIu64 "\n",
        name, h->count);
    put(t, "ringfence_seconds_sum{step=\"%s\"} %.6f\n", name,
        (double)h->sum_us / 1e6);
    put(t, "ringfence_seconds_count{step=\"%s\"} %" PRIu64 "\n", name,
        h->count);
}

size_t rf_stats_text(const rf_client *client, char *out, size_t size)
{
    text t = { .at = out, .size = size };
    rf_stats s;

    rf_get_stats(client, &s);
    put_calls(&t, &s);
    put_lost(&t, &s);
    put(&t, "# HELP ringfence_seconds Time that steps took.\n"
            "# TYPE ringfence_seconds histogram\n");
    for (int i = 0; i < RF_TIMINGS; i++)
        put_timing(&t, &s.timing[i], timing_names[i]);
    return t.len;
}
