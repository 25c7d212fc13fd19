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

/*
 * What may go wrong: its name in the summary, and how often at the most, of a
 * thousand.  Each world has its own odds; many have none of some kinds.
 */
#define SIM_FAULTS(X)                                                          \
    X(PAUSE, "paused", 16)          /* a thread, where it looks on a clock */  \
    X(STOP, "stopped", 8)           /* all threads of a process            */  \
    X(SUSPEND, "suspended", 4)      /* a machine, its clock with it        */  \
    X(CANCEL, "cancelled", 50)      /* somebody's wait is to end           */  \
    X(REFUSE, "refused", 100)       /* no connection                       */  \
    X(CUT_BEFORE, "cut", 60)        /* before anything was sent            */  \
    X(CUT_REQUEST, "lost", 60)      /* the request, and the connection     */  \
    X(CUT_REPLY, "unanswered", 80)  /* carried out, and then the same      */  \
    X(SWALLOW, "swallowed", 30)     /* request or reply, in silence        */  \
    X(DUPLICATE, "doubled", 100)    /* the request is carried out twice    */  \
    X(SLOW, "late", 150)            /* a message, a disk                   */  \
    X(ERROR, "errors", 40)          /* Redis: LOADING, BUSY and the like   */  \
    X(AWAY, "away", 100)            /* a server: dead or cut off, a while  */  \
    X(LAG, "lagging", 300)          /* a replica: WAIT counts one less     */  \
    X(MISLEAD, "misled", 200)       /* a sentinel that knows the old master */ \
    X(POOLED, "pooled", 300)        /* PostgreSQL is behind a pooler       */  \
    X(DISCARD, "discarded", 100)    /* what was prepared, or name taken    */  \
    X(MIGRATE, "migrated", 150)     /* a slot of a cluster                 */  \
    X(SCRIPTS, "scripts", 100)      /* Redis' script cache is emptied      */  \
    X(CRASH, "crashed", 40)         /* PostgreSQL's backends, not its data */  \
    X(FORGET, "flushed", 50)        /* from here on Redis breaks its word  */  \
    X(RESTART, "emptied", 40)       /* it comes back without its data      */  \
    X(FAIL_OVER, "failed-over", 80) /* to a replica, perhaps one that lags */  \
    X(EVICT, "evicted", 80)         /* one key                             */  \
    X(STEP, "stepped", 80)          /* Redis' wall clock                   */

#define SIM_FAULT_NUMBER(id, name, most) SIM_##id,
typedef enum sim_fault {
    SIM_FAULTS(SIM_FAULT_NUMBER) SIM_FAULT_KINDS
} sim_fault;

/* The last one with which Redis is as good as its word all the same. */
#define SIM_LAST_HONEST SIM_CRASH

/* How something is weakened, so that the checker can show its teeth. */
#define SIM_WEAKNESSES(X)                                                      \
    X(SOUND, "sound")               /* nothing is                           */ \
    X(REFUSE_LOWER, "refuse-lower") /* equal passes, whoever it is          */ \
    X(NO_HOLDER, "no-holder") /* equal passes, none becomes the holder */      \
    X(NO_CLAIM, "no-claim")   /* sections begin without a claim       */       \
    X(OLD_LOOK, "old-look")   /* the guard looks before it waits      */       \
    X(NO_GUARD, "no-guard")   /* everything passes                    */       \
    X(LATE_HOLD, "late-hold") /* its lock ends with the statement     */       \
    X(NO_FLOOR, "no-floor")   /* retirement leaves no floor           */       \
    X(NO_ONCE, "no-once")     /* every operation is new, always       */       \
    X(KEEPS_ON, "keeps-on")   /* the keeper is not told of a release  */       \
    X(ANY_NODE, "any-node") /* nodes of a cluster serve what is not theirs */  \
    X(MINORITY, "minority") /* less than half of a quorum will do   */         \
    X(NO_RAISE, "no-raise") /* a quorum's second step does nothing  */         \
    X(NO_WAIT, "no-wait")   /* WAIT counts replicas that have less  */         \
    X(HALF, "half")         /* several at once: some will do        */         \
    X(BESIDE, "beside")     /* who writes does not see who reads    */         \
    X(SILENT, "silent")     /* a counter begins anew, nobody asked  */

#define SIM_WEAKNESS_NUMBER(id, name) SIM_##id,
typedef enum sim_weakness {
    SIM_WEAKNESSES(SIM_WEAKNESS_NUMBER) SIM_WEAKNESS_KINDS
} sim_weakness;

