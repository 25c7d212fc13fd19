/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * fuzz_client.c - the whole client against servers that answer anything
 *
 * The first byte says which kind of service, the second how many calls, then a
 * byte for each call; the rest is what the server answers (server.h).
 */
#include "fuzz.h"

#include <string.h>

#include "ringfence.h"
#include "server.h"

static rf_client *client;
static rf_lock *lock, *pair[2];

/* An outcome that the header names, with a text unless all is well. */
static void check_outcome(rf_status status)
{
    must(status >= RF_OK && status <= RF_NOMEM);
    must(status != RF_NOMEM);
    if (status != RF_OK && status != RF_BUSY && status != RF_TIMEOUT)
        must(rf_message(client)[0] != '\0');
}

/* A grant is complete, or there is none. */
static void check_grant(rf_status status, const rf_lock *it, int shared)
{
    check_outcome(status);
    must((it != NULL) == (status == RF_OK));
    if (it == NULL)
        return;
    must(strlen(rf_lock_holder(it)) == RF_HOLDER_LEN);
    must(shared ? rf_lock_fence(it) == 0 : rf_lock_fence(it) >= 0);
    must(rf_lock_fence(it) <= RF_FENCE_MAX);
    must(rf_lock_left_ms(it) >= 0 && rf_lock_left_ms(it) <= 30000);
}

static void release(rf_lock **it)
{
    if (*it != NULL)
        check_outcome(rf_release(*it));
    *it = NULL;
}

/* What a database may say; with 0 nobody is asked. */
static rf_floor_ask ask_floor;

static rf_status tell_floor(void *arg, const char *resource, rf_fence *out)
{
    (void)arg;
    must(strcmp(resource, "r") == 0 || resource[0] == '{');
    *out = 41;
    return RF_OK;
}

static void acquire(int64_t wait_ms, int shared)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_status status;

    release(&lock);
    opts.ttl_ms = 30000;
    opts.wait_ms = wait_ms;
    opts.shared = shared;
    opts.ask_floor = ask_floor;
    status = rf_acquire(client, "r", &opts, &lock);
    check_grant(status, lock, shared);
    must(rf_busy_ms(client) >= -1);
}

static void acquire_all(void)
{
    static const char *const names[] = { "{a}", "{b}" };
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_status status;

    release(&pair[0]);
    release(&pair[1]);
    opts.ask_floor = ask_floor;
    status = rf_acquire_all(client, names, 2, &opts, pair);
    check_grant(status, pair[0], 0);
    check_grant(status, pair[1], 0);
}

/* Both or one of them or none: what is not there is NULL. */
static void renew_all(void)
{
    rf_status status = rf_renew_all(pair, 2, 30000);

    check_outcome(status);
    for (int i = 0; i < 2; i++)
        must(pair[i] == NULL || rf_lock_left_ms(pair[i]) <= 30000);
}

static void release_all(void)
{
    check_outcome(rf_release_all(pair, 2));
    must(pair[0] == NULL && pair[1] == NULL);
}

static void inspect(void)
{
    rf_info info;
    rf_status status = rf_inspect(client, "r", &info);

    check_outcome(status);
    if (status != RF_OK)
        return;
    must(info.held == 0 || info.held == 1);
    must(info.fence >= 0 && info.fence <= RF_FENCE_MAX);
    must(info.counter >= -1 && info.counter <= RF_FENCE_MAX);
    must(info.left_ms >= -1 && info.readers >= 0);
    must(info.counter_left_ms >= 0);
    must(strlen(info.holder) == 0 || strlen(info.holder) == RF_HOLDER_LEN);
}

static int visit(const char *resource, const rf_info *info, void *arg)
{
    (void)info;
    must(strlen(resource) >= 1 && strlen(resource) <= RF_RESOURCE_MAX);
    return ++*(int *)arg > 8;
}

static void call(uint8_t which)
{
    int seen = 0;

    switch (which % 11) {
    case 0: acquire(0, 0); break;
    case 1: acquire(200, 0); break;
    case 2: acquire(0, 1); break;
    case 3: acquire_all(); break;
    case 4: inspect(); break;
    case 5: check_outcome(rf_list(client, visit, &seen)); break;
    case 6: check_outcome(rf_force_release(client, "r", 7, "because")); break;
    case 7:
        if (lock != NULL)
            check_outcome(rf_renew(lock, 30000));
        break;
    case 8:
        if (lock != NULL)
            check_outcome(rf_reissue(lock, 100));
        break;
    case 9: renew_all(); break;
    default: release_all();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const urls[] = {
        "redis+unix:///s",
        "redis://u:p@127.0.0.1/1",
        "redis+sentinel://:p@127.0.0.1,127.0.0.2/main",
        "redis+cluster://127.0.0.1,127.0.0.2",
        "redlock://127.0.0.1,127.0.0.2,127.0.0.3",
    };
    rf_options opts = RF_OPTIONS_INIT;
    size_t calls;

    if (size < 2 || (calls = data[1] % 8) > size - 2)
        return 0;
    server_begin(data + 2 + calls, size - 2 - calls);
    opts.timeout_ms = 100;
    opts.min_replicas = data[0] & 0x80 && data[0] % 5 != 4;
    ask_floor = data[0] & 0x40 ? tell_floor : NULL;
    opts.counter_idle_ms = ask_floor != NULL ? 1000 : 0;
    must(rf_open(urls[data[0] % 5], &opts, &client) == RF_OK);
    for (size_t i = 0; i < calls; i++)
        call(data[2 + i]);
    release(&lock);
    release(&pair[0]);
    release(&pair[1]);
    rf_close(client);
    must(server_open() == 0);
    return 0;
}
