/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * world.h - one simulated world: time, chance, tasks, and what may go wrong
 *
 * One process, one thread, one seed.  Everything that happens is an event at
 * a millisecond; events of the same millisecond come in random order.  Nothing
 * in here, and nothing that runs in here, asks the real machine for anything.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stddef.h>
#include <stdint.h>

#define HOLDERS   3
#define RESOURCES 2

/* How the guard is weakened, so that the checker can show its teeth. */
typedef enum sim_weakness {
    SIM_SOUND,
    SIM_REFUSE_LOWER, /* the usual recipe: equal passes, whoever it is    */
    SIM_NO_HOLDER,    /* equal passes without becoming the stored holder  */
    SIM_NO_CLAIM,     /* sections begin without a claim                   */
    SIM_OLD_LOOK,     /* the guard decides by what it saw before it waited */
    SIM_NO_GUARD,     /* everything passes                                */
    SIM_LATE_HOLD     /* the guard's lock ends with the statement         */
} sim_weakness;

/* Chances, each of a thousand; 0 in a world without that fault. */
typedef struct sim_odds {
    int pause;       /* a holder stops, at a look on the clock or on waking   */
    int refuse;      /* no connection                                         */
    int cut_before;  /* connection lost, nothing was sent                     */
    int cut_request; /* connection lost, the request with it                  */
    int cut_reply;   /* the request was carried out, the reply is lost        */
    int swallow;     /* request or reply vanish, the connection stays         */
    int duplicate;   /* the request is carried out twice                      */
    int slow;        /* a message takes long                                  */
    int error;       /* Redis answers LOADING, BUSY and the like              */
    int pooled;      /* a connection to PostgreSQL leads to a pooler          */
    int discard;     /* what was prepared is gone, or the name is taken       */
    int forget;      /* these five are per look of the nemesis: FLUSHALL      */
    int rewind;      /* fail-over to a replica that lagged                    */
    int evict;       /* one key is evicted                                    */
    int step;        /* Redis' wall clock jumps                               */
    int scripts;     /* the script cache is emptied                           */
    int crash;       /* PostgreSQL's backends die, its data stays             */
} sim_odds;

/* What was seen, summed over all worlds of a run. */
typedef struct sim_sums {
    int64_t worlds, sections, acquired, commits, refused, unknown, landed;
    int64_t overlaps, faults, forgets, healed, replays;
} sim_sums;

extern sim_odds odds;
extern sim_weakness weakness;
extern sim_sums sums;
extern int tracing;

/* Text into a field that has room for it, or the run ends. */
void sim_copy(char *to, size_t size, const char *from);
int sim_number(const char *text);

/* ---- Chance -------------------------------------------------------------- */

uint64_t sim_random(void);
int64_t sim_between(int64_t low, int64_t high); /* both included */
int sim_chance(int of_a_thousand);

/* ---- Time and events ------------------------------------------------------ */

int64_t sim_now(void); /* true time in ms: nobody in the world can see it */

/* Call act(what, n) at a time, or as soon as may be if that is past. */
void sim_at(int64_t when, void (*act)(void *what, int64_t n), void *what,
            int64_t n);

/* ---- Tasks: straight code that may wait ------------------------------------ */

typedef struct sim_task sim_task;

sim_task *sim_spawn(void (*run)(void *), void *what);
sim_task *sim_self(void);
void sim_sleep(int64_t ms);
void sim_wait(int64_t until);  /* until woken, or until then        */
void sim_wake(sim_task *task); /* nothing when it is not in a wait  */
void sim_maybe_pause(void);

/* The task's own clock: it has an offset and does not run quite true. */
int64_t sim_task_clock(void);
int64_t sim_task_to_true(int64_t clock_ms);

/* ---- A world -------------------------------------------------------------- */

void sim_begin(uint64_t seed);
/* Run until nothing is left to happen. */
void sim_run(void);
/* Was Redis as good as its word all the time: nothing forgotten, no step? */
int sim_honest(void);
void sim_dishonest(void);

void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* An invariant does not hold: say so and end the process. */
void sim_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* ---- Redis: the real scripts on a keyspace of our own ----------------------- */

void redis_begin(void);
void redis_nemesis(void);
void redis_heal(void);
/* Does the resource's lock live, and is its value fence:holder? */
int redis_holds(const char *resource, int64_t fence, const char *holder);
void redis_connections_close(void);
/* For poll(): an answer or the end is there; wait for one. */
int redis_is_ready(int fd);
void redis_await(int fd, int64_t until);

/* ---- PostgreSQL: registry, guard, one protected row per resource ------------ */

struct pg_conn;
struct pg_conn *postgres_connect(void);
void postgres_begin(void);
void postgres_end(void);
void postgres_crash(void);

/* ---- What must hold -------------------------------------------------------- */

void check_begin(void);
/* A new operation on a resource: its number, from 1. */
int check_operation(int resource);
/* A protected write becomes visible; base is the one read before it. */
void check_commit(int resource, int operation, int base, int64_t fence,
                  const char *holder);
/* What the client was told of its operation. */
void check_told_done(int operation);
void check_told_refused(int operation);
void check_told_unknown(int operation);
/* The newest committed operation of a resource, 0 when none. */
int check_newest(int resource);
/* A grant was handed out that was asked for when newest was the last. */
int64_t check_newest_grant(int resource);
void check_granted(int resource, int64_t fence, int64_t newest_before);
/* A client was told that nothing landed: no lock may be there for this holder. */
void check_told_nothing(const char *holder);
/* Redis stores a lock's value. */
void check_lock(const char *value);
void check_believes(int holder, int resource, int64_t fence, const char *who);
void check_end(void);

/* ---- Who works ------------------------------------------------------------- */

void holders_begin(void);

#endif /* SIM_WORLD_H */
