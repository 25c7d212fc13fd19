/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * contestant.c - what the contestants have in common
 */
#include "contestant.h"

#include <stdlib.h>
#include <string.h>

#include "die.h"

rf_client *client_open(const char *url)
{
    rf_client *client;

    if (rf_open(url, NULL, &client) != RF_OK)
        die(url, rf_message(NULL));
    return client;
}

void client_pair(rf_client *client)
{
    rf_lock *lock;

    if (rf_acquire(client, "bench", NULL, &lock) != RF_OK ||
        rf_release(lock) != RF_OK)
        die("ringfence", rf_message(client));
}

cost cost_by(cost (*counted)(void), void (*pair)(void), size_t pairs)
{
    cost before = counted(), after;

    for (size_t i = 0; i < pairs; i++)
        pair();
    after = counted();
    return (cost){ (after.requests - before.requests) / (double)pairs,
                   (after.flushes - before.flushes) / (double)pairs };
}

double sum_of(const char *text, const char *beginning)
{
    double sum = 0;

    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        const char *end = text + n;
        const char *number = end;

        while (number > text && number[-1] != ' ' && number[-1] != '\t')
            number--;
        if (strncmp(text, beginning, strlen(beginning)) == 0)
            sum += strtod(number, NULL);
        text = *end != '\0' ? end + 1 : end;
    }
    return sum;
}
