/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * certificates.c - what servers and clients of a test show each other
 */
#include "certificates.h"
#include "temp_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[TEMP_FOLDER_MAX];

static void run(const char *command)
{
    if (system(command) == 0)
        return;
    fprintf(stderr, "certificates: failed: %s\n", command);
    exit(99);
}

void certificates_make(void)
{
    const char *root = getenv("RF_ROOT");
    char command[512];

    temp_folder(folder);
    snprintf(command, sizeof(command),
             "sh %s/tests/lib/certificates.sh %s >%s/log 2>&1",
             root != NULL ? root : ".", folder, folder);
    run(command);
}

void certificates_remove(void)
{
    char command[96];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    run(command);
}

/* Each path is written down once: servers hold on to it. */
const char *certificate(const char *name)
{
    static char paths[16][96];
    char path[96];
    size_t i = 0;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    while (i < 15 && paths[i][0] != '\0' && strcmp(paths[i], path) != 0)
        i++;
    memcpy(paths[i], path, sizeof(path));
    return paths[i];
}

static redis_server *start(const char *name, const char *clients,
                           const char *const *more)
{
    const char *options[30] = { "--tls-cert-file",    certificate(name),
                                "--tls-key-file",     certificate("key.pem"),
                                "--tls-ca-cert-file", certificate("ca.pem"),
                                "--tls-auth-clients", clients };
    size_t n = 8;

    while (more != NULL && *more != NULL && n < 29)
        options[n++] = *more++;
    return redis_server_start(options);
}

redis_server *secure_server(const char *name, const char *const *more)
{
    return start(name, "no", more);
}

redis_server *picky_server(const char *const *more)
{
    return start("server.pem", "yes", more);
}

const char *const *secure_options(void)
{
    static const char *options[13] = { "--tls-auth-clients", "no",
                                       "--tls-replication",  "yes",
                                       "--tls-cluster",      "yes" };

    options[6] = "--tls-cert-file";
    options[7] = certificate("server.pem");
    options[8] = "--tls-key-file";
    options[9] = certificate("key.pem");
    options[10] = "--tls-ca-cert-file";
    options[11] = certificate("ca.pem");
    return options;
}
