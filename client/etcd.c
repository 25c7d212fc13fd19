/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd.c - one conversation with etcd, over its JSON gateway
 *
 * The only file that knows libcurl.  A server that does not answer is given its
 * share of the time and then the next one is asked: to ask twice does no harm,
 * because every request says whose it is and what it expects to find.
 */
#ifdef RF_ETCD

#include "etcd.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backoff.h"
#include "internal.h"

/* No answer about a lock is longer; a list of all of them may be. */
#define REPLY_MAX ((size_t)64 << 20)

/* Between two rounds, with full jitter. */
#define PAUSE_FIRST_MS 20
#define PAUSE_LAST_MS  320

typedef struct buffer {
    char *bytes;
    size_t len;
} buffer;

struct rf__etcd {
    rf__error *error;
    rf__service service;
    size_t next; /* the server that is asked first */
    char *token; /* of our user; NULL: none yet    */
    CURL *curl;
    pid_t pid;
};

static pthread_once_t set_up = PTHREAD_ONCE_INIT;

static void set_curl_up(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

rf__etcd *rf__etcd_new(const rf__service *service, rf__error *error)
{
    rf__etcd *e = calloc(1, sizeof(*e));

    pthread_once(&set_up, set_curl_up);
    if (e == NULL)
        return NULL;
    e->error = error;
    e->service = *service;
    e->pid = rf__process_id();
    return e;
}

rf__etcd *rf__etcd_again(const rf__etcd *e, rf__error *error)
{
    return rf__etcd_new(&e->service, error);
}

rf__etcd *rf__etcd_only(const rf__etcd *e, size_t server, rf__error *error)
{
    rf__etcd *one = rf__etcd_again(e, error);

    if (one == NULL)
        return NULL;
    /* The first one's user and password are those of all. */
    memcpy(one->service.node[0].host, e->service.node[server].host,
           sizeof(one->service.node[0].host));
    one->service.node[0].port = e->service.node[server].port;
    one->service.n = 1;
    return one;
}

const rf__service *rf__etcd_service(const rf__etcd *e)
{
    return &e->service;
}

static void forget_token(rf__etcd *e)
{
    free(e->token);
    e->token = NULL;
}

/* A child must not end a conversation that is its parent's. */
static void close_connection(rf__etcd *e)
{
    if (e->pid == rf__process_id())
        curl_easy_cleanup(e->curl);
    e->curl = NULL;
    e->pid = rf__process_id();
}

void rf__etcd_free(rf__etcd *e)
{
    if (e == NULL)
        return;
    close_connection(e);
    forget_token(e);
    explicit_bzero(&e->service, sizeof(e->service));
    free(e);
}

/* ---- One request ------------------------------------------------------------------- */

static size_t collect(char *bytes, size_t one, size_t n, void *arg)
{
    buffer *b = arg;
    char *more = NULL;

    (void)one;
    if (b->len + n < REPLY_MAX)
        more = realloc(b->bytes, b->len + n + 1);
    if (more == NULL)
        return 0;
    memcpy(more + b->len, bytes, n);
    b->bytes = more;
    b->len += n;
    more[b->len] = '\0';
    return n;
}

static int set_tls(CURL *curl, const rf__service *service)
{
    const rf__tls_files *files = &service->tls;
    int fine = 1;

    if (files->cafile[0] != '\0')
        fine &= curl_easy_setopt(curl, CURLOPT_CAINFO, files->cafile) == 0;
    if (files->certfile[0] != '\0')
        fine &= curl_easy_setopt(curl, CURLOPT_SSLCERT, files->certfile) == 0;
    if (files->keyfile[0] != '\0')
        fine &= curl_easy_setopt(curl, CURLOPT_SSLKEY, files->keyfile) == 0;
    return fine;
}

/* What all requests have in common.  NULL: out of memory. */
static CURL *prepare(const rf__service *service)
{
    CURL *curl = curl_easy_init();
    int fine = curl != NULL;

    if (!fine)
        return NULL;
    fine &= curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == 0;
    fine &= curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR,
                             service->secure ? "https" : "http") == 0;
    /* A proxy of the environment is for the web, not for locks. */
    fine &= curl_easy_setopt(curl, CURLOPT_NOPROXY, "*") == 0;
    fine &= curl_easy_setopt(curl, CURLOPT_POST, 1L) == 0;
    fine &= curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L) == 0;
    if (fine && set_tls(curl, service))
        return curl;
    curl_easy_cleanup(curl);
    return NULL;
}

