/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * slot.c - which slot of a cluster a resource's keys are in
 *
 * CRC16 (polynomial 0x1021, from 0) of what stands between the key's first brace
 * and the next closing one.  The prefix has no braces and is not empty; the
 * resource may have some.
 */
#include "cluster.h"

#include <stdint.h>

static uint16_t add(uint16_t crc, unsigned char byte)
{
    crc ^= (uint16_t)(byte << 8);
    for (int i = 0; i < 8; i++)
        crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    return crc;
}

int rf__slot(const char *prefix, const char *resource)
{
    uint16_t crc = 0;

    for (; *prefix != '\0'; prefix++)
        crc = add(crc, (unsigned char)*prefix);
    for (; *resource != '\0' && *resource != '}'; resource++)
        crc = add(crc, (unsigned char)*resource);
    return crc % RF__SLOTS;
}
