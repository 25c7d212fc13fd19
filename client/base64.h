/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * base64.h - bytes in JSON, as etcd's gateway wants them (RFC 4648, section 4)
 */
#ifndef RF_BASE64_H
#define RF_BASE64_H

#include <stddef.h>

/* Room for n bytes, encoded, and the zero. */
#define RF__BASE64_SIZE(n) (((n) + 2) / 3 * 4 + 1)

void rf__base64_write(char *out, const void *bytes, size_t n);

/*
 * Decode into out, with a zero behind it.  Returns the number of bytes, or -1
 * when it is no base64 or does not fit.
 */
long rf__base64_read(const char *text, char *out, size_t size);

#endif /* RF_BASE64_H */
