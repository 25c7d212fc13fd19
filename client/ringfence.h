/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * ringfence.h - locks and fences from a lock service, checked by PostgreSQL
 *
 * A lock says who should work; a fence proves it to the database.  A lock can
 * be lost without its holder noticing, so correctness never rests on the
 * lock: it rests on PostgreSQL refusing whatever is not the newest.  Work that
 * ends in a database takes its lock with rf_pg_acquire() (ringfence_pg.h);
 * rf_acquire() alone is for work that has no database at its end.  Where a
 * comment says Redis it means the lock service, whichever rf_open() was given.
 *
 * Errors     Every call that can fail returns rf_status, named for what the
 *            caller does next.  RF_OK is 0.  The text behind the last failure
 *            is rf_message(client).
 * Ownership  What a call hands out through a "**out" belongs to the caller
 *            and has one named release call.  A const pointer that a call
 *            returns belongs to the object it was asked of.
 * Threads    One client, and all locks taken from it, to one thread at a time.
 *            After a fork the child may go on with the client (it makes a
 *            connection of its own), but the locks stay the parent's.  Not with
 *            zookeeper://, whose library does not outlive a fork: RF_MISUSE.
 */
#ifndef RINGFENCE_H
#define RINGFENCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RF_VERSION_MAJOR 0
#define RF_VERSION_MINOR 1
#define RF_VERSION_PATCH 0

#define RF_VERSION "0.1.0"

/* ---- Outcomes --------------------------------------------------------- */

typedef enum rf_status {
    RF_OK = 0,        /* done                                              */
    RF_BUSY = 1,      /* held by another: wait or give up                  */
    RF_TIMEOUT = 2,   /* waited as long as allowed; it was never ours      */
    RF_LOST = 3,      /* it was ours and no longer is: stop                */
    RF_STALE = 4,     /* the database knows a newer grant: never retry     */
    RF_COLLISION = 5, /* the database knows this number from another: stop */
    RF_UNKNOWN = 6,   /* sent, not answered: look before doing it again    */
    RF_RETRY = 7,     /* nothing landed: safe to do again                  */
    RF_REFUSED = 8,   /* policy: replicas, breaker, rate limit             */
    RF_MISUSE = 9,    /* call or set-up wrong: a person must look          */
    RF_NOMEM = 10     /* out of memory: nothing landed                     */
} rf_status;

/* Name of an outcome, such as "RF_STALE".  Static storage, never NULL. */
const char *rf_status_name(rf_status status);

/* One sentence: what it means and what to do next.  Static, never NULL. */
const char *rf_status_text(rf_status status);

/* Version of the library at run time, such as "0.1.0". */
const char *rf_version(void);

/* ---- Client ----------------------------------------------------------- */

/*
 * At most one connection to each server of the lock service, made when first
 * needed.
 */
typedef struct rf_client rf_client;

/* Start from RF_OPTIONS_INIT, then set fields by name. */
typedef struct rf_options {
    const char *prefix; /* of every key; 1 to 64 bytes; default "lock:v1:" */
    int timeout_ms;     /* limit of each call's talk to the lock service;
                           default 2000                                     */

    /*
     * To protect Redis, requests for new locks are refused without asking it
     * (RF_REFUSED): beyond rate_per_s in a second, default 0: no limit; and for
     * breaker_ms (default 1000) after breaker_failures requests in a row that
     * were not answered, default 0: never.
     */
    int rate_per_s;
    int breaker_failures;
    int breaker_ms;

    /*
     * A new lock, or a new fence, counts only when min_replicas replicas (an
     * absolute number) have it within replicas_ms (default 200), as WAIT tells;
     * otherwise it is given back: RF_REFUSED.  Default 0: nobody asks.  It makes
     * a fence that is issued twice after a fail-over rarer, never impossible.
     * A wait goes on after that, but for a shared lock: it has no fence by which
     * one request for it could be told from another.
     */
    int min_replicas;
    int replicas_ms;

    /*
     * How long Redis keeps the counter of a resource whose lock nobody takes any
     * more; default 0: for ever.  Of use where there are ever new resources.  A
     * counter that is gone is not begun anew but asked for, so every lock has to
     * be taken with ask_floor, as rf_pg_acquire() does by itself; and every
     * program that takes these locks should set this alike (docs/operating.md).
     * RF_IDLE_MAX_MS at most.
     */
    int64_t counter_idle_ms;
} rf_options;

