/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * fuzz_url.c - any bytes as the URL of a lock service
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "url.h"

static int terminated(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static void check_place(const rf__url *url)
{
    must(terminated(url->host, sizeof(url->host)));
    must(terminated(url->path, sizeof(url->path)));
    must(terminated(url->user, sizeof(url->user)));
    must(terminated(url->password, sizeof(url->password)));
    must((url->host[0] != '\0') != (url->path[0] != '\0'));
    must(url->path[0] != '\0' || (url->port >= 1 && url->port <= 65535));
    must(url->user[0] == '\0' || url->password[0] != '\0');
    must(url->db >= 0);
}

static void check_service(const rf__service *service)
{
    if (service->topology == RF__POSTGRESQL)
        return;
    must(service->n >= 1 && service->n <= RF__NODES_MAX);
    must((service->topology == RF__SINGLE) <= (service->n == 1));
    must(service->topology != RF__QUORUM ||
         (service->n >= 3 && service->n % 2 == 1));
    must(service->topology != RF__SENTINEL || service->name[0] != '\0');
    must(service->secure || service->tls.cafile[0] == '\0');
    for (size_t i = 0; i < service->n; i++)
        check_place(&service->node[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rf__service service;
    rf__error error = { .text = "" };
    char *text = malloc(size + 1);
    rf_status status;

    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    status = rf__service_parse(text, &service, &error);
    must(status == RF_OK || status == RF_MISUSE);
    if (status == RF_OK)
        check_service(&service);
    else
        must(error.text[0] != '\0');
    free(text);
    return 0;
}
