/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * client.c - what a client is, for as long as anybody leans on it
 *
 * Its options, the text of its failures, who uses it, and the end of its waits.
 */
#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "script.h"

/* A failed rf_open() has no client that could keep its text. */
static _Thread_local rf__error open_error;

/* Braces would move the keys of one resource to different cluster slots. */
static int prefix_valid(const char *prefix)
{
    size_t n = 0;

    if (prefix == NULL)
        return 0;
    while (prefix[n] > ' ' && prefix[n] < 127 && prefix[n] != '{' &&
           prefix[n] != '}')
        n++;
    return prefix[n] == '\0' && n >= 1 && n <= RF__PREFIX_MAX;
}

static rf_status check_options(const rf_options *opts)
{
    if (!prefix_valid(opts->prefix)) {
        rf__set_error(&open_error,
                      "option prefix: 1 to %d printable bytes "
                      "without space or braces",
                      RF__PREFIX_MAX);
        return RF_MISUSE;
    }
    if (opts->timeout_ms < 1 || opts->timeout_ms > RF_TTL_MAX_MS) {
        rf__set_error(&open_error, "option timeout_ms: 1 to %d", RF_TTL_MAX_MS);
        return RF_MISUSE;
    }
    if (opts->rate_per_s < 0 || opts->rate_per_s > RF__RATE_MAX) {
        rf__set_error(&open_error, "option rate_per_s: 0 to %d", RF__RATE_MAX);
        return RF_MISUSE;
    }
    if (opts->breaker_failures < 0 || opts->breaker_ms < 1) {
        rf__set_error(&open_error, "option breaker_failures: 0 or more; "
                                   "breaker_ms: 1 or more");
        return RF_MISUSE;
    }
    if (opts->min_replicas < 0 || opts->min_replicas > RF__REPLICAS_MAX ||
        opts->replicas_ms < 1) {
        rf__set_error(&open_error,
                      "option min_replicas: 0 to %d; "
                      "replicas_ms: 1 or more",
                      RF__REPLICAS_MAX);
        return RF_MISUSE;
    }
    if (opts->counter_idle_ms < 0 || opts->counter_idle_ms > RF_IDLE_MAX_MS) {
        rf__set_error(&open_error, "option counter_idle_ms: 0 to %lld",
                      (long long)RF_IDLE_MAX_MS);
        return RF_MISUSE;
    }
    return RF_OK;
}

rf__error *rf__open_error(void)
{
    return &open_error;
}

rf_status rf__client_new(const rf_options *opts, rf_client **out)
{
    rf_client *client;
    rf_status status = check_options(opts);

    *out = NULL;
    if (status != RF_OK)
        return status;
    rf__set_error(&open_error, "out of memory");
    client = calloc(1, sizeof(*client));
    if (client == NULL)
        return RF_NOMEM;
    client->users = 1;
    client->timeout_ms = opts->timeout_ms;
    client->counters_go = opts->counter_idle_ms > 0;
    client->busy_ms = -1;
    rf__limits_init(&client->limits, opts);
    client->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->cancel_fd < 0) {
        rf__set_error(&open_error, "the system gives no descriptor");
        free(client);
        return RF_RETRY;
    }
    *out = client;
    return RF_OK;
}

void rf__client_free(rf_client *client)
{
    close(client->cancel_fd);
    rf__client_drop(client);
}

void rf__client_keep(rf_client *client)
{
    client->users++;
}

void rf__client_drop(rf_client *client)
{
    if (--client->users == 0)
        free(client);
}

/* Called from other threads and from signal handlers: nothing but a write. */
void rf_cancel(rf_client *client)
{
    static const uint64_t one = 1;
    int before = errno;

    if (write(client->cancel_fd, &one, sizeof(one)) < 0) {
        /* It is full: the wait is about to end anyway. */
    }
    errno = before;
}

int rf__client_cancelled(rf_client *client)
{
    uint64_t times;

    return read(client->cancel_fd, &times, sizeof(times)) == sizeof(times);
}

const char *rf_message(const rf_client *client)
{
    return client != NULL ? client->error.text : open_error.text;
}

int64_t rf_busy_ms(const rf_client *client)
{
    return client->busy_ms;
}

rf__error *rf__client_error(rf_client *client)
{
    return &client->error;
}
