/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * replay.c - runs the files that it is given, with any compiler
 *
 * Takes the place of libFuzzer.  Names each file before it runs it, so that a
 * program that dies has said on what.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

static void run(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    uint8_t *exact;
    size_t n;

    printf("%s\n", path);
    fflush(stdout);
    must(file != NULL);
    n = fread(data, 1, sizeof(data), file);
    must(feof(file));
    fclose(file);
    /* Of its very size, so that a sanitizer sees one byte too many. */
    exact = malloc(n);
    must(exact != NULL || n == 0);
    for (size_t i = 0; i < n; i++)
        exact[i] = data[i];
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    return 0;
}
