/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_wait.c - sleeping in Redis until a lock is given back
 */
#include "redis_steps.h"

#include <string.h>

#include "wake.h"

/* The limit here is for a Redis that has stopped answering. */
rf_status rf__rs_wait(rf__source *base, rf__grant *grant, int64_t for_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    int64_t deadline_ms = rf__now_ms() + for_ms + s->timeout_ms;
    char key[RF__KEY_MAX];
    const rf__reply *reply;
    rf_status status;

    grant->token[0] = '\0';
    rf__key_name(key, RF__KEY_WAKE, s->author.prefix, grant->resource);
    status = rf__redis_connect(s->redis, deadline_ms, base->error);
    if (status != RF_OK)
        return status;
    if (!rf__wake_write(rf__redis_out(s->redis), key, for_ms)) {
        rf__redis_close(s->redis);
        return RF_NOMEM;
    }
    status = rf__redis_send(s->redis, deadline_ms, base->error);
    if (status == RF_OK)
        status = rf__redis_await(s->redis, grant->cancel_fd, deadline_ms,
                                 base->error);
    if (status == RF_OK)
        status = rf__redis_reply(s->redis, deadline_ms, &reply, base->error);
    /* A wake-up may have been on its way to us and to nobody else. */
    if (status == RF_TIMEOUT || status == RF_UNKNOWN)
        memcpy(grant->token, "?", 2);
    if (status == RF_TIMEOUT)
        return RF_OK;
    if (status != RF_OK)
        return status == RF_UNKNOWN ? RF_RETRY : status;
    if (rf__reply_kind(reply, 0) == RF__ERROR)
        return rf__script_refused(s->redis, reply, base->error);
    status = rf__rs_settle(s, rf__wake_read(reply, key, grant));
    return status == RF_UNKNOWN ? RF_RETRY : status;
}
