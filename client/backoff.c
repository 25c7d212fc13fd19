/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * backoff.c - pauses between attempts
 *
 * Full jitter: anything from nothing to the ceiling, which doubles, so that
 * those who failed together part.
 */
#include "backoff.h"

int64_t rf__jitter_ms(int64_t most)
{
    uint32_t random = 0;

    if (rf__random(&random, sizeof(random)) != RF_OK)
        return most;
    return (int64_t)(random % (uint32_t)(most + 1));
}

int rf__backoff(rf__pauses *p, int64_t deadline_ms)
{
    int64_t until_ms = rf__now_ms() + 1 + rf__jitter_ms(p->ceiling_ms);

    if (until_ms >= deadline_ms)
        return 0;
    p->ceiling_ms *= 2;
    if (p->ceiling_ms > p->most_ms)
        p->ceiling_ms = p->most_ms;
    rf__sleep_until_ms(until_ms);
    return 1;
}