#define RF_IDLE_MAX_MS 315360000000 /* ten years */

/* clang-format off */
#define RF_OPTIONS_INIT { "lock:v1:", 2000, 0, 0, 1000, 0, 200, 0 }
/* clang-format on */

/*
 * Make a client for the lock service at url:
 *
 *   redis://[[user]:password@]host[:port][/db]
 *   redis+unix://[[user]:password@]/path/to/socket[?db=n]
 *   redis+sentinel://[[user]:password@]host[:port],.../master[/db]
 *                                          [?sentinel=[user]:password]
 *   redis+cluster://[[user]:password@]host[:port],...
 *   redlock://[[user]:password@]host[:port],host[:port],...
 *   postgresql://..., as libpq reads it
 *   etcd://[[user]:password@]host[:port],...[?base=n]
 *   zookeeper://[user:password@]host[:port],...[/node][?base=n]
 *
 * With TLS: rediss://, rediss+sentinel://, rediss+cluster://, redlocks:// and
 * etcds://, and at the end, behind ? or &, any of cafile=, certfile=, keyfile=
 * (PEM files, read now) and, but for etcds, servername=.  Each server must show a
 * valid certificate for its host, or for servername, from an authority in cafile,
 * else of the system.
 *
 * The hosts of redis+sentinel are the sentinels (port 26379), at most 16; user
 * and password in front are for the master that they name, those at the end for
 * themselves.  The hosts of redis+cluster are some of its nodes, at most 16.
 * Both are asked again, until timeout_ms is over, when a connection breaks or a
 * server says that it is not the one.  The hosts of redlock are 3, 5, 7 or 9
 * independent masters, of which a majority must agree; their fences are ordered
 * as those of one Redis are.  Of postgresql the extension keeps the locks.  base
 * is added to every number of an etcd or a ZooKeeper that counts from below what
 * the database has accepted.  Only one Redis, by itself, behind sentinels or in a
 * cluster, has shared locks and min_replicas.
 *
 * User, password, paths and master may be percent-encoded.  opts is copied; NULL
 * means the defaults.  Nothing is connected yet: the call that first needs the
 * connection makes it and reports its failure.  On success *out is the
 * client; end it with rf_close().  Otherwise *out is NULL and the text is
 * rf_message(NULL).
 *
 * Returns RF_OK, RF_MISUSE (the URL, a file that it names or an option is wrong;
 * TLS, and the library was built without it), RF_RETRY (the system gives no
 * descriptor) or RF_NOMEM.
 */
rf_status rf_open(const char *url, const rf_options *opts, rf_client **out);

/*
 * Disconnect and free.  Locks not released before simply run out; they must
 * not be used afterwards, except to be released.  NULL is fine.
 */
void rf_close(rf_client *client);

/*
 * Text of the last failure on the client, or "".  Never holds a password.
 * Valid until the next call on the client.  NULL asks for the text of this
 * thread's last failed rf_open().
 */
const char *rf_message(const rf_client *client);

/* ---- Locks ------------------------------------------------------------ */

/* A grant: a resource, a fence and a holder. */
typedef struct rf_lock rf_lock;

/* Fences are 1 or more and grow per resource.  0 is never a fence. */
typedef int64_t rf_fence;

/*
 * Limits, all checked before anything is sent.  A resource is 1 to 255 bytes of
 * valid UTF-8 without control characters; a ttl_ms is at least 1; a fence is at
 * most 2^53 - 1, which is exact in every language; a holder is hex digits; at
 * most 128 locks are taken at once.
 */
