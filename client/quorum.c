/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * quorum.c - independent masters, of which a majority must agree
 *
 * Fences are ordered in two steps.  Each master issues a number of its own and
 * the fence is the greatest; then it is made known to a majority where the lock
 * is still ours.  Any two majorities share a master, so whoever comes after us
 * gets more.  A master whose own number was the fence knows it already: usually
 * there is nothing to do in the second step.
 */
#include "quorum.h"

#include <stdlib.h>
#include <string.h>

#include "ballot.h"
#include "in_turn.h"

static rf__quorum *self(rf__source *s)
{
    return (rf__quorum *)s;
}

/* Half of what is left: the other half is for what follows from the answers. */
static int64_t halfway(int64_t deadline_ms)
{
    return rf__now_ms() + (rf__left_ms(deadline_ms) + 1) / 2;
}

static void ask_all(rf__ballot *b, const rf__script *script)
{
    for (size_t i = 0; i < b->q->n; i++)
        rf__ballot_ask(b, i, script);
}

/* ---- Acquire -------------------------------------------------------------- */

/*
 * An acquisition that was complete and whose answers were lost is handed out as
 * it was, even when another master joins in with a greater number now.
 */
static rf_fence completed_before(const rf__ballot *b)
{
    for (size_t i = 0; i < b->q->n; i++) {
        size_t same = 0;

        for (size_t j = 0; j < b->q->n; j++)
            same += b->result[j] == RF_OK && b->replayed[j] &&
                    b->grant[j].fence == b->grant[i].fence;
        if (b->result[i] == RF_OK && same >= b->q->majority)
            return b->grant[i].fence;
    }
    return 0;
}

static rf_fence greatest(const rf__ballot *b)
{
    rf_fence most = 0;

    for (size_t i = 0; i < b->q->n; i++) {
        if (b->result[i] == RF_OK && b->grant[i].fence > most)
            most = b->grant[i].fence;
    }
    return most;
}

/*
 * Second step.  Raises every master that took part, not just as many as are
 * needed, so that all of them know the lock by one value.  Returns how many do.
 */
static size_t make_known(rf__ballot *b, rf_fence fence, int64_t deadline_ms)
{
    rf__grant what = b->grant[0];
    size_t known = 0;
    rf__ballot second;

    what.fence = fence;
    rf__ballot_init(&second, b->q, &what);
    for (size_t i = 0; i < b->q->n; i++) {
        if (b->result[i] != RF_OK)
            continue;
        if (b->grant[i].fence == fence)
            known++;
        else if (b->grant[i].fence < fence)
            rf__ballot_ask(&second, i, &rf__script_raise);
        else
            b->result[i] = RF_LOST; /* see completed_before() */
    }
    if (second.asked == 0)
        return known;
    second.enough = second.asked;
    rf__ballot_hold(&second, deadline_ms);
    /* What did not get so far counts no more. */
    for (size_t i = 0; i < b->q->n; i++) {
        if (second.result[i] != RF__PENDING)
            b->result[i] = second.result[i];
    }
    return known + second.ok;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* So long a majority of those that have the lock keeps it. */
static int64_t majority_ttl(const rf__ballot *b)
{
    int64_t left[RF__QUORUM_MAX] = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < b->q->n; i++) {
        if (b->result[i] == RF_OK)
            left[n++] = b->grant[i].ttl_ms;
    }
    qsort(left, n, sizeof(left[0]), compare);
    return left[n - b->q->majority];
}

/* When enough of those in the way have run out; -1: never. */
static int64_t busy_ms(const rf__ballot *b)
{
    int64_t left[RF__QUORUM_MAX] = { 0 };
    size_t n = 0, free;

    for (size_t i = 0; i < b->q->n; i++) {
        if (b->result[i] != RF_BUSY)
            continue;
        left[n++] = b->grant[i].busy_ms < 0 ? INT64_MAX : b->grant[i].busy_ms;
    }
    qsort(left, n, sizeof(left[0]), compare);
    free = b->ok < b->q->majority ? b->q->majority - b->ok : 1;
    if (free > n)
        free = n;
    return left[free - 1] == INT64_MAX ? -1 : left[free - 1];
}

/*
 * A minority is worth nothing and stands in others' way: give back what has a
 * number up to grant->fence.  Notes in grant->doubt which masters may have the
 * lock all the same, or get it yet: a request that was not answered may be on its
 * way still, when the next one has long been.
 */
