/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wait.h - getting a lock that another may hold
 */
#ifndef RF_WAIT_H
#define RF_WAIT_H

#include "client.h"

/*
 * Ask for the locks, above the floor of opts or the one learned as opts says,
 * until all are granted or the grants' wait_ms is over.  RF_OK with the grants
 * filled in; RF_BUSY when there was no time to wait; RF_TIMEOUT; RF_UNKNOWN when
 * the last clear answer was followed by a request that may have landed;
 * otherwise what the source or whoever was asked for the floor says.
 */
rf_status rf__wait_acquire(rf_client *client, rf__grants *grants,
                           const rf_acquire_options *opts);

#endif /* RF_WAIT_H */