#define RF_RESOURCE_MAX 255
#define RF_TTL_MAX_MS   86400000
#define RF_FENCE_MAX    9007199254740991
#define RF_HOLDER_LEN   32
#define RF_ALL_MAX      128

/*
 * How to learn the largest fence of a resource that was ever accepted: 0 when
 * none was.  Returns RF_OK and *out, or why it can't be told.
 */
typedef rf_status (*rf_floor_ask)(void *arg, const char *resource,
                                  rf_fence *out);

/* Start from RF_ACQUIRE_INIT, then set fields by name. */
typedef struct rf_acquire_options {
    int64_t ttl_ms;     /* how long Redis keeps it; default 30000           */
    int64_t wait_ms;    /* how long to wait for another holder, 24 hours at
                           most; default 0: try once                        */
    rf_fence floor;     /* issue a fence above this one; default 0          */
    const char *holder; /* NULL: a new one (what nearly everybody wants)    */
    int reentrant;      /* 1: when this client has the lock already, hand out
                           the same one again: same fence, same deadline,
                           to be released as often; default 0           */
    rf_floor_ask ask_floor; /* asked when the counter is missing and floor is
                               0; default NULL: the counter starts anew, and
                               one that runs out when idle is refused.
                               rf_pg_floor() asks the database              */
    void *ask_floor_arg;    /* handed to it                                 */
    int shared;             /* 1: together with others who ask so too, and
                               with nobody who doesn't; default 0           */
} rf_acquire_options;

/* clang-format off */
#define RF_ACQUIRE_INIT \
    { 30000, 0, 0, (const char *)0, 0, 0, (void *)0, 0 }
/* clang-format on */

/*
 * Take the lock on resource.  opts NULL means the defaults.  On success *out
 * is the lock, with a fence larger than any that Redis remembers for this
 * resource; end it with rf_release().  Otherwise *out is NULL.  When Redis
 * remembers none and opts->ask_floor fails, its outcome is the call's.
 *
 * A request whose connection breaks before the reply is sent once more within
 * the same time, with the same holder, so that it can't be granted twice.  When
 * that is not answered either, the outcome is RF_UNKNOWN: the lock may exist
 * with nobody behind it, and runs out by itself after ttl_ms.  A caller who
 * would rather ask again than wait chooses opts->holder itself (rf_holder_new)
 * and calls again with the same one: the same grant is then handed out, with
 * the same fence and what is left of its time.  Only while nothing was given
 * back under that holder, by rf_release() or by the library (after RF_RETRY or
 * RF_REFUSED, with min_replicas, on redlock://, of several locks): such a request
 * may be late, and would end what is handed out.  Its holder would believe in it
 * until the next renewal, while the database refuses it as soon as another has
 * claimed.  A new holder is hit by nothing that is late.
 *
 * While it waits, a Redis that can't be reached is tried again until wait_ms is
 * over; a signal does not end the wait.  A grant whose time was over when the
 * answer came is given back: RF_RETRY, or RF_UNKNOWN when that is not answered.
 *
 * Returns RF_OK, RF_BUSY (wait_ms 0; rf_busy_ms tells how long), RF_TIMEOUT
 * (wait_ms is over, or rf_cancel), RF_UNKNOWN, RF_RETRY, RF_REFUSED (rate limit,
 * breaker, or fewer replicas than Redis or min_replicas demands), RF_MISUSE
 * or RF_NOMEM.
 */
rf_status rf_acquire(rf_client *client, const char *resource,
                     const rf_acquire_options *opts, rf_lock **out);

/*
 * Shared locks (opts->shared) are for those who only read: many of them at a
 * time, or one that is not shared.  They have no fence, rf_lock_fence() is 0, and
 * so the database refuses every write under them; rf_lock_left_ms() tells
 * whether they still hold.  A reader who comes while somebody waits queues
 * behind: who wants to write is not kept waiting by ever new readers.
 */

