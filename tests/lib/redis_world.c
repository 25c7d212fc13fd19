/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_world.c - what tests of locks have around them
 */
#include "redis_world.h"

redis_server *server;
proxy *fault;
rf_client *client;

int redis_world_start(void **state)
{
    (void)state;
    server = redis_server_start(NULL);
    return 0;
}

int redis_world_stop(void **state)
{
    (void)state;
    redis_server_stop(server);
    return 0;
}

static int open_client(const char *url, int timeout_ms)
{
    rf_options opts = RF_OPTIONS_INIT;

    redis_server_command(server, "FLUSHALL");
    redis_server_command(server, "CONFIG RESETSTAT");
    opts.timeout_ms = timeout_ms;
    return rf_open(url, &opts, &client) != RF_OK;
}

int redis_world_open(int timeout_ms)
{
    fault = NULL;
    return open_client(redis_server_url(server), timeout_ms);
}

int redis_world_open_far(int timeout_ms)
{
    fault = proxy_start(redis_server_socket(server));
    return open_client(proxy_url(fault), timeout_ms);
}

int redis_world_close(void **state)
{
    (void)state;
    rf_close(client);
    proxy_stop(fault);
    return 0;
}
