/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * tls.c - encrypted connections to servers that prove who they are
 *
 * The only file that includes OpenSSL (1.1.1 and newer).  Its own sockets raise
 * SIGPIPE, so it reads and writes through two functions of ours.
 */
#ifdef RF_OPENSSL

#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct rf__tls {
    atomic_int users;
    SSL_CTX *ctx;
    BIO_METHOD *wire;
    char servername[256];
};

struct rf__tls_link {
    SSL *ssl;
    int fd;
    int failure; /* of the socket, as errno has it             */
    int ended;   /* the peer has closed it                     */
    int asked;   /* for a certificate of ours that we have not */
    short events;
    const char *reason;
};

/* ---- The wire ---------------------------------------------------------------- */

/* 1 when OpenSSL is to try again later. */
static int not_yet(rf__tls_link *link)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return 1;
    link->failure = errno;
    return 0;
}

static int wire_write(BIO *bio, const char *data, int len)
{
    rf__tls_link *link = BIO_get_data(bio);
    ssize_t n;

    BIO_clear_retry_flags(bio);
    do {
        n = send(link->fd, data, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && not_yet(link))
        BIO_set_retry_write(bio);
    return (int)n;
}

static int wire_read(BIO *bio, char *data, int size)
{
    rf__tls_link *link = BIO_get_data(bio);
    ssize_t n;

    BIO_clear_retry_flags(bio);
    do {
        n = recv(link->fd, data, (size_t)size, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n == 0)
        link->ended = 1;
    if (n < 0 && not_yet(link))
        BIO_set_retry_read(bio);
    return (int)n;
}

static long wire_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    /* Nothing is ever held back here. */
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *new_wire(void)
{
    /* Without a number of its own: there are only 127 of them. */
    BIO_METHOD *wire = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "ringfence");

    if (wire != NULL && BIO_meth_set_write(wire, wire_write) &&
        BIO_meth_set_read(wire, wire_read) &&
        BIO_meth_set_ctrl(wire, wire_control))
        return wire;
    BIO_meth_free(wire);
    return NULL;
}

/* ---- What all connections share ---------------------------------------------- */

/* A key that is locked must not make OpenSSL ask on the terminal. */
static int no_passphrase(char *out, int size, int writing, void *arg)
{
    (void)out, (void)size, (void)writing, (void)arg;
    return 0;
}

/* Called when a server asks for a certificate and there is none. */
static int note_asked(SSL *ssl, X509 **certificate, EVP_PKEY **key)
{
    rf__tls_link *link = SSL_get_app_data(ssl);

    (void)certificate, (void)key;
    link->asked = 1;
    return 0;
}

/* NULL when all is well, else what is wrong with which file. */
static const char *load(SSL_CTX *ctx, const rf__tls_files *files)
{
    const char *keyfile = files->keyfile[0] != '\0' ? files->keyfile
                                                    : files->certfile;

    if (files->cafile[0] != '\0' &&
        SSL_CTX_load_verify_locations(ctx, files->cafile, NULL) != 1)
        return "cafile can't be read, or holds no certificate";
    if (files->cafile[0] == '\0' && SSL_CTX_set_default_verify_paths(ctx) != 1)
        return "the system's certificates can't be read";
    if (files->certfile[0] == '\0')
        return NULL;
    if (SSL_CTX_use_certificate_chain_file(ctx, files->certfile) != 1)
        return "certfile can't be read, or holds no certificate";
    if (SSL_CTX_use_PrivateKey_file(ctx, keyfile, SSL_FILETYPE_PEM) != 1)
        return "the key can't be read, is locked by a passphrase, or does not "
               "belong to certfile";
    return NULL;
}

static void set_rules(SSL_CTX *ctx)
{
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
    SSL_CTX_set_client_cert_cb(ctx, note_asked);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

static rf_status new_tls(const rf__tls_files *files, rf__tls **out,
                         rf__error *error)
{
    rf__tls *tls = calloc(1, sizeof(*tls));
    const char *wrong;

    rf__set_error(error, "out of memory");
    if (tls == NULL)
        return RF_NOMEM;
    tls->users = 1;
    memcpy(tls->servername, files->servername, sizeof(tls->servername));
    tls->wire = new_wire();
    tls->ctx = SSL_CTX_new(TLS_client_method());
    if (tls->wire == NULL || tls->ctx == NULL) {
        rf__tls_drop(tls);
        return RF_NOMEM;
    }
    set_rules(tls->ctx);
    wrong = load(tls->ctx, files);
    ERR_clear_error();
    if (wrong != NULL) {
        rf__tls_drop(tls);
        rf__set_error(error, "URL of the lock service: %s", wrong);
        return RF_MISUSE;
    }
    *out = tls;
    return RF_OK;
}

rf_status rf__tls_open(rf__service *service, rf__error *error)
{
    rf__tls *tls;
    rf_status status;

    if (!service->secure)
        return RF_OK;
    status = new_tls(&service->tls, &tls, error);
    if (status != RF_OK)
        return status;
    for (size_t i = 0; i < service->n; i++)
        service->node[i].tls = tls;
    service->data.tls = tls;
    return RF_OK;
}

rf__tls *rf__tls_keep(rf__tls *tls)
{
    if (tls != NULL)
        tls->users++;
    return tls;
}

void rf__tls_drop(rf__tls *tls)
{
    if (tls == NULL || --tls->users > 0)
        return;
    SSL_CTX_free(tls->ctx);
    BIO_meth_free(tls->wire);
    free(tls);
}

/* ---- One connection ------------------------------------------------------------ */

/* Names are looked for where they belong: among the subject's alternatives. */
static int expect(SSL *ssl, const char *name)
{
    X509_VERIFY_PARAM *rules = SSL_get0_param(ssl);
    unsigned char address[sizeof(struct in6_addr)];

    if (inet_pton(AF_INET, name, address) == 1 ||
        inet_pton(AF_INET6, name, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(rules, name);
    X509_VERIFY_PARAM_set_hostflags(rules,
                                    X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
                                        X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(rules, name, 0) &&
           SSL_set_tlsext_host_name(ssl, name);
}

rf__tls_link *rf__tls_link_new(rf__tls *tls, int fd, const char *host)
{
    const char *name = tls->servername[0] != '\0' ? tls->servername : host;
    rf__tls_link *link = calloc(1, sizeof(*link));
    BIO *bio = NULL;

    if (link == NULL)
        return NULL;
    link->fd = fd;
    link->ssl = SSL_new(tls->ctx);
    if (link->ssl != NULL)
        bio = BIO_new(tls->wire);
    if (bio == NULL || !expect(link->ssl, name)) {
        BIO_free(bio);
        rf__tls_link_free(link);
        return NULL;
    }
    BIO_set_data(bio, link);
    BIO_set_init(bio, 1);
    SSL_set_bio(link->ssl, bio, bio);
    SSL_set_app_data(link->ssl, link);
    SSL_set_connect_state(link->ssl);
    return link;
}

void rf__tls_link_free(rf__tls_link *link)
{
    if (link == NULL)
        return;
    SSL_free(link->ssl);
    free(link);
}

/* ---- What went wrong ------------------------------------------------------------- */

static const char *explain_certificate(long result)
{
    switch (result) {
    case X509_V_OK: return NULL;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return "its certificate is for another host";
    case X509_V_ERR_CERT_HAS_EXPIRED: return "its certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return "its certificate is not valid yet";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        return "its certificate is signed by itself";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        return "its certificate comes from an authority that is not trusted "
               "here";
    default: return X509_verify_cert_error_string(result);
    }
}

/* Of what a person must look at; NULL: none of it. */
static const char *explain_protocol(const rf__tls_link *link, int reason)
{
    switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER: return "it does not speak TLS";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
        return "it has neither TLS 1.2 nor anything newer";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        return link->asked ? "it wants a certificate of ours: certfile" : NULL;
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        return "it does not accept our certificate";
    default: return NULL;
    }
}

static int explain(rf__tls_link *link)
{
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_REASON(code);

    link->reason = explain_certificate(SSL_get_verify_result(link->ssl));
    if (link->reason == NULL)
        link->reason = explain_protocol(link, reason);
    if (link->reason != NULL)
        return EACCES;
    if (reason == ERR_R_MALLOC_FAILURE)
        return ENOMEM;
    link->reason = code != 0 ? ERR_reason_error_string(code) : NULL;
    return EPROTO;
}

/* What became of a call that returned n, which is not a success. */
static int outcome(rf__tls_link *link, int n)
{
    int what = SSL_get_error(link->ssl, n);

    if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE) {
        link->events = what == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
        return EAGAIN;
    }
    link->events = 0;
    if (link->failure != 0)
        return link->failure;
    if (what == SSL_ERROR_ZERO_RETURN || link->ended)
        return ECONNRESET;
    return explain(link);
}

int rf__tls_handshake(rf__tls_link *link)
{
    int n, failure;

    ERR_clear_error();
    n = SSL_do_handshake(link->ssl);
    if (n == 1)
        return 0;
    failure = outcome(link, n);
    if (failure == ECONNRESET)
        link->reason = "it broke the connection off in the TLS handshake";
    return failure;
}

/*
 * A server that does not accept us may say so when the handshake is long over
 * for us (TLS 1.3), and break off: then sending fails first.
 */
static int why_refused(rf__tls_link *link, int failure)
{
    char byte;
    int n;

    link->failure = 0;
    ERR_clear_error();
    n = SSL_peek(link->ssl, &byte, 1);
    if (n <= 0 && outcome(link, n) == EACCES)
        return EACCES;
    return failure;
}

int rf__tls_send(rf__tls_link *link, const char *data, size_t len, size_t *sent)
{
    int n, failure;

    ERR_clear_error();
    n = SSL_write(link->ssl, data, len > INT_MAX ? INT_MAX : (int)len);
    *sent = n > 0 ? (size_t)n : 0;
    if (n > 0)
        return 0;
    failure = outcome(link, n);
    if (failure == EPIPE || failure == ECONNRESET)
        return why_refused(link, failure);
    return failure;
}

int rf__tls_recv(rf__tls_link *link, char *data, size_t size, size_t *got)
{
    int n, failure;

    ERR_clear_error();
    n = SSL_read(link->ssl, data, size > INT_MAX ? INT_MAX : (int)size);
    *got = n > 0 ? (size_t)n : 0;
    if (n > 0)
        return 0;
    failure = outcome(link, n);
    /* Replies have an end of their own, so one that was cut short shows. */
    return failure == ECONNRESET && link->failure == 0 ? 0 : failure;
}

int rf__tls_ready(rf__tls_link *link)
{
    char byte;
    int n;

    ERR_clear_error();
    n = SSL_peek(link->ssl, &byte, 1);
    return n <= 0 && outcome(link, n) == EAGAIN ? EAGAIN : 0;
}

short rf__tls_events(const rf__tls_link *link)
{
    return link->events;
}

const char *rf__tls_reason(const rf__tls_link *link)
{
    return link->reason;
}

#endif /* RF_OPENSSL */
