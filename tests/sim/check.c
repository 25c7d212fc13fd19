/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * check.c - what must hold, looked at after every step
 *
 * I1  fences never go down in commit order     I5  refused is never committed
 * I2  one holder for one number                I6  unknown: never twice
 * I3  holders don't interleave                 I7  no lost update
 * I4  acknowledged: committed exactly once     I9  no false belief
 * I10 a later grant has the greater number
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#define OPERATIONS_MAX 256
#define GRANTS_MAX     128
#define NOTHINGS_MAX   64

typedef enum told { PENDING, DONE, REFUSED, UNKNOWN } told;

typedef struct operation {
    int resource, commits;
    told told;
} operation;

typedef struct grant {
    int64_t fence;
    char holder[40];
} grant;

typedef struct history {
    int newest;               /* operation        */
    int64_t newest_grant;     /* handed out       */
    grant grants[GRANTS_MAX]; /* in the order of their first commit */
    int n;
} history;

static operation operations[OPERATIONS_MAX];
static int count;
static history histories[RESOURCES];
static struct {
    int resource;
    int64_t fence;
} beliefs[HOLDERS + 1];

static char nothings[NOTHINGS_MAX][40];
static int nothing_count;

void check_begin(void)
{
    count = 0;
    nothing_count = 0;
    for (int i = 0; i < RESOURCES; i++) {
        histories[i].newest = 0;
        histories[i].newest_grant = 0;
        histories[i].n = 0;
    }
    memset(beliefs, 0, sizeof(beliefs));
}

int check_operation(int resource)
{
    if (++count == OPERATIONS_MAX)
        sim_fail("%s", "simulator: too many operations");
    operations[count].resource = resource;
    operations[count].commits = 0;
    operations[count].told = PENDING;
    return count;
}

static void check_order(history *h, int64_t fence, const char *holder)
{
    grant *last = h->n > 0 ? &h->grants[h->n - 1] : NULL;

    if (last != NULL && last->fence == fence &&
        strcmp(last->holder, holder) == 0)
        return;
    for (int i = 0; i < h->n; i++) {
        if (h->grants[i].fence == fence &&
            strcmp(h->grants[i].holder, holder) != 0)
            sim_fail("I2: fence %lld writes for two holders", (long long)fence);
    }
    if (last != NULL && fence < last->fence)
        sim_fail("I1: fence %lld commits after %lld", (long long)fence,
                 (long long)last->fence);
    for (int i = 0; i < h->n; i++) {
        if (strcmp(h->grants[i].holder, holder) == 0)
            sim_fail("I3: holder %.8s commits again after another did", holder);
    }
    if (h->n == GRANTS_MAX)
        sim_fail("%s", "simulator: too many grants");
    h->grants[h->n].fence = fence;
    snprintf(h->grants[h->n].holder, sizeof(h->grants[h->n].holder), "%s",
             holder);
    h->n++;
}

void check_commit(int resource, int number, int base, int64_t fence,
                  const char *holder)
{
    operation *op = &operations[number];
    history *h = &histories[resource];

    sim_trace("PostgreSQL: operation %d commits on %d with fence %lld of %.8s",
              number, resource, (long long)fence, holder);
    sums.commits++;
    check_order(h, fence, holder);
    if (base != h->newest)
        sim_fail("I7: operation %d has read %d, but %d was committed since",
                 number, base, h->newest);
    op->commits++;
    if (op->commits > 1)
        sim_fail("I6: operation %d is committed twice", number);
    if (op->told == REFUSED)
        sim_fail("I5: operation %d commits after it was refused", number);
    if (op->told == UNKNOWN)
        sums.landed++;
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
    sums.refused++;
    if (operations[number].commits != 0)
        sim_fail("I5: operation %d is refused, but committed", number);
}

void check_told_unknown(int number)
{
    operations[number].told = UNKNOWN;
    sums.unknown++;
    if (operations[number].commits > 0)
        sums.landed++;
}

int check_newest(int resource)
{
    return histories[resource].newest;
}

int64_t check_newest_grant(int resource)
{
    return histories[resource].newest_grant;
}

void check_granted(int resource, int64_t fence, int64_t newest_before)
{
    history *h = &histories[resource];

    sums.acquired++;
    if (fence <= 0)
        sim_fail("I10: a grant with fence %lld", (long long)fence);
    if (fence <= newest_before)
        sim_fail("I10: fence %lld was granted, %lld before it was asked for",
                 (long long)fence, (long long)newest_before);
    if (fence > h->newest_grant)
        h->newest_grant = fence;
}

void check_told_nothing(const char *holder)
{
    if (nothing_count == NOTHINGS_MAX)
        sim_fail("%s", "simulator: too many holders without a lock");
    sim_copy(nothings[nothing_count++], sizeof(nothings[0]), holder);
}

void check_lock(const char *value)
{
    const char *holder = strchr(value, ':');

    for (int i = 0; holder != NULL && i < nothing_count; i++) {
        if (strcmp(nothings[i], holder + 1) == 0)
            sim_fail("I6: %.8s was told that nothing landed, and has a lock",
                     nothings[i]);
    }
}

/* Called at the very moment at which the client answers "it is yours". */
void check_believes(int holder, int resource, int64_t fence, const char *who)
{
    char name[8];

    beliefs[holder].resource = resource;
    beliefs[holder].fence = fence;
    if (fence == 0)
        return;
    for (int i = 0; i <= HOLDERS; i++) {
        if (i != holder && beliefs[i].fence != 0 &&
            beliefs[i].resource == resource)
            sums.overlaps++;
    }
    snprintf(name, sizeof(name), "r%d", resource);
    if (sim_honest() && !redis_holds(name, fence, who))
        sim_fail("I9: %.8s believes in fence %lld, and Redis does not", who,
                 (long long)fence);
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
