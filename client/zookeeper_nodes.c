/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_nodes.c - our nodes in ZooKeeper, and when each is to go
 *
 * Judged by our own clock, for our own nodes alone: whoever waits for one of
 * them sees it go and has no clock to agree with.
 */
#ifdef RF_ZOOKEEPER

#include "zookeeper_nodes.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define NAP_MS   1000 /* a suspended machine is noticed after this at most */
#define LIMIT_MS 1000 /* of one attempt to take a node away                */
#define AGAIN_MS 100  /* until the next one                                */

typedef struct entry {
    struct entry *next;
    rf__zoo_node node;
    int is_going; /* the thread is at it: nobody's lock any more */
} entry;

struct rf__zoo_nodes {
    rf__zoo *zoo;
    char prefix[RF__PREFIX_MAX + 1];
    pid_t pid;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    int users, is_running, is_stopping;
    int64_t proof_ms; /* not before then is the session made sure of again */
    entry *first;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void nap_until(rf__zoo_nodes *n, int64_t until_ms)
{
    rf__cond_wait_ms(&n->changed, &n->mutex,
                     least(rf__left_ms(until_ms), NAP_MS));
}

/* ---- The thread that takes them away ------------------------------------------- */

/* In the session of this node, and in the folder that it is in. */
static rf__zoo_call *send_at(rf__zoo_nodes *n, const rf__zoo_node *node,
                             rf__zoo_op op, const char *name, const char *text)
{
    rf__zoo_path path;

    rf__zoo_in_folder(&path, n->prefix, node->resource, name);
    return rf__zoo_send(n->zoo, node->session, op, path.text, text);
}

static rf_status answer(rf__zoo_nodes *n, rf__zoo_call *call,
                        rf__zoo_reply *reply)
{
    rf__error ignored = { .text = "" };

    return rf__zoo_answer(n->zoo, call, rf__now_ms() + LIMIT_MS, reply,
                          &ignored);
}

static rf_status delete_node(rf__zoo_nodes *n, const rf__zoo_node *node,
                             const char *name)
{
    rf__zoo_reply reply;

    return answer(n, send_at(n, node, RF__ZOO_DELETE, name, NULL), &reply);
}

/* Another client may have a lock of the same holder. */
static rf_status delete_if_ours(rf__zoo_nodes *n, const rf__zoo_node *node,
                                const char *name)
{
    rf__zoo_reply found;
    rf_status status = answer(n, send_at(n, node, RF__ZOO_GET, name, NULL),
                              &found);

    if (status == RF_OK && found.code == RF__ZOO_DONE && found.is_ours)
        status = delete_node(n, node, name);
    return status;
}

/* Its creation was never answered: what of ours has this holder's name. */
static rf_status delete_all_of(rf__zoo_nodes *n, const rf__zoo_node *node)
{
    rf__zoo_reply list;
    rf__zoo_path path;
    rf_status status;
    const char *name;

    rf__zoo_folder(&path, n->prefix, node->resource);
    rf__zoo_forget(n->zoo, rf__zoo_send(n->zoo, node->session, RF__ZOO_SYNC,
                                        path.text, NULL));
    status = answer(
        n, rf__zoo_send(n->zoo, node->session, RF__ZOO_LIST, path.text, NULL),
        &list);
    name = list.names;
    for (size_t i = 0; status == RF_OK && i < list.n; i++) {
        if (strncmp(name, node->holder, RF_HOLDER_LEN) == 0)
            status = delete_if_ours(n, node, name);
        name += strlen(name) + 1;
    }
    free(list.names);
    return status;
}

static entry *first_due(const rf__zoo_nodes *n)
{
    entry *first = n->first;

    for (entry *e = n->first; e != NULL; e = e->next) {
        if (e->node.until_ms < first->node.until_ms)
            first = e;
    }
    return first;
}

static void unlink_entry(rf__zoo_nodes *n, entry *gone)
{
    entry **at = &n->first;

    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    free(gone);
}

/* With the mutex held; gives it up meanwhile. */
static void take_away(rf__zoo_nodes *n, entry *due)
{
    rf__zoo_node node = due->node;
    rf_status status;

    due->is_going = 1;
    pthread_mutex_unlock(&n->mutex);
    if (node.is_foreign)
        status = RF_OK;
    else if (node.name[0] != '\0')
        status = delete_node(n, &node, node.name);
    else
        status = delete_all_of(n, &node);
    /* What cannot be told now can be later, as long as there is its session. */
    if (status != RF_OK && rf__zoo_session(n->zoo).number != node.session)
        status = RF_OK;
    pthread_mutex_lock(&n->mutex);
    if (status == RF_OK)
        unlink_entry(n, due);
    else
        due->node.until_ms = rf__now_ms() + AGAIN_MS;
}

/* ---- The same thread sees to it that the session is sure to live ------------- */

/* A lock that is to stand for longer than the session is sure to. */
static entry *first_unsure(const rf__zoo_nodes *n, const rf__zoo_life *life)
{
    entry *e = n->first;

    while (e != NULL && (!e->node.is_granted || e->node.is_foreign ||
                         e->is_going || e->node.session != life->number ||
                         e->node.until_ms <= life->sure_ms))
        e = e->next;
    return e;
}

/* When it is to be made sure of again: a third of the time is used up. */
static int64_t next_proof_ms(rf__zoo_nodes *n, const rf__zoo_life *life)
{
    int64_t when_ms = life->sure_ms - (int64_t)life->session_ms * 2 / 3;

    if (first_unsure(n, life) == NULL)
        return INT64_MAX;
    return when_ms > n->proof_ms ? when_ms : n->proof_ms;
}

/*
 * Any write will do, such as what is left of a lock.  With the mutex held; gives
 * it up meanwhile.
 */
static void prove(rf__zoo_nodes *n, const rf__zoo_life *life)
{
    rf__zoo_node node = first_unsure(n, life)->node;
    char words[RF__ZOO_WORDS_MAX];
    rf__zoo_reply ignored;

    n->proof_ms = rf__now_ms() + AGAIN_MS;
    pthread_mutex_unlock(&n->mutex);
    rf__zoo_write_words(words, rf__left_ms(node.until_ms), life->session_ms);
    (void)answer(n, send_at(n, &node, RF__ZOO_SET, node.name, words), &ignored);
    pthread_mutex_lock(&n->mutex);
}

static void *tend(void *arg)
{
    rf__zoo_nodes *n = arg;

    pthread_mutex_lock(&n->mutex);
    while (!n->is_stopping) {
        rf__zoo_life life = rf__zoo_session(n->zoo);
        entry *due = first_due(n);
        int64_t proof_ms = next_proof_ms(n, &life);

        if (due == NULL)
            pthread_cond_wait(&n->changed, &n->mutex);
        else if (rf__left_ms(due->node.until_ms) == 0)
            take_away(n, due);
        else if (rf__left_ms(proof_ms) == 0)
            prove(n, &life);
        else
            nap_until(n, least(due->node.until_ms, proof_ms));
    }
    pthread_mutex_unlock(&n->mutex);
    return NULL;
}

/* The caller's signals are none of its business. */
static int start_thread(rf__zoo_nodes *n)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    n->is_running = pthread_create(&n->thread, NULL, tend, n) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return n->is_running;
}