static void roll_back(rf__ballot *b, rf__grant *grant, int64_t deadline_ms)
{
    size_t granted = b->ok;
    rf__ballot undo;

    rf__ballot_init(&undo, b->q, grant);
    for (size_t i = 0; i < b->q->n && grant->fence > 0; i++) {
        if (b->result[i] == RF_OK || b->result[i] == RF_UNKNOWN ||
            b->result[i] == RF_LOST)
            rf__ballot_ask(&undo, i, &rf__script_withdraw);
    }
    undo.enough = granted;
    if (undo.asked > 0)
        rf__ballot_hold(&undo, deadline_ms);
    for (size_t i = 0; i < b->q->n; i++) {
        if (b->result[i] == RF_UNKNOWN ||
            (b->result[i] == RF_OK && undo.result[i] != RF_OK &&
             undo.result[i] != RF_LOST))
            grant->doubt |= 1u << i;
    }
}

static size_t doubtful(const rf__grant *grant)
{
    size_t n = 0;

    for (unsigned rest = grant->doubt; rest != 0; rest >>= 1)
        n += rest & 1;
    return n;
}

static rf_status not_granted(rf__ballot *b, rf__grant *grant,
                             int64_t deadline_ms)
{
    rf__quorum *q = b->q;
    size_t silent = rf__ballot_count(b, RF_RETRY) +
                    rf__ballot_count(b, RF_UNKNOWN);
    static const rf_status others[] = { RF_MISUSE, RF_REFUSED, RF_NOMEM };

    if (rf__ballot_count(b, RF_BUSY) > 0) {
        grant->busy_ms = busy_ms(b);
        /* Its release wakes nobody here. */
        grant->busy_by = RF__OWNER_FOREIGN;
    }
    roll_back(b, grant, deadline_ms);
    if (doubtful(grant) >= q->majority) {
        rf__ballot_explain(b, RF_UNKNOWN);
        return RF_UNKNOWN;
    }
    for (size_t i = 0; i < q->n; i++)
        grant->needs_floor |= b->grant[i].needs_floor;
    if (silent > q->n - q->majority || grant->needs_floor) {
        rf__ballot_explain(b, RF_UNKNOWN);
        rf__ballot_explain(b, RF_RETRY);
        return RF_RETRY;
    }
    if (rf__ballot_count(b, RF_BUSY) > 0) {
        rf__set_error(q->base.error, "held by another");
        return RF_BUSY;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (rf__ballot_count(b, others[i]) > 0) {
            rf__ballot_explain(b, others[i]);
            return others[i];
        }
    }
    rf__set_error(q->base.error, "lost again before a majority knew the fence");
    return RF_RETRY;
}

/*
 * What was given back under this holder had numbers up to grant->fence, and the
 * request for it may be on its way yet: only a greater number is safe from it.
 */
static rf_fence choose_fence(const rf__ballot *b, const rf__grant *grant)
{
    rf_fence fence = completed_before(b), most = greatest(b);

    if (fence == 0)
        fence = most;
    if (fence > grant->fence)
        return fence;
    return most > grant->fence ? most : grant->fence + 1;
}

static rf_status acquire(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    rf__quorum *q = self(base);
    rf_fence fence = 0, most;
    rf__ballot b;

    if (grant->shared) {
        rf__set_error(base->error, "a quorum has no shared locks");
        return RF_MISUSE;
    }
    rf__ballot_init(&b, q, grant);
    b.floor = floor;
    ask_all(&b, &rf__script_acquire);
    rf__ballot_hold(&b, halfway(deadline_ms));
    grant->sent_ms = b.sent_ms;
    most = greatest(&b);
    if (b.ok >= q->majority) {
        fence = choose_fence(&b, grant);
        if (make_known(&b, fence, halfway(deadline_ms)) >= q->majority) {
            grant->fence = fence;
            grant->ttl_ms = majority_ttl(&b);
            return RF_OK;
        }
    }
    if (most < fence)
        most = fence;
    if (grant->fence < most)
        grant->fence = most;
    return not_granted(&b, grant, deadline_ms);
}

/* ---- Renew, release ------------------------------------------------- */

static rf_status renew(rf__source *base, rf__grant *grant, int64_t deadline_ms)
{
    rf__ballot b;

    rf__ballot_init(&b, self(base), grant);
    ask_all(&b, &rf__script_renew);
    rf__ballot_hold(&b, deadline_ms);
    grant->sent_ms = b.sent_ms;
    return rf__ballot_judge(&b, grant);
}

/*
 * A master that was not raised has another number: so any number is given back,
 * but where this request, should it be late, could meet a later grant.
 */