/*
 * End the wait of the rf_acquire() that is going on on this client, or of the
 * next one that waits when none is.  It returns RF_TIMEOUT.  May be called from
 * any thread and from a signal handler, as long as the client is open.  Does
 * not cut a request short that is on its way: that ends with timeout_ms.
 */
void rf_cancel(rf_client *client);

/*
 * After RF_BUSY or RF_TIMEOUT: milliseconds until the holder's lock runs out
 * by itself, as Redis last told; -1 when it never does (a lock of some other
 * client without a TTL) or when the last call was not answered by RF_BUSY.
 */
int64_t rf_busy_ms(const rf_client *client);

/*
 * The fence to send with every write made under this lock, or 0 once the lock
 * is past its deadline, lost or refused, and always 0 for a shared lock.  0 is
 * refused everywhere.
 */
rf_fence rf_lock_fence(const rf_lock *lock);

/* The holder: RF_HOLDER_LEN hex digits.  Lives as long as the lock. */
const char *rf_lock_holder(const rf_lock *lock);

/* The resource.  Lives as long as the lock. */
const char *rf_lock_resource(const rf_lock *lock);

/* Milliseconds left to the deadline by this machine's clock; 0 when over. */
int64_t rf_lock_left_ms(const rf_lock *lock);

/*
 * Let the lock live ttl_ms from now, if it is still ours.  Never re-creates a
 * lock that is gone.  A smaller ttl_ms moves the deadline closer; Redis itself
 * never shortens a lock, so that a request that comes late can't.
 *
 * Returns RF_OK, RF_LOST (final), RF_UNKNOWN or RF_RETRY (the old deadline
 * stands; may be tried again until then), RF_MISUSE or RF_NOMEM.
 */
rf_status rf_renew(rf_lock *lock, int64_t ttl_ms);

/*
 * Raise the fence of a lock above floor, if the lock is still ours.  Only for
 * a grant that the database refused at its first claim (stale at birth: Redis
 * forgot its counter).  rf_pg_acquire() does this by itself.  A lock that has
 * been claimed once is refused with RF_MISUSE: raising its number in the
 * middle of a section would lose updates.  So is any lock of a service whose
 * numbers can't be raised (rf_can_raise).
 *
 * Returns RF_OK, RF_LOST, RF_UNKNOWN (the lock is given up: its number can't
 * be known), RF_REFUSED (too few replicas: the lock is over), RF_RETRY, RF_MISUSE
 * or RF_NOMEM.
 */
rf_status rf_reissue(rf_lock *lock, rf_fence floor);

/*
 * Give the lock back if it is still ours, and free it whatever the outcome.
 * NULL is fine and returns RF_OK.  A lock that was handed out more than once
 * (reentrant) is given back with the last release; those before return RF_OK,
 * or what has ended the lock.
 *
 * Returns RF_OK, RF_LOST (it had run out, or belongs to another), RF_UNKNOWN,
 * RF_RETRY, RF_NOMEM or RF_MISUSE (its client is closed, or a forked child
 * called).  None of them needs handling for safety: a lock that was not given
 * back runs out by itself.
 */
rf_status rf_release(rf_lock *lock);

/* ---- From one process to another ------------------------------------- */

/*
 * Go on with a lock that another process has taken and passed on as resource,
 * fence and holder.  Redis is asked whether it is still that grant's; what is
 * left of it is counted from before the question.  On success *out is the lock,
 * to be renewed, kept and released like any other; otherwise *out is NULL.  Both
 * processes may have the grant at a time: what one gives back is gone for the
 * other.
 *
 * Whether the grant was claimed can't be told, so rf_reissue() and the fenced
 * writes of ringfence_pg.h are refused with RF_MISUSE.
 *
 * Returns RF_OK, RF_LOST (it has run out, or is another's), RF_RETRY, RF_MISUSE
 * (also for zookeeper://, where a lock ends with its client) or RF_NOMEM.
 */
