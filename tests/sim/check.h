/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * check.h - what must hold
 *
 * I1  fences never go down, in the order of commits
 * I2  one number writes for one holder
 * I3  holders don't interleave
 * I4  what was acknowledged is committed, once
 * I5  what was refused never is
 * I6  what was told "unknown" is committed once or never
 * I7  everybody had read the one before: no lost update
 * I8  a write is committed under the newest claim of its resource, and no other
 * I9  who is told "it is yours" has it, as long as Redis keeps its word
 * I10 a grant that was asked for later has the greater number
 * I11 when the faults are over, the next section succeeds
 * I14 a lock that was given back is never renewed
 * I15 the loss of a kept lock is told once, and not after its release
 * I16 who writes has the lock alone, who reads has it with others who read
 * I17 several locks at once are all of them or none
 * I18 a counter that was forgotten goes on above what the database has accepted,
 *     and none is forgotten before its lock is over
 */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "ringfence.h"
#include "world.h"

void check_begin(void);
void check_step(void); /* after everything that happens */
void check_end(void);

/* ---- What was committed, and what was told of it -------------------------------- */

/* A new operation on a resource: its number, from 1. */
int check_operation(int resource);

/* A claim, a protected write becomes visible; base is the one read before it. */
void check_claim(int resource, int64_t fence, const char *holder);
void check_commit(int resource, int operation, int base, int64_t fence,
                  const char *holder);

void check_told_done(int operation);
void check_told_refused(int operation);
void check_told_unknown(int operation);
/* Under this fence it was told that no older grant has done it, or will. */
void check_told_absent(int operation, int64_t fence);

/* The newest committed operation of a resource, 0 when none. */
int check_newest(int resource);

/* ---- Grants ------------------------------------------------------------------------ */

/*
 * What had been handed out by the time somebody asks, and what came of asking.
 * Those that were claimed are ordered by the database whatever Redis forgets.
 */
typedef struct check_mark {
    int resource;
    int asks; /* and can ask the database, should there be no counter */
    int64_t claimed, any;
} check_mark;

check_mark check_before(int resource, const rf_acquire_options *opts);
void check_granted(const check_mark *before, const rf_lock *lock, int claimed);

/* Redis had no counter, and begins one for this holder. */
void check_begun(int resource, const char *holder);

/* A client was told that nothing landed: no lock may be there for this holder. */
void check_told_nothing(int resource, const char *holder);
/* Redis stores a lock's value. */
void check_lock(const char *value);

/*
 * From now on a holder looks at this lock, until it forgets it.  cap_ms, on its
 * clock: until then at the most; 0: no such limit.
 */
void check_has(int holder, int resource, const rf_lock *lock, int64_t cap_ms);
void check_forgets(int holder);

/* Here it asks, and goes by the answer until it asks again. */
void check_told(int holder, int resource, int ours);

/* How many of all locks a holder had before and after asking for them at once. */
void check_all_or_none(int before, int after, const char *holder);

/* ---- Kept locks ---------------------------------------------------------------------- */

/* It was given back; a renewal came with the message of that number. */
void check_released(const char *holder);
void check_renewal(const char *holder, int64_t sent);

#endif /* SIM_CHECK_H */
