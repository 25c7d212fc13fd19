/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_none.c - in the place of etcd_source.c where there was no libcurl or no
 * jansson to build with
 */
#ifndef RF_ETCD

#include "etcd_source.h"

rf_status rf__etcd_source_check(const rf_options *opts, rf__error *error)
{
    (void)opts;
    rf__set_error(error, "URL of the lock service: it names an etcd, and this "
                         "library was built without libcurl and jansson");
    return RF_MISUSE;
}

rf__source *rf__etcd_source(const rf__service *service, const rf_options *opts,
                            rf__error *error)
{
    (void)service, (void)opts, (void)error;
    return NULL;
}

#endif /* RF_ETCD */
