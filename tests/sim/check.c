/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * check.c - what must hold, looked at after every step
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "lock.h"
#include "network.h"
#include "servers.h"

#define OPERATIONS_MAX 256
#define GRANTS_MAX     128
#define HOLDERS_MAX    256

typedef enum told { PENDING, DONE, REFUSED, UNKNOWN } told;

typedef struct operation {
    int resource, commits;
    told told;
    int64_t absent; /* below this fence it must not be committed */
} operation;

typedef struct grant {
    int64_t fence;
    char holder[RF_HOLDER_LEN + 1];
} grant;

typedef struct history {
    int newest;               /* operation                          */
    check_mark mark;          /* greatest fences                    */
    grant claim;              /* the newest                         */
    grant grants[GRANTS_MAX]; /* in the order of their first commit */
    int n;
} history;

/* A holder who has a lock at hand. */
typedef struct belief {
    const rf_lock *lock; /* NULL: none */
    const sim_host *host;
    int told; /* the last answer, when it asked */
    int64_t cap_ms;
} belief;

/* Names of holders, with a number each. */
typedef struct names {
    int n;
    char name[HOLDERS_MAX][RF_HOLDER_LEN + 1];
    int64_t number[HOLDERS_MAX];
} names;

static operation operations[OPERATIONS_MAX];
static int count;
static history histories[RESOURCES];
static belief beliefs[HOLDERS + 1][RESOURCES];
static int at_hand[RESOURCES]; /* how many of these have a lock */
static names without;  /* told that nothing landed; the number: of what */
static names released; /* the number: of messages sent by then          */
static names begun;    /* the number: whose counter                     */

void check_begin(void)
{
    count = 0;
    without.n = released.n = begun.n = 0;
    for (int i = 0; i < RESOURCES; i++) {
        histories[i].newest = 0;
        histories[i].mark.resource = i;
        histories[i].mark.claimed = histories[i].mark.any = 0;
        histories[i].claim.fence = 0;
        histories[i].n = 0;
    }
    memset(beliefs, 0, sizeof(beliefs));
    memset(at_hand, 0, sizeof(at_hand));
}

static void add_name(names *list, const char *holder, int64_t number)
{
    if (list->n == HOLDERS_MAX)
        sim_fail("%s", "simulator: too many holders");
    sim_copy(list->name[list->n], sizeof(list->name[0]), holder);
    list->number[list->n++] = number;
}

/* ---- Commits -------------------------------------------------------------------- */

int check_operation(int resource)
{
    if (++count == OPERATIONS_MAX)
        sim_fail("%s", "simulator: too many operations");
    operations[count].resource = resource;
    operations[count].commits = 0;
    operations[count].told = PENDING;
    operations[count].absent = 0;
    return count;
}

static int is_grant(const grant *g, int64_t fence, const char *holder)
{
    return g->fence == fence && strcmp(g->holder, holder) == 0;
}

/* Order of fences and holders among the commits of one resource. */
static void check_order(history *h, int64_t fence, const char *holder)
{
    const grant *last = h->n > 0 ? &h->grants[h->n - 1] : NULL;

    if (last != NULL && is_grant(last, fence, holder))
        return;
    if (last != NULL && fence < last->fence)
        sim_fail("I1: fence %lld commits after fence %lld", (long long)fence,
                 (long long)last->fence);
    if (last != NULL && fence == last->fence)
        sim_fail("I2: fence %lld commits for two holders", (long long)fence);
    for (int i = 0; i < h->n; i++) {
        if (strcmp(h->grants[i].holder, holder) == 0)
            sim_fail("I3: holder %.8s commits again after another did", holder);
    }
    if (h->n == GRANTS_MAX)
        sim_fail("%s", "simulator: too many grants");
    h->grants[h->n].fence = fence;
    sim_copy(h->grants[h->n].holder, sizeof(h->grants[0].holder), holder);
    h->n++;
}

void check_claim(int resource, int64_t fence, const char *holder)
{
    grant *claim = &histories[resource].claim;

    claim->fence = fence;
    sim_copy(claim->holder, sizeof(claim->holder), holder);
}