static int is_ipv6(const char *host)
{
    return strchr(host, ':') != NULL;
}

static int aim(const rf__etcd *e, CURL *curl, size_t server, const char *path)
{
    const rf__url *node = &e->service.node[server];
    char url[512];

    snprintf(url, sizeof(url),
             is_ipv6(node->host) ? "%s://[%s]:%d%s" : "%s://%s:%d%s",
             e->service.secure ? "https" : "http", node->host, node->port,
             path);
    return curl_easy_setopt(curl, CURLOPT_URL, url) == 0;
}

static struct curl_slist *headers(const rf__etcd *e)
{
    struct curl_slist *list, *more;
    char line[1024];

    list = curl_slist_append(NULL, "Content-Type: application/json");
    if (list == NULL || e->token == NULL)
        return list;
    snprintf(line, sizeof(line), "Authorization: %s", e->token);
    more = curl_slist_append(list, line);
    explicit_bzero(line, sizeof(line));
    if (more == NULL)
        curl_slist_free_all(list);
    return more;
}

/* Has any of the request left?  Then nobody can say what became of it. */
static int was_sent(CURL *curl)
{
    long size = 0;

    return curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &size) != 0 ||
           size > 0;
}

static rf_status broke(rf__etcd *e, CURLcode result)
{
    rf__set_error(e->error, "etcd: %s", curl_easy_strerror(result));
    switch (result) {
    case CURLE_OUT_OF_MEMORY: return RF_NOMEM;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM: return RF_MISUSE;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR: return RF_RETRY;
    default: return was_sent(e->curl) ? RF_UNKNOWN : RF_RETRY;
    }
}

/* Send text to one server, and have its answer in b and *http. */
static rf_status exchange(rf__etcd *e, const rf__etcd_call *call,
                          const char *text, int limit_ms, buffer *b)
{
    struct curl_slist *list = headers(e);
    rf_status status = RF_NOMEM;
    CURLcode result;

    if (e->curl == NULL || e->pid != rf__process_id()) {
        close_connection(e);
        e->curl = prepare(&e->service);
    }
    if (e->curl != NULL && list != NULL &&
        aim(e, e->curl, e->next, call->path) &&
        curl_easy_setopt(e->curl, CURLOPT_POSTFIELDS, text) == 0 &&
        curl_easy_setopt(e->curl, CURLOPT_HTTPHEADER, list) == 0 &&
        curl_easy_setopt(e->curl, CURLOPT_WRITEFUNCTION, collect) == 0 &&
        curl_easy_setopt(e->curl, CURLOPT_WRITEDATA, b) == 0 &&
        curl_easy_setopt(e->curl, CURLOPT_TIMEOUT_MS, (long)limit_ms) == 0) {
        result = curl_easy_perform(e->curl);
        status = result == CURLE_OK ? RF_OK : broke(e, result);
        curl_easy_setopt(e->curl, CURLOPT_HTTPHEADER, NULL);
    }
    curl_slist_free_all(list);
    return status;
}

/* ---- What etcd says ------------------------------------------------------------------ */

json_int_t rf__etcd_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    int64_t number = 0;

    if (json_is_integer(value))
        return json_integer_value(value);
    if (json_is_string(value) &&
        rf__decimal_read(json_string_value(value), 0, INT64_MAX, &number))
        return number;
    return 0;
}

/* gRPC's codes: https://grpc.io/docs/guides/status-codes/ */
static rf_status refused(rf__etcd *e, rf__etcd_call *call)
{
    const char *text = json_string_value(json_object_get(call->reply, "error"));

    call->code = (int)rf__etcd_number(call->reply, "code");
    rf__set_error(e->error, "etcd: %.200s", text != NULL ? text : "refused");
    switch (call->code) {
    case 8: return RF_REFUSED;  /* no room, or too many requests */
    case 2:                     /* unknown */
    case 4:                     /* deadline exceeded */
    case 14: return RF_UNKNOWN; /* no leader, or no quorum in time */
    case 16:                    /* a token that has run out */
        if (e->token == NULL)
            return RF_MISUSE;
        forget_token(e);
        return RF_RETRY;
    default: return RF_MISUSE;
    }
}

