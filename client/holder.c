/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * holder.c - who asks: 16 random bytes as hex digits
 *
 * Straight from the kernel every time.  A generator in this process would be
 * copied by a fork or by a cloned machine, and two holders with one name would
 * pass for the same one at the database.
 */
#include "internal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

rf_status rf__random(void *out, size_t size)
{
    unsigned char *to = out;

    while (size > 0) {
        ssize_t n = getrandom(to, size, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return RF_RETRY;
        to += n;
        size -= (size_t)n;
    }
    return RF_OK;
}

rf_status rf_holder_new(char out[RF_HOLDER_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[RF_HOLDER_LEN / 2];

    out[0] = '\0';
    if (rf__random(bytes, sizeof(bytes)) != RF_OK)
        return RF_RETRY;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[RF_HOLDER_LEN] = '\0';
    return RF_OK;
}

int rf__holder_valid(const char *holder)
{
    return strlen(holder) == RF_HOLDER_LEN &&
           strspn(holder, "0123456789abcdef") == RF_HOLDER_LEN;
}
