/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * check.h - everything that comes from outside, before anything is sent
 */
#ifndef RF_CHECK_H
#define RF_CHECK_H

#include "client.h"

/* Leave this text with the client, and be RF_MISUSE. */
rf_status rf__misuse(rf_client *client, const char *what);

/* RF_OK, or RF_MISUSE with a text. */
rf_status rf__check_blocking(rf_client *client);
rf_status rf__check_resource(rf_client *client, const char *resource);
rf_status rf__check_ttl(rf_client *client, int64_t ttl_ms);
rf_status rf__check_floor(rf_client *client, rf_fence floor);
rf_status rf__check_acquire(rf_client *client, const char *resource,
                            const rf_acquire_options *opts);
rf_status rf__check_keep(rf_client *client, const rf_keep_options *opts);

#endif /* RF_CHECK_H */