static rf_status understand(rf__etcd *e, rf__etcd_call *call, const buffer *b)
{
    call->reply = json_loadb(b->bytes != NULL ? b->bytes : "", b->len, 0, NULL);
    if (!json_is_object(call->reply)) {
        json_decref(call->reply);
        call->reply = NULL;
        rf__set_error(e->error, "etcd's answer makes no sense: is it an etcd "
                                "with a JSON gateway?");
        return RF_UNKNOWN;
    }
    /* A stream answers with {"result": ...} or {"error": {...}}. */
    if (json_is_object(json_object_get(call->reply, "error"))) {
        json_t *inner = json_incref(json_object_get(call->reply, "error"));

        json_object_set(inner, "error", json_object_get(inner, "message"));
        json_object_set(inner, "code", json_object_get(inner, "grpc_code"));
        json_decref(call->reply);
        call->reply = inner;
    }
    if (json_object_get(call->reply, "error") == NULL)
        return RF_OK;
    return refused(e, call);
}

static rf_status ask_one(rf__etcd *e, rf__etcd_call *call, const char *text,
                         int limit_ms)
{
    buffer b = { NULL, 0 };
    rf_status status = exchange(e, call, text, limit_ms, &b);

    if (status == RF_OK)
        status = understand(e, call, &b);
    if (status != RF_OK) {
        json_decref(call->reply);
        call->reply = NULL;
    }
    free(b.bytes);
    return status;
}

static int has_user(const rf__etcd *e)
{
    return e->service.node[0].user[0] != '\0';
}

static int needs_login(const rf__etcd *e)
{
    return has_user(e) && e->token == NULL;
}

/* Each server once.  Another may know what this one does not. */
static rf_status ask_round(rf__etcd *e, rf__etcd_call *call, const char *text)
{
    rf_status status = RF_RETRY;
    int perhaps = 0;

    for (size_t i = 0; i < e->service.n; i++) {
        int left_ms = rf__left_ms(call->deadline_ms);

        if (left_ms == 0)
            break;
        status = ask_one(e, call, text, left_ms / (int)(e->service.n - i));
        perhaps |= status == RF_UNKNOWN;
        if (status != RF_RETRY && status != RF_UNKNOWN)
            break;
        e->next = (e->next + 1) % e->service.n;
    }
    return status == RF_RETRY && perhaps ? RF_UNKNOWN : status;
}

/* While a leader is elected nobody answers: again, until time is over. */
static rf_status ask_in_turn(rf__etcd *e, rf__etcd_call *call, const char *text)
{
    rf__pauses pauses = { PAUSE_FIRST_MS, PAUSE_LAST_MS };
    int perhaps = 0;

    for (;;) {
        rf_status status = ask_round(e, call, text);

        perhaps |= status == RF_UNKNOWN;
        if (status != RF_RETRY && status != RF_UNKNOWN)
            return status;
        if (needs_login(e) || !rf__backoff(&pauses, call->deadline_ms))
            return perhaps ? RF_UNKNOWN : RF_RETRY;
    }
}

/* ---- Who we are ------------------------------------------------------------------------ */