static rf__grant whatever_its_number(const rf__grant *grant)
{
    rf__grant what = *grant;

    if (!grant->again)
        what.fence = RF_FENCE_MAX;
    return what;
}

static rf_status release(rf__source *base, rf__grant *grant,
                         int64_t deadline_ms)
{
    rf__grant what = whatever_its_number(grant);
    rf__ballot b;

    rf__ballot_init(&b, self(base), &what);
    ask_all(&b, &rf__script_withdraw);
    rf__ballot_hold(&b, deadline_ms);
    return rf__ballot_judge(&b, grant);
}

/* ---- Many at once ----------------------------------------------------------- */

/* One pipeline to each master for all of them. */
static void vote_on_all(rf__quorum *q, const rf__script *script,
                        const rf__grants *all, rf_status *results,
                        int64_t deadline_ms)
{
    rf__ballot b[RF__BALLOTS_MAX];

    for (size_t i = 0; i < all->n; i++) {
        rf__grant what = script == &rf__script_withdraw
                             ? whatever_its_number(&all->grant[i])
                             : all->grant[i];

        rf__ballot_init(&b[i], q, &what);
        ask_all(&b[i], script);
    }
    rf__ballots_hold(b, all->n, deadline_ms);
    for (size_t i = 0; i < all->n; i++) {
        all->grant[i].sent_ms = b[i].sent_ms;
        results[i] = rf__ballot_judge(&b[i], &all->grant[i]);
    }
}

static void vote_in_parts(rf__source *base, const rf__script *script,
                          const rf__grants *all, rf_status *results,
                          int64_t deadline_ms)
{
    for (size_t i = 0; i < all->n; i += RF__BALLOTS_MAX) {
        rf__grants part = { .grant = all->grant + i, .n = all->n - i };

        if (part.n > RF__BALLOTS_MAX)
            part.n = RF__BALLOTS_MAX;
        vote_on_all(self(base), script, &part, results + i, deadline_ms);
    }
}

static void renew_all(rf__source *base, rf__grant *grants, rf_status *results,
                      size_t n, int64_t deadline_ms)
{
    const rf__grants all = { .grant = grants, .n = n };

    vote_in_parts(base, &rf__script_renew, &all, results, deadline_ms);
}

static void release_all(rf__source *base, rf__grant *grants, rf_status *results,
                        size_t n, int64_t deadline_ms)
{
    const rf__grants all = { .grant = grants, .n = n };

    vote_in_parts(base, &rf__script_withdraw, &all, results, deadline_ms);
}

/* ---- Reissue ------------------------------------------------------------------ */

static rf_status reissue(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    rf__quorum *q = self(base);
    rf_status status;
    rf_fence fence;
    rf__ballot b;

    rf__ballot_init(&b, q, grant);
    b.floor = floor;
    ask_all(&b, &rf__script_reissue);
    rf__ballot_hold(&b, halfway(deadline_ms));
    status = rf__ballot_judge(&b, grant);
    if (status == RF_OK) {
        fence = greatest(&b);
        if (make_known(&b, fence, deadline_ms) >= q->majority) {
            grant->fence = fence;
            return RF_OK;
        }
        rf__set_error(q->base.error, "no majority knows the new fence");
    }
    /* Some have another number now, and the lock is known by the old one. */
    return status != RF_LOST && b.ok > 0 ? RF_UNKNOWN : status;
}

static rf_status force_release(rf__source *base, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms)
{
    rf__quorum *q = self(base);
    size_t ok = 0, lost = 0;
    rf_status status = RF_RETRY;

    for (size_t i = 0; i < q->n; i++) {
        int64_t share = rf__left_ms(deadline_ms) / (int)(q->n - i);
        rf_status one = q->node[i]->ops->force_release(
            q->node[i], resource, fence, reason, rf__now_ms() + share);

        ok += one == RF_OK;
        lost += one == RF_LOST;
        if (one != RF_OK && one != RF_LOST) {
            status = one;
            *q->base.error = q->error[i];
        }
    }
    /* The others are too few to hold it. */
    if (ok + lost >= q->majority) {
        rf__set_error(q->base.error, "nobody has the lock with that fence");
        return ok > 0 ? RF_OK : RF_LOST;
    }
    return status;
}

/* ---- Look --------------------------------------------------------------------- */

static int same_lock(const rf_info *a, const rf_info *b)
{
    return a->held == b->held && strcmp(a->holder, b->holder) == 0;
}

