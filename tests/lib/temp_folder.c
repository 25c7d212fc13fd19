/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * temp_folder.c - a folder of a test's own
 */
#include "temp_folder.h"

#include <stdio.h>
#include <stdlib.h>

void temp_folder(char out[TEMP_FOLDER_MAX])
{
    const char *parent = getenv("TMPDIR");
    int n = -1;

    if (parent != NULL)
        n = snprintf(out, TEMP_FOLDER_MAX, "%s/rf.XXXXXX", parent);
    if (n < 0 || n >= TEMP_FOLDER_MAX)
        snprintf(out, TEMP_FOLDER_MAX, "/tmp/rf.XXXXXX");
    if (mkdtemp(out) == NULL) {
        perror(out);
        exit(1);
    }
}