/* ---- The list ---------------------------------------------------------------------- */

static entry *find(const rf__zoo_nodes *n, const char *resource,
                   const char *holder)
{
    for (entry *e = n->first; e != NULL; e = e->next) {
        if (strcmp(e->node.holder, holder) == 0 &&
            strcmp(e->node.resource, resource) == 0)
            return e;
    }
    return NULL;
}

int rf__zoo_nodes_get(rf__zoo_nodes *n, const char *resource,
                      const char *holder, rf__zoo_node *out)
{
    long now = rf__zoo_session(n->zoo).number;
    entry *e;

    pthread_mutex_lock(&n->mutex);
    e = find(n, resource, holder);
    if (e != NULL && !e->is_going && e->node.session != now) {
        unlink_entry(n, e);
        e = NULL;
    }
    if (e != NULL && e->is_going)
        e = NULL;
    if (e != NULL)
        *out = e->node;
    pthread_mutex_unlock(&n->mutex);
    return e != NULL;
}

int rf__zoo_nodes_stands(rf__zoo_nodes *n, const char *resource,
                         const char *holder)
{
    rf__zoo_life life = rf__zoo_session(n->zoo);
    int stands;
    entry *e;

    pthread_mutex_lock(&n->mutex);
    e = find(n, resource, holder);
    stands = e != NULL && !e->is_going && e->node.is_granted &&
             e->node.session == life.number &&
             (e->node.is_foreign || rf__left_ms(life.sure_ms) > 0);
    /* It is taken away, so that it won't stand again. */
    if (e != NULL && !stands) {
        e->node.is_granted = 0;
        e->node.until_ms = rf__now_ms();
        pthread_cond_signal(&n->changed);
    }
    pthread_mutex_unlock(&n->mutex);
    return stands;
}