/* What a majority says; its time is the shortest that leaves a majority. */
static void agree(rf__ballot *b, rf_info *out)
{
    for (size_t i = 0; i < b->q->n; i++) {
        size_t same = 0;
        rf_info most = b->info[i];

        for (size_t j = 0; j < b->q->n; j++) {
            if (b->result[j] != RF_OK || b->result[i] != RF_OK ||
                !same_lock(&b->info[i], &b->info[j]))
                continue;
            same++;
            if (b->info[j].fence > most.fence)
                most.fence = b->info[j].fence;
            if (b->info[j].left_ms >= 0 && b->info[j].left_ms < most.left_ms)
                most.left_ms = b->info[j].left_ms;
        }
        if (same >= b->q->majority)
            *out = most;
    }
}

static rf_status inspect(rf__source *base, const char *resource, rf_info *info,
                         int64_t deadline_ms)
{
    rf__quorum *q = self(base);
    rf__grant what = { .resource = resource, .holder = "" };
    rf_info found = { 0 };
    rf__ballot b;

    rf__ballot_init(&b, q, &what);
    ask_all(&b, &rf__script_inspect);
    rf__ballot_hold(&b, deadline_ms);
    if (b.ok < q->majority) {
        rf_status status = rf__ballot_judge(&b, &what);

        return status == RF_UNKNOWN ? RF_RETRY : status;
    }
    agree(&b, &found);
    found.counter = 0;
    for (size_t i = 0; i < q->n; i++) {
        if (b.result[i] == RF_OK &&
            (b.info[i].counter > found.counter || b.info[i].counter < 0)) {
            found.counter = b.info[i].counter;
            found.counter_left_ms = b.info[i].counter_left_ms;
        }
    }
    *info = found;
    return RF_OK;
}

/* Nobody is woken by a quorum: ask again after a while. */
static rf_status wait_for_nobody(rf__source *base, rf__grant *grant,
                                 int64_t for_ms)
{
    (void)base, (void)grant, (void)for_ms;
    return RF_RETRY;
}

static rf_status list(rf__source *base, rf__page *page, int64_t deadline_ms)
{
    rf__quorum *q = self(base);
    rf__sources all = { q->node, q->n, q->n - q->majority, base->error };

    /* Whoever has a lock has it on a majority. */
    return rf__list_in_turn(&all, page, deadline_ms);
}

/* One that is away is a finding: a majority may do. */
static rf_status examine(rf__source *base, const rf__examination *e)
{
    rf__quorum *q = self(base);

    return rf__examine_in_turn(q->node, q->n, e);
}

/* ---- Open and close -------------------------------------------------------------- */

static void close_quorum(rf__source *base)
{
    rf__quorum *q = self(base);

    for (size_t i = 0; i < q->n; i++) {
        if (q->node[i] != NULL)
            q->node[i]->ops->close(q->node[i]);
    }
    free(q);
}

static rf__source *clone(rf__source *base, rf__error *error);

static const rf__source_ops ops = {
    .acquire = acquire,
    .renew = renew,
    .release = release,
    .reissue = reissue,
    .inspect = inspect,
    .wait = wait_for_nobody,
    .acquire_all = rf__acquire_in_turn,
    .force_release = force_release,
    .list = list,
    .examine = examine,
    .renew_all = renew_all,
    .release_all = release_all,
    .clone = clone,
    .close = close_quorum,
};

static rf__quorum *new_quorum(size_t n, rf__error *error)
{
    rf__quorum *q = calloc(1, sizeof(*q));

    if (q == NULL)
        return NULL;
    q->base.ops = &ops;
    q->base.error = error;
    q->n = n;
    q->majority = n / 2 + 1;
    return q;
}

/* Takes a quorum of which a node may be missing for want of memory. */
static rf__source *complete(rf__quorum *q)
{
    for (size_t i = 0; q != NULL && i < q->n; i++) {
        if (q->node[i] == NULL) {
            close_quorum(&q->base);
            return NULL;
        }
    }
    return q != NULL ? &q->base : NULL;
}

static rf__source *clone(rf__source *base, rf__error *error)
{
    rf__quorum *from = self(base), *q = new_quorum(from->n, error);

    for (size_t i = 0; q != NULL && i < q->n; i++)
        q->node[i] = from->node[i]->ops->clone(from->node[i], &q->error[i]);
    return complete(q);
}

rf__source *rf__quorum_source(const rf__service *service,
                              const rf_options *opts, rf__error *error)
{
    rf__quorum *q = new_quorum(service->n, error);

    for (size_t i = 0; q != NULL && i < q->n; i++)
        q->node[i] = rf__redis_source(&service->node[i], opts, &q->error[i]);
    return complete(q);
}