/* What else was seen. */
#define SIM_EVENTS(X)                    \
    X(WORLDS, "schedules")               \
    X(SECTIONS, "sections")              \
    X(GRANTS, "grants")                  \
    X(QUORUM_GRANTS, "by a quorum")      \
    X(RAISED, "with a second step")      \
    X(CONFIRMED, "with replicas")        \
    X(SHORT, "too few replicas")         \
    X(ALL, "all at once")                \
    X(SHARED, "shared")                  \
    X(TOGETHER, "of them beside others") \
    X(MOVED, "after a master moved")     \
    X(KEPT, "kept")                      \
    X(RENEWED, "renewals")               \
    X(TOLD_LOST, "losses told")          \
    X(CAPPED, "held too long")           \
    X(OVERLAPS, "times two believed")    \
    X(EXPIRED, "locks ran out")          \
    X(OVERTAKEN, "messages overtaken")   \
    X(COMMITS, "commits")                \
    X(REFUSED, "operations refused")     \
    X(UNKNOWN, "unknown")                \
    X(LANDED, "of them landed")          \
    X(RESOLVED, "resolved")              \
    X(AGAIN, "sent again")               \
    X(RETIRED, "retired")                \
    X(HEALED, "healed at birth")         \
    X(FORGOTTEN, "counters forgotten")   \
    X(ASKED, "floors asked for")

#define SIM_EVENT_NUMBER(id, name) SUM_##id,
typedef enum sim_event { SIM_EVENTS(SIM_EVENT_NUMBER) SUM_KINDS } sim_event;

extern const char *const sim_fault_names[SIM_FAULT_KINDS];
extern int odds[SIM_FAULT_KINDS];
extern int64_t fault_sums[SIM_FAULT_KINDS], sums[SUM_KINDS];
extern sim_weakness weakness;
extern int tracing;

/* Text into a field that has room for it, or the run ends. */
void sim_copy(char *to, size_t size, const char *from);
int64_t sim_number(const char *text); /* up to what is no digit */

/* ---- Chance -------------------------------------------------------------- */

uint64_t sim_random(void);
int64_t sim_between(int64_t low, int64_t high); /* both included */
int sim_chance(int of_a_thousand);

/* Does it strike now?  Counts it if so. */
int sim_strikes(sim_fault fault);
int sim_met(sim_fault fault); /* has it, in this world? */

/* ---- Time and events ------------------------------------------------------ */

int64_t sim_now(void); /* true time in ms: nobody in the world can see it */

/* Call act(what, n) at a time, or as soon as may be if that is past. */
void sim_at(int64_t when, void (*act)(void *what, int64_t n), void *what,
            int64_t n);

/* ---- Hosts: each with a clock, which has an offset and runs not quite true -- */

typedef struct sim_host sim_host;

sim_host *sim_new_host(void);
int64_t sim_clock(const sim_host *host);        /* CLOCK_BOOTTIME */
int64_t sim_steady_clock(const sim_host *host); /* CLOCK_MONOTONIC */

/* ---- Tasks: threads of holders, straight code that may wait ------------------ */

typedef struct sim_task sim_task;

/* host NULL: where the caller runs. */
sim_task *sim_spawn(void (*run)(void *), void *what, sim_host *host);
sim_task *sim_self(void);
sim_host *sim_here(void);
int sim_ended(const sim_task *task);

#define SIM_FOR_EVER INT64_MAX
void sim_sleep(int64_t ms);
void sim_wait(int64_t until);  /* until woken, or until then        */
void sim_wake(sim_task *task); /* nothing when it is not in a wait  */

/* The same for whoever waits for a certain thing. */
void sim_wait_for(const void *what, int64_t until);
void sim_wake_all(const void *what);

/* Here a thread, a process or a machine may stop for a while. */
void sim_maybe_pause(void);

/* ---- A world -------------------------------------------------------------- */

void sim_begin(uint64_t seed);
/* Run until nothing is left to happen. */
void sim_run(void);

void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* An invariant does not hold: say so and end the process. */
void sim_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* memory.c: what the client and the world have allocated and not freed. */
int64_t memory_in_use(void);
void *memory_for_lua(void *ud, void *at, size_t size, size_t wanted);
void memory_keep_lua(void);  /* what there is now is to stay           */
int memory_rewind_lua(void); /* back to that, if it is worth the while */

#endif /* SIM_WORLD_H */