rf_status rf__zoo_nodes_put(rf__zoo_nodes *n, const rf__zoo_node *node)
{
    rf_status status = RF_OK;
    entry *e;

    pthread_mutex_lock(&n->mutex);
    e = find(n, node->resource, node->holder);
    if (!n->is_running && !start_thread(n)) {
        status = RF_RETRY;
    } else if (e != NULL && e->is_going) {
        status = RF_RETRY;
    } else if (e != NULL) {
        e->node = *node;
    } else if ((e = calloc(1, sizeof(*e))) == NULL) {
        status = RF_NOMEM;
    } else {
        e->node = *node;
        e->next = n->first;
        n->first = e;
    }
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->mutex);
    return status;
}

void rf__zoo_nodes_remove(rf__zoo_nodes *n, const rf__zoo_node *node)
{
    entry *e;

    pthread_mutex_lock(&n->mutex);
    e = find(n, node->resource, node->holder);
    if (e != NULL && !e->is_going)
        unlink_entry(n, e);
    pthread_mutex_unlock(&n->mutex);
}

/* ---- Open and close ----------------------------------------------------------------- */

rf__zoo_nodes *rf__zoo_nodes_new(const rf__service *service, const char *prefix)
{
    rf__zoo_nodes *n = calloc(1, sizeof(*n));

    if (n == NULL)
        return NULL;
    n->zoo = rf__zoo_new(service);
    if (n->zoo == NULL) {
        free(n);
        return NULL;
    }
    memcpy(n->prefix, prefix, strlen(prefix) + 1);
    n->pid = rf__process_id();
    n->users = 1;
    pthread_mutex_init(&n->mutex, NULL);
    rf__cond_init(&n->changed);
    return n;
}

rf__zoo_nodes *rf__zoo_nodes_share(rf__zoo_nodes *n)
{
    pthread_mutex_lock(&n->mutex);
    n->users++;
    pthread_mutex_unlock(&n->mutex);
    return n;
}

int rf__zoo_nodes_is_ours(const rf__zoo_nodes *n)
{
    return n->pid == rf__process_id();
}

static void stop_thread(rf__zoo_nodes *n)
{
    pthread_mutex_lock(&n->mutex);
    n->is_stopping = 1;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->mutex);
    if (n->is_running)
        pthread_join(n->thread, NULL);
}

void rf__zoo_nodes_drop(rf__zoo_nodes *n)
{
    int users;

    /* A forked child has neither its threads nor mutexes to be trusted. */
    if (!rf__zoo_nodes_is_ours(n))
        return;
    pthread_mutex_lock(&n->mutex);
    users = --n->users;
    pthread_mutex_unlock(&n->mutex);
    if (users > 0)
        return;
    stop_thread(n);
    rf__zoo_free(n->zoo);
    while (n->first != NULL)
        unlink_entry(n, n->first);
    pthread_cond_destroy(&n->changed);
    pthread_mutex_destroy(&n->mutex);
    free(n);
}

rf__zoo *rf__zoo_of(rf__zoo_nodes *n)
{
    return n->zoo;
}

const char *rf__zoo_prefix(const rf__zoo_nodes *n)
{
    return n->prefix;
}

#endif /* RF_ZOOKEEPER */