void check_commit(int resource, int number, int base, int64_t fence,
                  const char *holder)
{
    operation *op = &operations[number];
    history *h = &histories[resource];

    sim_trace("PostgreSQL: operation %d commits on %d with fence %lld of %.8s",
              number, resource, (long long)fence, holder);
    sums[SUM_COMMITS]++;
    check_order(h, fence, holder);
    if (base != h->newest)
        sim_fail("I7: operation %d has read %d, but %d was committed since",
                 number, base, h->newest);
    if (!is_grant(&h->claim, fence, holder))
        sim_fail("I8: operation %d commits without the newest claim", number);
    op->commits++;
    if (op->commits > 1)
        sim_fail("I6: operation %d is committed twice", number);
    if (op->told == REFUSED)
        sim_fail("I5: operation %d commits after it was refused", number);
    if (fence < op->absent)
        sim_fail("I6: operation %d commits after it was told absent", number);
    if (op->told == UNKNOWN)
        sums[SUM_LANDED]++;
    h->newest = number;
}

void check_told_done(int number)
{
    operations[number].told = DONE;
    if (operations[number].commits != 1)
        sim_fail("I4: operation %d is acknowledged, but %d times committed",
                 number, operations[number].commits);
}

void check_told_refused(int number)
{
    operations[number].told = REFUSED;
    sums[SUM_REFUSED]++;
    if (operations[number].commits != 0)
        sim_fail("I5: operation %d is refused, but committed", number);
}

void check_told_unknown(int number)
{
    operations[number].told = UNKNOWN;
    sums[SUM_UNKNOWN]++;
    if (operations[number].commits > 0)
        sums[SUM_LANDED]++;
}

void check_told_absent(int number, int64_t fence)
{
    operations[number].absent = fence;
    if (operations[number].commits != 0)
        sim_fail("I6: operation %d is told absent, but committed", number);
}

int check_newest(int resource)
{
    return histories[resource].newest;
}

/* ---- Grants ------------------------------------------------------------------------ */

check_mark check_before(int resource, const rf_acquire_options *opts)
{
    check_mark mark = histories[resource].mark;

    mark.asks = opts->ask_floor != NULL;
    return mark;
}

void check_begun(int resource, const char *holder)
{
    add_name(&begun, holder, resource);
}

static int has_begun(int resource, const char *holder)
{
    for (int i = 0; i < begun.n; i++) {
        if (begun.number[i] == resource && strcmp(begun.name[i], holder) == 0)
            return 1;
    }
    return 0;
}

static void check_greater(int64_t fence, int64_t before)
{
    if (fence <= before)
        sim_fail("I10: fence %lld was granted, %lld before it was asked for",
                 (long long)fence, (long long)before);
}

void check_granted(const check_mark *before, const rf_lock *lock, int claimed)
{
    check_mark *mark = &histories[before->resource].mark;
    int64_t fence = lock->fence;

    sums[SUM_GRANTS]++;
    sums[SUM_QUORUM_GRANTS] += servers_are_quorum();
    sums[SUM_CONFIRMED] += servers_min_replicas() > 0;
    sums[SUM_MOVED] += servers_moved();
    check_greater(fence, 0);
    if (claimed)
        check_greater(fence, before->claimed);
    if (servers_ordered())
        check_greater(fence, before->any);
    if (before->asks && fence <= before->claimed &&
        has_begun(before->resource, lock->holder))
        sim_fail("I18: a counter begins with %lld, and the database knew %lld",
                 (long long)fence, (long long)before->claimed);
    if (claimed && fence > mark->claimed)
        mark->claimed = fence;
    if (fence > mark->any)
        mark->any = fence;
}

/* Of a quorum a minority may be left, or get it yet. */
static void check_without(int resource, const char *holder)
{
    if (servers_hold(resource, 0, holder) || servers_share(resource, holder))
        sim_fail("I6: %.8s was told that nothing landed, and has a lock",
                 holder);
}

void check_told_nothing(int resource, const char *holder)
{
    add_name(&without, holder, resource);
    check_without(resource, holder);
}

