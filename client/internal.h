/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * internal.h - what the files of the library share among themselves
 *
 * Nothing here is API.  Names have a double underscore after the prefix.
 */
#ifndef RF_INTERNAL_H
#define RF_INTERNAL_H

#include "ringfence.h"
#include "source.h"

/* deadline.c: the only reader of a clock.  CLOCK_BOOTTIME: counts suspend. */
int64_t rf__now_ms(void);

/*
 * lock.c: for the database side.  A lock is claimed once the database has
 * accepted it, and over once anything final was heard about it.
 */
rf_client *rf__lock_client(const rf_lock *lock);
int rf__lock_claimed(const rf_lock *lock);
void rf__lock_set_claimed(rf_lock *lock);
void rf__lock_set_over(rf_lock *lock, rf_status why);
/* RF_OK while usable; what ended it otherwise (RF_LOST past the deadline). */
rf_status rf__lock_state(const rf_lock *lock);

/* client.c: where rf_message() and rf_pg_sqlstate() read. */
rf__error *rf__client_error(rf_client *client);

#endif /* RF_INTERNAL_H */