rf_status rf_attach(rf_client *client, const char *resource, rf_fence fence,
                    const char *holder, rf_lock **out);

/*
 * Free a lock without giving it back: for who passes its grant on.  It is not
 * renewed from here any more, and runs out by itself unless somebody else
 * attends to it.  A lock that was handed out more than once (reentrant) is freed
 * with the last call.  NULL is fine.
 *
 * Returns RF_OK, or RF_MISUSE in on_lost() and for zookeeper://, where nothing
 * is freed.
 */
rf_status rf_detach(rf_lock *lock);

/* ---- Several locks at once ------------------------------------------- */

/*
 * Take the locks on n resources (up to RF_ALL_MAX, none twice), or none of them.
 * Each has a fence of its own; the holder is the same.  On success out[0] to
 * out[n - 1] are the locks, in the order of resources; otherwise they are NULL.
 * Nothing is held while waiting, so two such calls can't block each other; while
 * others keep taking one of the resources, the wait may take long.  Not
 * reentrant, and not shared.
 *
 * When the counter of one of them is missing, opts->ask_floor is asked for each,
 * and all fences are above the highest.
 *
 * Returns what rf_acquire() returns.
 */
rf_status rf_acquire_all(rf_client *client, const char *const *resources,
                         size_t n, const rf_acquire_options *opts,
                         rf_lock **out);

/*
 * Renew n locks (up to RF_ALL_MAX; NULL among them is fine) as rf_renew() does,
 * in as few round trips as possible: one, when they are of one client and one
 * server.  Each has an outcome of its own, and rf_lock_left_ms() tells what came
 * of it; one that is over keeps none of the others from being renewed.
 *
 * Returns what rf_renew() returns: of several outcomes the one that takes most
 * away, RF_LOST before RF_UNKNOWN before RF_RETRY.  RF_MISUSE: nothing was sent.
 */
rf_status rf_renew_all(rf_lock *const *locks, size_t n, int64_t ttl_ms);

/*
 * Release n locks (up to RF_ALL_MAX; NULL among them is fine), in as few round
 * trips as possible, and set them to NULL.
 *
 * Returns what rf_release() returns: of several outcomes the one that leaves
 * most behind.  In on_lost(), or when one of them is an event loop's, RF_MISUSE:
 * then all of them are as they were.
 */
rf_status rf_release_all(rf_lock **locks, size_t n);

/* ---- Keeping a lock -------------------------------------------------- */

typedef enum rf_lost_reason {
    RF_LOST_EXPIRED = 1,    /* it ran out before it could be renewed       */
    RF_LOST_TAKEN = 2,      /* another has it now                          */
    RF_LOST_CAP = 3,        /* held as long as hold_max_ms allows          */
    RF_LOST_UNREACHABLE = 4 /* Redis gave no answer until the deadline     */
} rf_lost_reason;

/*
 * Called once when a kept lock is lost, on the keeper's thread; rf_lock_fence()
 * is 0 by then.  It may look at the lock, and must neither release it nor use
 * its client nor wait for a thread that does: set a flag, write to a pipe.
 */
typedef void (*rf_on_lost)(rf_lock *lock, rf_lost_reason reason, void *arg);

/* Start from RF_KEEP_INIT, then set fields by name. */
typedef struct rf_keep_options {
    int64_t ttl_ms;      /* of each renewal; default 0: as at acquire       */
    int64_t hold_max_ms; /* given back this long after the acquisition, even
                            when its holder hangs; default 0: never         */
    rf_on_lost on_lost;  /* default NULL: nobody is told                    */
    void *arg;           /* handed to on_lost                               */
} rf_keep_options;

/* clang-format off */
#define RF_KEEP_INIT { 0, 0, (rf_on_lost)0, (void *)0 }
/* clang-format on */

