/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * client.h - what is inside a client
 *
 * Counted by its locks, because a lock may outlive rf_close(): its release
 * must then still find something to look at.
 */
#ifndef RF_CLIENT_H
#define RF_CLIENT_H

#include "internal.h"
#include "metrics.h"
#include "throttle.h"

/* Of the option min_replicas. */
#define RF__REPLICAS_MAX 1000

struct rf__keeper;

struct rf_client {
    rf__source *source; /* NULL once closed                              */
    struct rf__keeper *keeper; /* NULL until first needed */
    int looped;                /* an event loop drives it: no call may block */
    int timeout_ms;
    int counters_go; /* Redis forgets those that are idle             */
    int users;       /* the caller until rf_close(), and every lock   */
    rf_lock *locks;  /* held, newest first                              */
    int cancel_fd;   /* readable: the wait is to end                    */
    int64_t busy_ms; /* what rf_busy_ms() tells                       */
    rf__limits limits;
    rf__metrics metrics;
    rf__error error;
};

/*
 * A client without a source yet.  Otherwise the outcome, with a text for
 * rf_message(NULL).
 */
rf_status rf__client_new(const rf_options *opts, rf_client **out);
rf__error *rf__open_error(void);

/* What is left of it when its source is closed. */
void rf__client_free(rf_client *client);

/* One more lock leans on the client, or one less; the last one frees it. */
void rf__client_keep(rf_client *client);
void rf__client_drop(rf_client *client);

/* 1 once after each rf_cancel(). */
int rf__client_cancelled(rf_client *client);

#endif /* RF_CLIENT_H */
