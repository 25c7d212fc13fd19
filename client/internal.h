/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * internal.h - what the files of the library share among themselves
 *
 * Nothing here is API.  Names have a double underscore after the prefix.
 */
#ifndef RF_INTERNAL_H
#define RF_INTERNAL_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "ringfence.h"
#include "source.h"

/* deadline.c: the only reader of a clock.  CLOCK_BOOTTIME: counts suspend. */
int64_t rf__now_ms(void);
int64_t rf__now_us(void);

/* The wall clock, for people alone: nothing is ever decided by it. */
int64_t rf__wall_ms(void);

/* Until when a lock may be believed in that was asked for at sent_ms. */
int64_t rf__deadline_ms(int64_t sent_ms, int64_t ttl_ms);

/* Milliseconds to a point in time, 0 when it is over; fits poll(). */
int rf__left_ms(int64_t deadline_ms);

/* Sleep until then; signals don't cut it short. */
void rf__sleep_until_ms(int64_t until_ms);

/* The same, but no longer than until fd is readable. */
void rf__sleep_or_fd(int64_t until_ms, int fd);

/*
 * A condition that can be waited on for a while.  It can't count suspend, so
 * wait in naps where that matters.
 */
void rf__cond_init(pthread_cond_t *cond);
void rf__cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t ms);

/* process.c: like getpid(), without a system call. */
pid_t rf__process_id(void);

/* decimal.c: returns the length. */
#define RF__DECIMAL_MAX 24
size_t rf__decimal_write(char out[RF__DECIMAL_MAX], int64_t value);
/* 1 when text is a canonical number from least to most. */
int rf__decimal_read(const char *text, int64_t least, int64_t most,
                     int64_t *out);

/* holder.c: RF_OK, or RF_RETRY when the system gives no random bytes. */
rf_status rf__random(void *out, size_t size);
int rf__holder_valid(const char *holder);

/*
 * lock.c: for the database side.  A lock is claimed once the database has
 * accepted it, and over once anything final was heard about it.
 */
rf_client *rf__lock_client(const rf_lock *lock);
int rf__lock_may_be_raised(
    const rf_lock *lock); /* by rf_reissue(), from here */
int rf__lock_claimed(const rf_lock *lock);
void rf__lock_set_claimed(rf_lock *lock);
void rf__lock_set_over(rf_lock *lock, rf_status why);
/* RF_OK while usable; what ended it otherwise (RF_LOST past the deadline). */
rf_status rf__lock_state(const rf_lock *lock);

/* client.c: where rf_message() and rf_pg_sqlstate() read. */
rf__error *rf__client_error(rf_client *client);

#endif /* RF_INTERNAL_H */