/*
 * Renew the lock whenever a third of its time is used up, until it is released
 * or lost.  All kept locks of a client share one thread and one connection of
 * their own.  An attempt that fails is repeated until the lock's deadline: only
 * then is it lost.  While a lock is kept its getters may be called from any
 * thread, and rf_renew() and rf_reissue() are misuse.  rf_release() ends it: it
 * returns when no renewal is on its way.  rf_close() ends it for all.
 *
 * Returns RF_OK, RF_LOST (past its deadline), what ended the lock before,
 * RF_RETRY (the system gives no thread), RF_MISUSE or RF_NOMEM.
 */
rf_status rf_keep(rf_lock *lock, const rf_keep_options *opts);

/* ---- Watching --------------------------------------------------------- */

typedef enum rf_call {
    RF_CALL_ACQUIRE = 0,
    RF_CALL_RENEW = 1, /* the keeper's renewals too */
    RF_CALL_RELEASE = 2,
    RF_CALL_REISSUE = 3,
    RF_CALL_LOST = 4 /* no call: a kept lock was lost */
} rf_call;

typedef enum rf_timing {
    RF_TIME_ACQUIRE = 0, /* of each request for a lock, with its answer      */
    RF_TIME_WAIT = 1,    /* from the call to the grant, of those that waited */
    RF_TIME_RENEW = 2    /* of each renewal; the keeper's: of each round     */
} rf_timing;

#define RF_CALLS    4
#define RF_OUTCOMES 11
#define RF_REASONS  5
#define RF_TIMINGS  3
#define RF_BUCKETS  17

/*
 * bucket[i] counts what took up to 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200,
 * 500 ms, 1, 2, 5, 10 s, and longer.
 */
typedef struct rf_histogram {
    uint64_t count;
    uint64_t sum_us;
    uint64_t bucket[RF_BUCKETS];
} rf_histogram;

typedef struct rf_stats {
    uint64_t calls[RF_CALLS][RF_OUTCOMES]; /* [rf_call][rf_status]   */
    uint64_t lost[RF_REASONS];             /* [rf_lost_reason]       */
    rf_histogram timing[RF_TIMINGS];       /* [rf_timing]            */
} rf_stats;

/* What the client has done since it was opened.  From any thread. */
void rf_get_stats(const rf_client *client, rf_stats *out);

/*
 * The same as text for Prometheus.  Writes at most size bytes, the last of them
 * zero, and returns the length that the whole text has.
 */
size_t rf_stats_text(const rf_client *client, char *out, size_t size);

typedef struct rf_event {
    rf_call call;
    rf_status status;      /* of the call; RF_LOST for RF_CALL_LOST */
    rf_lost_reason reason; /* of RF_CALL_LOST; otherwise 0          */
    const char *resource;
    rf_fence fence; /* 0: none                               */
    int64_t us;     /* microseconds that the call took       */
} rf_event;

/*
 * Called after each call, and after each loss, on the thread on which it
 * happened: the keeper's renewals and losses come on the keeper's.  Everything
 * is settled by then, so that whatever the hook does, the lock is what the event
 * says.  It must be quick and must not use the client.
 */
typedef void (*rf_hook)(const rf_event *event, void *arg);

/* Before the first lock is kept.  NULL: none. */
void rf_set_hook(rf_client *client, rf_hook hook, void *arg);

/* ---- Helpers ---------------------------------------------------------- */

/* What the lock service knows of a resource. */
typedef struct rf_info {
    int held;                       /* 1 when somebody has the lock        */
    rf_fence fence;                 /* of the holder; 0 when not held, or
                                       when it is not one of our locks     */
    char holder[RF_HOLDER_LEN + 1]; /* "" likewise                         */
    int64_t left_ms;                /* until it runs out; -1: never        */
    rf_fence counter;               /* the last one issued, or what the next
                                       one is above; 0: none known; -1:
                                       something else is in its place      */
    int readers;                    /* how many share it; 0: not shared    */
    int waited_for;                 /* 1 when somebody has asked to wait for it
                                       until now or later; may have left, is
                                       then seen until 2 seconds after the
                                       holder's end at most, and isn't seen by
                                       redlock:// and postgresql://         */
    int64_t counter_left_ms;        /* until the counter runs out when nobody
                                       takes the lock; 0: it does not       */
} rf_info;

