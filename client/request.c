/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * request.c - what each script is asked with
 *
 * The order of the arguments is the scripts' own; see there.
 */
#include "request.h"

#include <string.h>

void rf__author_init(rf__author *a, const rf_options *opts)
{
    char holder[RF_HOLDER_LEN + 1];

    memset(a, 0, sizeof(*a));
    memcpy(a->prefix, opts->prefix, strlen(opts->prefix) + 1);
    a->idle_ms = opts->counter_idle_ms;
    rf__decimal_write(a->idle, a->idle_ms);
    if (rf_holder_new(holder) == RF_OK)
        memcpy(a->client_id, holder, 12);
    memcpy(a->client_id + strlen(a->client_id), "-", 2);
}

void rf__author_sign(rf__author *a, rf__call *call, char tag[RF__TAG_LEN])
{
    size_t id = strlen(a->client_id);

    memcpy(tag, a->client_id, id);
    rf__decimal_write(tag + id, ++a->requests);
    call->prefix = a->prefix;
    call->tag = tag;
}

/* Who can ask need not mind that a counter was to go: from now on it stays. */
const char *rf__author_idle(const rf__author *a, const rf__grant *grant)
{
    if (grant->alone)
        return NULL;
    return a->idle_ms > 0 || grant->may_ask ? a->idle : NULL;
}

/*
 * h holder, f fence, t ttl_ms, l floor (the least), w wait_ms, k token; behind the
 * tag, i idle_ms.
 */
static const struct {
    const rf__script *script;
    const char *arguments;
} signatures[] = {
    { &rf__script_acquire, "htlwki" }, { &rf__script_acquire_shared, "htwk" },
    { &rf__script_renew, "hfti" },     { &rf__script_renew_shared, "ht" },
    { &rf__script_release, "hf" },     { &rf__script_release_shared, "h" },
    { &rf__script_reissue, "hfli" },   { &rf__script_raise, "hfi" },
    { &rf__script_withdraw, "hf" },    { &rf__script_inspect, "" },
};

static const char *signature_of(const rf__script *script)
{
    size_t i = 0;

    while (signatures[i].script != script)
        i++;
    return signatures[i].arguments;
}

void rf__floor_write(char out[RF__DECIMAL_MAX], rf_fence floor)
{
    if (floor == RF__FLOOR_ASK)
        memcpy(out, "?", 2);
    else
        rf__decimal_write(out, floor);
}

void rf__request_write(rf__request *r, rf__author *a, const rf__script *script,
                       const rf__grant *grant, rf_fence floor)
{
    rf__call *call = &r->call;

    memset(call, 0, sizeof(*call));
    call->script = script;
    call->resource = grant->resource;
    call->echo = script == &rf__script_inspect ? "" : grant->holder;
    rf__author_sign(a, call, r->tag);
    rf__decimal_write(r->fence, grant->fence);
    rf__decimal_write(r->ttl, grant->ttl_ms);
    rf__decimal_write(r->wait, grant->wait_ms);
    rf__floor_write(r->floor, floor);
    for (const char *kind = signature_of(script); *kind != '\0'; kind++) {
        if (*kind == 'i') {
            call->idle = rf__author_idle(a, grant);
            continue;
        }
        call->args[call->n++] = *kind == 'h'   ? grant->holder
                                : *kind == 'f' ? r->fence
                                : *kind == 't' ? r->ttl
                                : *kind == 'l' ? r->floor
                                : *kind == 'w' ? r->wait
                                               : grant->token;
    }
}

const rf__script *rf__step_script(rf__step step, const rf__grant *grant)
{
    static const rf__script *const scripts[][2] = {
        [RF__STEP_ACQUIRE] = { &rf__script_acquire,
                               &rf__script_acquire_shared },
        [RF__STEP_RENEW] = { &rf__script_renew, &rf__script_renew_shared },
        [RF__STEP_RELEASE] = { &rf__script_release,
                               &rf__script_release_shared },
    };

    return scripts[step][grant->shared != 0];
}