void check_lock(const char *value)
{
    const char *holder = without.n > 0 ? strchr(value, ':') : NULL;

    for (int i = 0; holder != NULL && i < without.n; i++) {
        if (strcmp(without.name[i], holder + 1) == 0)
            check_without((int)without.number[i], holder + 1);
    }
}

void check_has(int holder, int resource, const rf_lock *lock, int64_t cap_ms)
{
    belief *b = &beliefs[holder][resource];

    at_hand[resource] += b->lock == NULL;
    b->lock = lock;
    b->host = sim_here();
    b->told = 0;
    b->cap_ms = cap_ms;
}

void check_forgets(int holder)
{
    for (int r = 0; r < RESOURCES; r++) {
        at_hand[r] -= beliefs[holder][r].lock != NULL;
        beliefs[holder][r].lock = NULL;
        beliefs[holder][r].told = 0;
    }
}

static int redis_agrees(const rf_lock *lock, int resource)
{
    return lock->shared ? servers_share(resource, lock->holder)
                        : servers_hold(resource, lock->fence, lock->holder);
}

/* Two that were told so are two too many, unless both only read. */
static void count_overlaps(int holder, int resource)
{
    const rf_lock *lock = beliefs[holder][resource].lock;

    for (int i = 0; i <= HOLDERS; i++) {
        const belief *other = &beliefs[i][resource];

        if (i == holder || !other->told)
            continue;
        if (lock->shared && other->lock->shared)
            sums[SUM_TOGETHER]++;
        else
            sums[SUM_OVERLAPS]++;
    }
}

void check_told(int holder, int resource, int ours)
{
    belief *b = &beliefs[holder][resource];

    b->told = ours;
    if (!ours)
        return;
    if (servers_honest() && !redis_agrees(b->lock, resource))
        sim_fail("I9: %.8s is told that fence %lld is its own, and Redis does "
                 "not say so",
                 b->lock->holder, (long long)b->lock->fence);
    count_overlaps(holder, resource);
}

/* Would its holder be told so at this moment? */
static int is_believed(const belief *b)
{
    return b->lock != NULL && b->lock->over == RF_OK &&
           sim_clock(b->host) < b->lock->deadline_ms;
}

static void check_belief(const belief *b, int resource)
{
    if (b->cap_ms != 0 && sim_clock(b->host) >= b->cap_ms)
        sim_fail("I9: %.8s believes for longer than it wanted",
                 b->lock->holder);
    if (servers_honest() && !redis_agrees(b->lock, resource))
        sim_fail("I9: %.8s believes in fence %lld, and Redis does not",
                 b->lock->holder, (long long)b->lock->fence);
}

void check_step(void)
{
    for (int r = 0; r < RESOURCES; r++) {
        const belief *believed[HOLDERS + 1];
        int n = 0, readers = 0;

        for (int i = 0; i <= HOLDERS && at_hand[r] > 0; i++) {
            if (!is_believed(&beliefs[i][r]))
                continue;
            readers += beliefs[i][r].lock->shared;
            believed[n++] = &beliefs[i][r];
        }
        if (n > 1 && readers < n && servers_honest())
            sim_fail("I16: %d write and %d read resource %d", n - readers,
                     readers, r);
        while (n > 0)
            check_belief(believed[--n], r);
    }
}

void check_all_or_none(int before, int after, const char *holder)
{
    if (after != before && after != RESOURCES)
        sim_fail("I17: %.8s has %d of %d locks that it wanted together", holder,
                 after, RESOURCES);
}

/* ---- Kept locks --------------------------------------------------------------------- */

void check_released(const char *holder)
{
    add_name(&released, holder, network_sent());
}

void check_renewal(const char *holder, int64_t sent)
{
    sums[SUM_RENEWED]++;
    for (int i = 0; i < released.n; i++) {
        if (sent > released.number[i] && strcmp(released.name[i], holder) == 0)
            sim_fail("I14: the lock of %.8s is renewed after its release",
                     holder);
    }
}

void check_end(void)
{
    for (int i = 1; i <= count; i++) {
        if (operations[i].told == PENDING)
            sim_fail("simulator: operation %d was never answered", i);
        if (operations[i].told == DONE && operations[i].commits != 1)
            sim_fail("I4: operation %d is gone", i);
    }
}