static rf_status log_in(rf__etcd *e, int64_t deadline_ms)
{
    const rf__url *who = &e->service.node[0];
    json_t *body = json_pack("{s:s, s:s}", "name", who->user, "password",
                             who->password);
    rf__etcd_call call = { .path = "/v3/auth/authenticate",
                           .deadline_ms = deadline_ms };
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    rf_status status = RF_NOMEM;
    const char *token;

    if (text != NULL)
        status = ask_in_turn(e, &call, text);
    if (status == RF_OK) {
        token = json_string_value(json_object_get(call.reply, "token"));
        e->token = token != NULL ? strdup(token) : NULL;
        if (e->token == NULL)
            status = RF_NOMEM;
    }
    json_decref(call.reply);
    json_decref(body);
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    free(text);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

rf_status rf__etcd_run(rf__etcd *e, rf__etcd_call *call)
{
    char *text = call->body != NULL ? json_dumps(call->body, JSON_COMPACT)
                                    : NULL;
    rf_status status = RF_OK;

    call->reply = NULL;
    call->code = 0;
    json_decref(call->body);
    call->body = NULL;
    if (text == NULL) {
        rf__set_error(e->error, "out of memory");
        return RF_NOMEM;
    }
    /* A token runs out, or its server has forgotten it: once more. */
    for (int tries = 0; tries < 2; tries++) {
        if (needs_login(e))
            status = log_in(e, call->deadline_ms);
        if (status == RF_OK)
            status = ask_in_turn(e, call, text);
        if (status != RF_RETRY || !has_user(e) || e->token != NULL)
            break;
        status = RF_OK;
    }
    free(text);
    return status;
}

/* ---- Watching --------------------------------------------------------------------------- */

/* An event, or the news that what we ask for is too old to be told. */
typedef struct watcher {
    buffer line;
    int is_told;
} watcher;

static void read_line(watcher *w)
{
    json_t *said = json_loadb(w->line.bytes, w->line.len, 0, NULL);
    const json_t *result = json_object_get(said, "result");

    if (json_array_size(json_object_get(result, "events")) > 0 ||
        json_is_true(json_object_get(result, "canceled")) || result == NULL)
        w->is_told = 1;
    json_decref(said);
    w->line.len = 0;
}

/* One JSON object a line. */
static size_t hear(char *bytes, size_t one, size_t n, void *arg)
{
    watcher *w = arg;

    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n')
            read_line(w);
        else if (collect(bytes + i, one, 1, &w->line) == 0)
            return 0;
    }
    return n;
}

static char *watch_request(const char *key, json_int_t revision)
{
    json_t *body = json_pack("{s:{s:s, s:I, s:[s]}}", "create_request", "key",
                             key, "start_revision", revision, "filters",
                             "NOPUT");
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;

    json_decref(body);
    return text;
}

/* 0: the connection has ended. */
static int is_running(CURLM *multi)
{
    int running = 0;

    return curl_multi_perform(multi, &running) == CURLM_OK && running > 0;
}

static rf_status hear_out(CURLM *multi, const watcher *w, int cancel_fd,
                          int64_t until_ms)
{
    struct curl_waitfd cancel = { .fd = cancel_fd, .events = CURL_WAIT_POLLIN };
    int left_ms;

    while (is_running(multi)) {
        if (w->is_told || cancel.revents != 0)
            return RF_OK;
        left_ms = rf__left_ms(until_ms);
        if (left_ms == 0)
            return RF_OK;
        cancel.revents = 0;
        if (curl_multi_poll(multi, &cancel, cancel_fd >= 0, left_ms, NULL) !=
            CURLM_OK)
            return RF_RETRY;
    }
    return w->is_told ? RF_OK : RF_RETRY;
}

rf_status rf__etcd_watch(rf__etcd *e, const char *key, json_int_t revision,
                         int cancel_fd, int64_t until_ms)
{
    char *text = watch_request(key, revision);
    struct curl_slist *list = headers(e);
    CURL *curl = prepare(&e->service);
    CURLM *multi = curl_multi_init();
    watcher w = { { NULL, 0 }, 0 };
    rf_status status = RF_NOMEM;

    if (text != NULL && list != NULL && curl != NULL && multi != NULL &&
        aim(e, curl, e->next, "/v3/watch") &&
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, text) == 0 &&
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list) == 0 &&
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, hear) == 0 &&
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &w) == 0 &&
        curl_multi_add_handle(multi, curl) == CURLM_OK) {
        status = hear_out(multi, &w, cancel_fd, until_ms);
        curl_multi_remove_handle(multi, curl);
    }
    if (status == RF_RETRY)
        e->next = (e->next + 1) % e->service.n;
    curl_multi_cleanup(multi);
    curl_easy_cleanup(curl);
    curl_slist_free_all(list);
    free(w.line.bytes);
    free(text);
    return status;
}

#endif /* RF_ETCD */
