/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * process.c - which process this is
 *
 * A forked child must touch neither its parent's sockets nor its locks, so
 * every call asks.  Asking the kernel each time would cost as much as the rest
 * of the call: a page that the kernel wipes in the child tells instead.
 */
#include "internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int *same_process; /* NULL when there is no such page */
static atomic_int process_id;

static void make_page(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = aligned_alloc(size, size);

    if (page == NULL)
        return;
    memset(page, 0, size);
    if (madvise(page, size, MADV_WIPEONFORK) == 0)
        same_process = page;
    else
        free(page);
}

pid_t rf__process_id(void)
{
    pthread_once(&once, make_page);
    if (same_process == NULL)
        return getpid();
    if (atomic_load_explicit(same_process, memory_order_acquire) == 0) {
        atomic_store(&process_id, (int)getpid());
        atomic_store_explicit(same_process, 1, memory_order_release);
    }
    return (pid_t)atomic_load(&process_id);
}
