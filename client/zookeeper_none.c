/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_none.c - in the place of zookeeper_source.c where there was no
 * ZooKeeper client to build with
 */
#ifndef RF_ZOOKEEPER

#include "zookeeper_source.h"

rf_status rf__zookeeper_source_check(const rf_options *opts, rf__error *error)
{
    (void)opts;
    rf__set_error(error, "URL of the lock service: it names a ZooKeeper, and "
                         "this library was built without its client");
    return RF_MISUSE;
}

rf__source *rf__zookeeper_source(const rf__service *service,
                                 const rf_options *opts, rf__error *error)
{
    (void)service, (void)opts, (void)error;
    return NULL;
}

#endif /* RF_ZOOKEEPER */