/*
 * Look at a resource without changing anything.  But after RF_OK, *out is all
 * zero.
 *
 * Returns RF_OK, RF_RETRY, RF_MISUSE or RF_NOMEM.
 */
rf_status rf_inspect(rf_client *client, const char *resource, rf_info *out);

/* One lock that is held.  Return 0 to go on, anything else to stop. */
typedef int (*rf_visit)(const char *resource, const rf_info *info, void *arg);

/*
 * Visit every lock that is held under the client's prefix, in no order.  Locks
 * that come or go meanwhile may be missed, and one may be shown twice.  visit
 * must not use the client.
 *
 * Returns RF_OK, RF_RETRY, RF_MISUSE or RF_NOMEM.
 */
rf_status rf_list(rf_client *client, rf_visit visit, void *arg);

typedef enum rf_severity {
    RF_FINE = 0,    /* as it should be                                    */
    RF_NOTICE = 1,  /* good to know                                       */
    RF_WARNING = 2, /* locks may be lost or refused; the data stays right */
    RF_CRITICAL = 3 /* locks can't be had, or can't be relied on          */
} rf_severity;

#define RF_SEVERITIES 4

/* Texts that there are none of are "".  They live until the visit returns. */
typedef struct rf_finding {
    rf_severity severity;
    const char *where;   /* which server                            */
    const char *subject; /* what was looked at, such as "eviction"  */
    const char *found;   /* what it is, such as "allkeys-lru"       */
    const char *meaning; /* for the locks and their fences          */
    const char *remedy;  /* what to change                          */
} rf_finding;

typedef void (*rf_on_finding)(const rf_finding *finding, void *arg);

/*
 * Look at the servers of the lock service, with a person's questions: of a Redis
 * version, role, memory, eviction, persistence, replicas, permissions, clock,
 * counters that are none; of PostgreSQL what rf_pg_examine() looks at, waking and
 * notices; of etcd version, members, leader, alarms, room, compaction, TLS, user
 * and permissions; of ZooKeeper version, members, leader, sessions, numbers, TLS,
 * user, permissions and folders that are open to anybody.  Each answer is a
 * finding, also when it is a good one or can't be had.  Takes a moment for each
 * 10000 counters, and leaves nothing behind.  on_finding must not use the client.
 *
 * Returns RF_OK, RF_RETRY, RF_MISUSE or RF_NOMEM.
 */
rf_status rf_examine(rf_client *client, rf_on_finding on_finding, void *arg);

/*
 * 1 when the lock service's numbers can be raised above a floor; 0 when they are
 * its own, and only base=n in the URL lifts them (etcd://, zookeeper://), or when
 * the client is NULL or closed.
 */
int rf_can_raise(const rf_client *client);

/*
 * Take the lock on resource away from whoever has it with this fence.  For
 * people: the database refuses nothing of the old holder until a newer one has
 * claimed.  reason (1 to 255 bytes, like a resource) goes to the log of Redis or
 * PostgreSQL, or into a key beside the lock (etcd://, zookeeper://).
 *
 * Returns RF_OK, RF_LOST (nobody has it with that fence), RF_UNKNOWN, RF_RETRY,
 * RF_MISUSE or RF_NOMEM.
 */
rf_status rf_force_release(rf_client *client, const char *resource,
                           rf_fence fence, const char *reason);

/*
 * Write a new holder: RF_HOLDER_LEN hex digits and a zero, from the system's
 * random source.
 *
 * Returns RF_OK, or RF_RETRY when the system has no random bytes to give.
 */
rf_status rf_holder_new(char out[RF_HOLDER_LEN + 1]);

#ifdef __cplusplus
}
#endif

#endif /* RINGFENCE_H */
